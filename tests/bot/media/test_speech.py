"""Recordings to words and words to sound, by an audio service that is as strict as the real ones."""

from collections.abc import AsyncGenerator
from decimal import Decimal
from typing import Any

import pytest

from bot.media.speech import Speech, as_m4a
from store import LedgerEntry
from tests.bot.media.samples import adts
from tests.bot.media.voices import speech_at
from tests.servers.base import answer_json
from tests.servers.fixtures import fixture_of
from tests.servers.openai_audio import SOUND, OpenAIAudio
from tests.waiting import DEADLINE_SECONDS

M4A, SECONDS = as_m4a(adts())

MINUTE, SPOKEN = Decimal("0.006"), Decimal(15)

service = fixture_of(OpenAIAudio)


@pytest.fixture
async def speech(service: OpenAIAudio) -> AsyncGenerator[Speech]:
    async with speech_at(service, minute_usd=MINUTE, characters_usd=SPOKEN) as speech:
        yield speech


async def listened(speech: Speech, seconds: float | None = SECONDS) -> tuple[str | None, LedgerEntry]:
    return await speech.transcribe(M4A, "m4a", speech.listening_fee(M4A, "m4a", seconds=seconds))


async def spoken(speech: Speech, text: str) -> tuple[bytes | None, LedgerEntry]:
    return await speech.speak(text, speech.speaking_fee(text), timeout_seconds=DEADLINE_SECONDS)


async def test_a_recording_becomes_words(speech: Speech, service: OpenAIAudio) -> None:
    """The form holds what the service wants, and the sound byte for byte. Servers at home want no key."""
    service.says = [" Buy milk. \n"]
    words, fee = await listened(speech)
    assert (words, fee.outcome, fee.name, fee.provider) == ("Buy milk.", "ok", "whisper-1", "audio")
    form = {"model": "whisper-1", "response_format": "json"}
    assert service.heard == [form | {"file": ("recording.m4a", "audio/mp4", M4A)}]
    service.key, service.says = None, ["Hello"]
    async with speech_at(service, minute_usd=None, characters_usd=None, api_key=None) as at_home:
        words, fee = await listened(at_home)
    assert (words, fee.cost_usd) == ("Hello", None)
    assert ["authorization" in seen.headers for seen in service.requests] == [True, False]


async def test_a_minute_has_its_price(speech: Speech, service: OpenAIAudio) -> None:
    """By the service's count, else the file's if its size allows that, else by its size: no recording is free."""
    by_size = MINUTE * len(M4A) * 8 / 60
    usages: tuple[tuple[Any, float | None, Decimal], ...] = (
        (None, 30.0, Decimal("0.003")),
        ({"type": "duration", "seconds": 60}, 30.0, Decimal("0.006")),
        ({"type": "tokens", "input_tokens": 14}, 30.0, Decimal("0.003")),
        (None, None, round(by_size / 16_000, 9)),
        (None, 1e-9, round(by_size / 320_000, 9)),
    )
    for usage, seconds, cost in usages:
        service.says, service.usage = ["Hello"], usage
        _, fee = await listened(speech, seconds)
        assert fee.cost_usd == cost


async def test_words_become_a_sound(speech: Speech, service: OpenAIAudio) -> None:
    """In the format that Signal itself uses for voice notes, priced by the character."""
    sound, fee = await spoken(speech, "Hello there")
    assert (sound, fee.outcome, fee.cost_usd) == (SOUND, "ok", Decimal("0.000165"))
    assert service.spoken == [{"model": "tts-1", "voice": "alloy", "input": "Hello there", "response_format": "aac"}]
    sound, fee = await spoken(speech, "x" * 5000)
    assert (sound, fee.outcome, fee.cost_usd) == (None, "status_400", 0)


async def test_an_answer_that_makes_no_sense_is_no_transcript(speech: Speech, service: OpenAIAudio) -> None:
    """Its cost is unknown; where the service is away nothing is raised: the message goes on without its words."""
    for broken in ({"error": "none"}, ["text"], {"text": 7}):
        service.faults.append(answer_json(broken))
        words, fee = await listened(speech)
        assert (words, fee.cost_usd) == (None, round(MINUTE * Decimal(SECONDS) / 60, 9))
    await service.stop()
    assert (await listened(speech))[1].outcome == "unavailable"
    assert (await spoken(speech, "Hi"))[1].outcome == "unavailable"
