"""Recordings to words and words to sound, by an audio service that is as strict as the real ones."""

from collections.abc import AsyncGenerator
from decimal import Decimal
from typing import Any

import pytest
from pydantic import SecretStr

from bot.media.speech import Speech, as_m4a
from bot.settings.groups import AudioSettings
from tests.bot.media.samples import adts
from tests.servers.base import answer_json
from tests.servers.fixtures import fixture_of
from tests.servers.openai_audio import KEY, SOUND, OpenAIAudio
from tests.tools.conftest import USER_AGENT
from tests.waiting import DEADLINE_SECONDS
from tools import Http

M4A, SECONDS = as_m4a(adts())


@pytest.fixture
async def http() -> AsyncGenerator[Http]:
    async with Http(USER_AGENT) as client:
        yield client


service = fixture_of(OpenAIAudio)


def speech(http: Http, service: OpenAIAudio, *, priced: bool = True, api_key: str | None = KEY) -> Speech:
    audio = AudioSettings(
        base_url=f"{service.url}/v1",
        model="whisper-1",
        speech_model="tts-1",
        price=Decimal("0.006") if priced else None,
        speech_price=Decimal(15) if priced else None,
    )
    return Speech(http, audio, api_key=SecretStr(api_key) if api_key else None)


async def test_a_recording_becomes_words(http: Http, service: OpenAIAudio) -> None:
    """The form holds what the service wants, and the sound byte for byte."""
    service.says = [" Buy milk. \n"]
    words, fee = await speech(http, service).transcribe(M4A, "m4a", seconds=SECONDS)
    assert (words, fee.outcome, fee.name, fee.provider) == ("Buy milk.", "ok", "whisper-1", "audio")
    form = {"model": "whisper-1", "response_format": "json"}
    assert service.heard == [form | {"file": ("recording.m4a", "audio/mp4", M4A)}]
    service.key, service.says = None, ["Hello"]  # servers at home want none
    assert (await speech(http, service, api_key=None).transcribe(M4A, "m4a", seconds=1))[0] == "Hello"
    assert ["authorization" in seen.headers for seen in service.requests] == [True, False]


async def test_a_minute_has_its_price(http: Http, service: OpenAIAudio) -> None:
    """By the service's own count where it gives one, else by the file's, if its size allows that, else by its size: a
    recording of hours that is sent as a file without a length is not free. Unknown where there is no price.
    """
    by_size = Decimal("0.006") * len(M4A) * 8 / 60
    usages: tuple[tuple[Any, float | None, bool, Decimal | None], ...] = (
        (None, 30.0, True, Decimal("0.003")),
        ({"type": "duration", "seconds": 60}, 30.0, True, Decimal("0.006")),
        ({"type": "tokens", "input_tokens": 14}, 30.0, True, Decimal("0.003")),
        (None, None, True, round(by_size / 16_000, 9)),
        (None, 1e-9, True, round(by_size / 320_000, 9)),
        (None, 30.0, False, None),
    )
    for usage, seconds, priced, cost in usages:
        service.says, service.usage = ["Hello"], usage
        _, fee = await speech(http, service, priced=priced).transcribe(M4A, "m4a", seconds=seconds)
        assert fee.cost_usd == cost


async def test_an_answer_that_makes_no_sense_is_no_transcript(http: Http, service: OpenAIAudio) -> None:
    """Nothing is taken for words that is none; whether it cost something nobody knows."""
    for broken in ({"error": "none"}, ["text"], {"text": 7}):
        service.faults.append(answer_json(broken))
        words, fee = await speech(http, service).transcribe(M4A, "m4a", seconds=SECONDS)
        assert (words, fee.cost_usd) == (None, round(Decimal("0.006") * Decimal(SECONDS) / 60, 9))


async def test_a_service_that_is_away_is_told_apart(http: Http, service: OpenAIAudio) -> None:
    """Nothing is raised: the message goes on without its words."""
    await service.stop()
    assert (await speech(http, service).transcribe(M4A, "m4a", seconds=1))[1].outcome == "unavailable"
    assert (await speech(http, service).speak("Hi", timeout_seconds=DEADLINE_SECONDS))[1].outcome == "unavailable"


async def test_words_become_a_sound(http: Http, service: OpenAIAudio) -> None:
    """In the format that Signal itself uses for voice notes, priced by the character."""
    sound, fee = await speech(http, service).speak("Hello there", timeout_seconds=DEADLINE_SECONDS)
    assert (sound, fee.outcome, fee.cost_usd) == (SOUND, "ok", Decimal("0.000165"))
    assert service.spoken == [{"model": "tts-1", "voice": "alloy", "input": "Hello there", "response_format": "aac"}]
    sound, fee = await speech(http, service).speak("x" * 5000, timeout_seconds=DEADLINE_SECONDS)
    assert (sound, fee.outcome, fee.cost_usd) == (None, "status_400", 0)
