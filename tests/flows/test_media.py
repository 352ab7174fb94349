"""Pictures and voice notes through either bridge: Aldis as a process, a model that sees, a service that listens."""

from pathlib import Path

import pytest

from bot.media.speech import as_m4a
from tests.bot.media.samples import adts, pdf, picture
from tests.flows.outside import Outside
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import ALICE, Frame, attachment, message
from tests.servers.openai_audio import KEY, SOUND, OpenAIAudio
from tests.servers.script import say
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_rest_api import SignalRestApi
from tests.waiting import eventually


def file(signal: SignalCli | SignalRestApi, data: bytes, **more: object) -> Frame:
    frame = attachment(size_bytes=len(data)) | more
    signal.files[str(frame["id"])] = data
    return frame


@pytest.mark.parametrize("bridge", [SignalCli, SignalRestApi])
async def test_what_is_shown_and_said_is_seen_and_heard(
    tmp_path: Path, bridge: type[SignalCli] | type[SignalRestApi]
) -> None:
    """A picture and a PDF reach the model as such, a voice note in words; it is answered by one; nothing is left."""
    async with bridge() as signal, AnthropicServer() as model, OpenAIAudio(says=["What colour is it?"]) as audio:
        more = {"AUDIO__BASE_URL": f"{audio.url}/v1", "AUDIO__API_KEY": KEY, "AUDIO__SPEAK": "true"}
        world = Outside(signal, model, tmp_path, {"ACCESS__ALLOWED": ALICE.uuid, **more})
        model.scripted(say("A car and a lease."), say("It is **red**."))
        async with world.running():
            shown = [file(signal, picture(), filename="car.jpg"), file(signal, pdf("Rent"), filename="lease.pdf")]
            await signal.deliver(message("What is this?", attachments=shown))
            [first] = await signal.sent_count(1)
            assert (first.text, first.files) == ("A car and a lease.", ())

            spoken = file(signal, adts(), contentType="audio/aac", filename=None, isVoiceNote=True)
            await signal.deliver(message(None, attachments=[spoken]))
            _, text, voice = await signal.sent_count(3)
            assert (text.text, text.files) == ("It is red.", ())
            assert ([sent.data for sent in voice.files], voice.text) == ([SOUND], "")
            if isinstance(signal, SignalRestApi):  # signal-cli's daemon has no call that deletes a file
                await eventually(lambda: not signal.files)
    question, again = (request.json()["messages"] for request in model.requests)
    kinds = [[part["type"] for part in asked["content"]] for asked in (question[0], again[0])]
    assert [sorted(set(kind)) for kind in kinds] == [["document", "image", "text"]] * 2
    assert "📎 a voice note of 2 seconds, its transcript:\\n> What colour is it?" in model.requests[1].body.decode()
    assert audio.heard[0]["file"] == ("recording.m4a", "audio/mp4", as_m4a(adts())[0])
    assert model.refused == []
