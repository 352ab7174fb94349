"""Speech to text and back, by any service with OpenAI's API: its own, Groq, speaches, whisper.cpp, vLLM.

Left to others: turning raw AAC into an M4A (`bot.media.audio`), paying nothing twice (`bot.chat.multimodal`).

Source: OpenAI's API reference, `/audio/transcriptions` and `/audio/speech` (2026-08-21): a form with `file` (with
a file name) and `model`; at most 25 MB; containers are told by content. Text to speak has at most 4,096 characters.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from pydantic import SecretStr

from bot.media.audio import MIN_PACKED_BITS
from bot.settings import AudioSettings
from tools import FormFile, Http, TimedOut, ToolError, bearer

MAX_AUDIO_BYTES = 25_000_000
MAX_SPOKEN_CHARACTERS = 4096

_MAX_SPEECH_BYTES = 20_000_000
_SERVICE = "the audio service"
_PROVIDER = "audio"
_ASKED = "asked"
_TYPES = {
    "m4a": "audio/mp4",
    "mp3": "audio/mpeg",
    "ogg": "audio/ogg",
    "wav": "audio/wav",
    "webm": "audio/webm",
    "flac": "audio/flac",
}
_MIN_BITS: Mapping[str, int] = {"wav": 64_000, "flac": 64_000}
_MAX_BITS = 320_000
"""The most bits of a second of packed sound: a file that claims to be shorter than this allows is not believed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fee:
    """One call of a paid service other than the conversation's model: a row of the ledger."""

    name: str
    """The model that did it."""
    provider: str
    outcome: str
    """`ok`, or a word for what went wrong."""
    latency_seconds: float
    cost_usd: Decimal | None
    """None if unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Transcription:
    """The result of one recording; if `text` is None, `fee.outcome` says why."""

    text: str | None
    fee: Fee


@dataclass(frozen=True, kw_only=True, slots=True)
class SpokenText:
    """The result of one text; `sound` is raw AAC, as Signal for Android uses it; if None, `fee.outcome` says why."""

    sound: bytes | None
    fee: Fee


class Speech:
    """One service."""

    def __init__(self, http: Http, audio: AudioSettings, *, api_key: SecretStr | None) -> None:
        """The service at the address of the settings, with this key, which is its own or OpenAI's."""
        self._http = http
        self._audio = audio
        self._headers = bearer(api_key)

    async def transcribe(
        self,
        sound: bytes,
        ending: str,
        *,
        seconds: float | None,
    ) -> Transcription:
        """Returns what is said in a recording; `ending` names its format, `seconds` is its length, None if unknown."""
        model, language, began = self._audio.listening_model, self._audio.language, time.monotonic()
        presumed = self.listening_fee(sound, ending, seconds=seconds).cost_usd
        fields = {"model": model, "response_format": "json"} | ({"language": language} if language else {})
        try:
            answer = await self._http.post_form(
                f"{self._audio.base_url}/audio/transcriptions",
                service=_SERVICE,
                fields=fields,
                file=FormFile(name=f"recording.{ending}", content_type=_TYPES[ending], data=sound),
                timeout_seconds=self._audio.timeout_seconds,
                headers=self._headers,
            )
        except ToolError as error:
            cost = presumed if isinstance(error, TimedOut) else None
            return Transcription(text=None, fee=_fee(model, error.code, began, cost))
        body = _object(answer.body)
        if not answer.ok or not isinstance(text := body.get("text"), str):
            # A refused request is not charged; one with an unreadable answer may have been.
            cost = presumed if answer.ok else Decimal(0)
            return Transcription(text=None, fee=_fee(model, f"status_{answer.status}", began, cost))
        told = _seconds_told(body)
        cost = presumed if told is None else self._minutes_cost(told)
        return Transcription(text=text.strip(), fee=_fee(model, "ok", began, cost))

    def listening_fee(self, sound: bytes, ending: str, *, seconds: float | None) -> Fee:
        """Returns the expected fee of transcribing a recording."""
        cost = self._minutes_cost(_presumed_seconds(len(sound), ending, seconds))
        return _fee(self._audio.listening_model, _ASKED, time.monotonic(), cost)

    def speaking_fee(self, text: str) -> Fee:
        """Returns the expected fee of speaking a text."""
        price_usd = self._audio.speech_price
        cost = None if price_usd is None else round(price_usd * len(text) / 1_000_000, 9)
        return _fee(self._audio.speaking_model, _ASKED, time.monotonic(), cost)

    def _minutes_cost(self, seconds: float) -> Decimal | None:
        price_usd = self._audio.price
        return None if price_usd is None else round(price_usd * Decimal(seconds) / 60, 9)

    async def speak(
        self,
        text: str,
        *,
        timeout_seconds: float,
    ) -> SpokenText:
        """Returns the text, spoken, within this many seconds; the service refuses a text that is too long."""
        model, began, cost = self._audio.speaking_model, time.monotonic(), self.speaking_fee(text).cost_usd
        try:
            answer = await self._http.post_json(
                f"{self._audio.base_url}/audio/speech",
                service=_SERVICE,
                body={"model": model, "input": text, "voice": self._audio.voice, "response_format": "aac"},
                timeout_seconds=min(timeout_seconds, self._audio.timeout_seconds),
                max_bytes=_MAX_SPEECH_BYTES,
                headers=self._headers,
            )
        except ToolError as error:
            lost = cost if isinstance(error, TimedOut) else None
            return SpokenText(sound=None, fee=_fee(model, error.code, began, lost))
        if not answer.ok or not answer.body:
            return SpokenText(sound=None, fee=_fee(model, f"status_{answer.status}", began, Decimal(0)))
        return SpokenText(sound=answer.body, fee=_fee(model, "ok", began, cost))


def _fee(model: str, outcome: str, began: float, cost_usd: Decimal | None) -> Fee:
    return Fee(
        name=model, provider=_PROVIDER, outcome=outcome, latency_seconds=time.monotonic() - began, cost_usd=cost_usd
    )


def _presumed_seconds(size_bytes: int, ending: str, seconds: float | None) -> float:
    """The length of a recording if its service does not report it: what the file claims, which may be made up, or an
    estimate by size: a budget should rather end early than late.
    """
    bits = size_bytes * 8
    if seconds is None:
        return bits / _MIN_BITS.get(ending, MIN_PACKED_BITS)
    return max(seconds, bits / _MAX_BITS)


def _seconds_told(body: Mapping[str, Any]) -> float | None:
    """The length of the recording, if the service reports it: whisper counts seconds, others count tokens."""
    told = _object(body.get("usage")).get("seconds")
    return float(told) if isinstance(told, int | float) and told > 0 else None


def _object(value: Any) -> Mapping[str, Any]:
    """A JSON object as it is, or an empty one instead of anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
