"""What was opened, listened to or spoken is never fetched or paid twice, wherever a turn is interrupted."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from decimal import Decimal

import pytest

from bot.chat.agent import Agent
from bot.chat.journal import Outcome, Turn
from bot.clock import SetClock
from bot.events import Attachment
from bot.media.attachments import AttachmentReader
from bot.media.speech import Speech
from bot.settings import BudgetSettings
from store import Store
from tests.bot.chat.turn_helpers import Desk, Scripted, says
from tests.bot.loops.fake_transport import FakeTransport
from tests.bot.media.samples import adts
from tests.bot.media.voices import speech_at
from tests.cells import sandbox
from tests.servers.fixtures import fixture_of
from tests.servers.openai_audio import SOUND, OpenAIAudio

VOICE = Attachment(id="v", content_type="audio/aac", name=None, size_bytes=None, is_voice_note=True)
TEXT = Attachment(id="t", content_type="text/plain", name="a.txt", size_bytes=None)

service = fixture_of(lambda: OpenAIAudio(says=["How cold is it?"]))


@pytest.fixture
async def speech(service: OpenAIAudio) -> AsyncGenerator[Speech]:
    async with speech_at(service, minute_usd=Decimal(60), characters_usd=Decimal(100_000)) as speech:
        yield speech


def attaching(turn: Turn, *attachments: Attachment) -> Turn:
    [message] = turn.incoming
    return replace(turn, incoming=(replace(message, attachments=attachments),))


def hearing(desk: Desk, transport: FakeTransport, speech: Speech, *, speaks: bool = False) -> Agent:
    attachments = AttachmentReader(transport, sandbox(), speech=speech)
    return replace(desk.agent, attachments=attachments, speech=speech if speaks else None)


async def answered(desk: Desk, turn: Turn, by: Agent) -> Outcome:
    outcome = await by.answer(desk.turns.journal(turn, desk.watch))
    assert isinstance(outcome, Outcome)
    return outcome


async def costs(store: Store) -> list[tuple[str, Decimal | None]]:
    rows = await store.read(lambda repos: repos.ledger.rows("SELECT name, cost_usd FROM ledger ORDER BY id"))
    return [(name, None if cost is None else round(Decimal(cost), 2)) for name, cost in rows]


async def test_what_was_opened_is_not_opened_again(
    store: Store, clock: SetClock, service: OpenAIAudio, speech: Speech
) -> None:
    """Killed before the model answered: what was heard and read stands in the journal, and is paid once."""
    desk = Desk(store, clock, Scripted([]))
    transport = FakeTransport(files={"v": adts(), "t": b"hello"})
    turn = attaching(await desk.loaded(), VOICE, TEXT)
    with pytest.raises(IndexError):  # the script is empty: this is where the process ends
        await answered(desk, turn, hearing(desk, transport, speech))
    transport.files.clear()
    desk.provider.script = [says("Cold.")]
    again = attaching(await desk.again(), VOICE, TEXT)
    outcome = await answered(desk, again, hearing(desk, transport, speech))
    assert "> How cold is it?" in str(desk.provider.requests[-1].messages)
    assert "> hello" in str(desk.provider.requests[-1].messages)
    assert len(service.heard) == 1
    await desk.turns.keep(again, outcome)
    asked_in_vain = ("model", None)
    assert await costs(store) == [("whisper-1", Decimal("2.32")), asked_in_vain, ("model-1", Decimal("0.01"))]


async def test_an_answer_is_not_bought_or_spoken_twice(
    store: Store, clock: SetClock, service: OpenAIAudio, speech: Speech
) -> None:
    """Killed between speaking and keeping: both stand in the journal."""
    desk = Desk(store, clock, Scripted([says("Cold.")]))
    transport = FakeTransport(files={"v": adts()})
    turn = attaching(await desk.loaded(), VOICE)
    first = await answered(desk, turn, hearing(desk, transport, speech, speaks=True))
    again = attaching(await desk.again(), VOICE)
    outcome = await answered(desk, again, hearing(desk, transport, speech, speaks=True))
    assert (outcome.text, outcome.voice) == (first.text, first.voice)
    assert outcome.voice is not None
    assert outcome.voice.data == SOUND
    assert (len(service.heard), len(service.spoken), len(desk.provider.requests)) == (1, 1, 1)
    await desk.turns.keep(again, outcome)
    assert await costs(store) == [
        ("whisper-1", Decimal("2.32")),
        ("model-1", Decimal("0.01")),
        ("tts-1", Decimal("0.50")),
    ]


async def test_recordings_are_listened_to_while_there_is_money(
    store: Store, clock: SetClock, service: OpenAIAudio, speech: Speech
) -> None:
    """Several with one question do not use a budget up many times over: what each costs is known before."""
    service.says += ["How cold is it?"] * 3
    desk = Desk(store, clock, Scripted([says("Cold.")]), limits=BudgetSettings(person_day_usd=Decimal(5)))
    notes = [replace(VOICE, id=f"v{number}") for number in range(4)]
    transport = FakeTransport(files={note.id: adts() for note in notes})
    turn = attaching(await desk.loaded(), *notes)
    outcome = await answered(desk, turn, hearing(desk, transport, speech))
    assert len(service.heard) == 2
    assert str(desk.provider.requests[-1].messages).count("that would cost more than may still be spent") == 2
    await desk.turns.keep(turn, outcome)
    assert sum([cost for name, cost in await costs(store) if cost and name == "whisper-1"], Decimal(0)) == Decimal(
        "4.64"
    )
