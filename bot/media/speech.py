"""Speech to text and back, by any service with OpenAI's API: its own, Groq, speaches, whisper.cpp, vLLM.

Left to others: turning raw AAC into an M4A (`bot.media.audio`), paying nothing twice (`bot.chat.multimodal`).

Source: OpenAI's API reference, `/audio/transcriptions` and `/audio/speech` (2026-08-21): a form with `file` (with
a file name) and `model`; at most 25 MB; containers are known by content. Text to speak has at most 4,096 characters.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from pydantic import SecretStr

from bot.media.audio import MIN_PACKED_BITS
from bot.settings.groups import AudioSettings
from tools import Http, TimedOut, ToolError, bearer

MAX_AUDIO_BYTES = 25_000_000
MAX_SPOKEN_CHARACTERS = 4096

_MAX_SPEECH_BYTES = 20_000_000
_SERVICE = "the audio service"
_TYPES = {"m4a": "audio/mp4", "mp3": "audio/mpeg"}  # the others have the name of their file extension
_UNPACKED_BITS = {"wav": 64_000, "flac": 64_000}
"""The fewest bits of a second of sound in these formats."""
_MAX_BITS = 320_000
"""The most bits of a second of packed sound: a file that claims to be shorter than this allows is not believed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fee:
    """One call of a paid service other than the conversation's model: a row of the ledger."""

    name: str
    """The model that did it."""
    outcome: str
    """`ok`, or a word for what went wrong."""
    latency_seconds: float
    cost_usd: Decimal | None
    """None if unknown."""
    provider: str = "audio"


class Speech:
    """One service."""

    def __init__(self, http: Http, audio: AudioSettings, *, api_key: SecretStr | None) -> None:
        """The service at the address of the settings, with this key, which is its own or OpenAI's."""
        self._http = http
        self._audio = audio
        self._headers = bearer(api_key)

    async def transcribe(self, sound: bytes, ending: str, *, seconds: float | None) -> tuple[str | None, Fee]:
        """Returns what is said in a recording, None if that failed, and the fee, whose outcome says why.

        `ending` names its format, `seconds` is its length, None if unknown.
        """
        model, began = self._audio.listening_model, time.monotonic()
        presumed = self.listening_fee(sound, ending, seconds=seconds).cost_usd
        try:
            sent = await self._http.post(
                f"{self._audio.base_url}/audio/transcriptions",
                service=_SERVICE,
                data={"model": model, "response_format": "json"},
                files={"file": (f"recording.{ending}", sound, _TYPES.get(ending, f"audio/{ending}"))},
                timeout_seconds=60,
                headers=self._headers,
            )
            answer = sent.as_json(_SERVICE)
        except ToolError as error:
            return None, _fee(model, error.code, began, presumed if isinstance(error, TimedOut) else None)
        body = _object(answer.body)
        if not answer.ok or not isinstance(text := body.get("text"), str):
            # A refused request is not charged; one with an unreadable answer may have been.
            return None, _fee(model, f"status_{answer.status}", began, presumed if answer.ok else Decimal(0))
        # Whisper reports seconds, other models count tokens.
        billed = _object(body.get("usage")).get("seconds")
        cost = self._minutes_cost(billed) if isinstance(billed, int | float) and billed > 0 else presumed
        return text.strip(), _fee(model, "ok", began, cost)

    def listening_fee(self, sound: bytes, ending: str, *, seconds: float | None) -> Fee:
        """Returns the expected fee of transcribing a recording: by what the file claims, which may be made up, or by
        its size, because a budget should rather end early than late.
        """
        bits = len(sound) * 8
        fewest = _UNPACKED_BITS.get(ending, MIN_PACKED_BITS)
        presumed = bits / fewest if seconds is None else max(seconds, bits / _MAX_BITS)
        return _fee(self._audio.listening_model, "asked", time.monotonic(), self._minutes_cost(presumed))

    def speaking_fee(self, text: str) -> Fee:
        """Returns the expected fee of speaking a text."""
        price_usd = self._audio.speech_price
        cost = None if price_usd is None else round(price_usd * len(text) / 1_000_000, 9)
        return _fee(self._audio.speaking_model, "asked", time.monotonic(), cost)

    async def speak(self, text: str, *, timeout_seconds: float) -> tuple[bytes | None, Fee]:
        """Returns the text, spoken, in raw AAC, as Signal for Android uses it; None if that failed or took longer than
        these seconds; and the fee, whose outcome says why. The service refuses a text that is too long.
        """
        model, began, cost = self._audio.speaking_model, time.monotonic(), self.speaking_fee(text).cost_usd
        try:
            answer = await self._http.post(
                f"{self._audio.base_url}/audio/speech",
                service=_SERVICE,
                json={"model": model, "input": text, "voice": self._audio.voice, "response_format": "aac"},
                timeout_seconds=min(timeout_seconds, 60),
                max_bytes=_MAX_SPEECH_BYTES,
                headers=self._headers,
            )
        except ToolError as error:
            return None, _fee(model, error.code, began, cost if isinstance(error, TimedOut) else None)
        if not answer.ok or not answer.body:
            return None, _fee(model, f"status_{answer.status}", began, Decimal(0))
        return answer.body, _fee(model, "ok", began, cost)

    def _minutes_cost(self, seconds: float) -> Decimal | None:
        price_usd = self._audio.price
        return None if price_usd is None else round(price_usd * Decimal(seconds) / 60, 9)


def _fee(model: str, outcome: str, began: float, cost_usd: Decimal | None) -> Fee:
    return Fee(name=model, outcome=outcome, latency_seconds=time.monotonic() - began, cost_usd=cost_usd)


def _object(value: Any) -> Mapping[str, Any]:
    """A JSON object as it is, or an empty one instead of anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
