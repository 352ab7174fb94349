"""Spoken words to text and back, by any service that speaks OpenAI's API: its own, Groq, speaches, whisper.cpp, vLLM.

Left to others: that raw AAC becomes an M4A (`bot.media.audio`), that nothing is paid twice (`bot.turn.multimodal`).

Source: OpenAI's API reference, `/audio/transcriptions` and `/audio/speech` (2026-08-21): a form with `file` (with
a file name) and `model`; at most 25 MB; containers are told by content. Text to speak has at most 4,096 characters.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from pydantic import SecretStr

from bot.media.findings import Fee
from bot.settings import AudioSettings
from tools import FormFile, Http, ToolError, bearer

MAX_AUDIO_BYTES = 25_000_000
MAX_SPOKEN_CHARACTERS = 4096

_MAX_SPEECH_BYTES = 20_000_000
_SERVICE = "the audio service"
_PROVIDER = "audio"
_TYPES = {
    "m4a": "audio/mp4",
    "mp3": "audio/mpeg",
    "ogg": "audio/ogg",
    "wav": "audio/wav",
    "webm": "audio/webm",
    "flac": "audio/flac",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Transcription:
    """What came of one recording; `text` None: nothing, `fee.outcome` says why."""

    text: str | None
    fee: Fee


@dataclass(frozen=True, kw_only=True, slots=True)
class SpokenText:
    """What came of one text; `sound` is raw AAC, as Signal for Android has it; None: `fee.outcome` says why."""

    sound: bytes | None
    fee: Fee


class Speech:
    """One service."""

    def __init__(self, http: Http, audio: AudioSettings, *, api_key: SecretStr | None) -> None:
        """The service at the address of the settings, with this key of its own or OpenAI's."""
        self._http = http
        self._audio = audio
        self._headers = bearer(api_key)

    async def transcribe(self, sound: bytes, ending: str, *, seconds: float | None) -> Transcription:
        """What is said in a recording; `ending` names its format, `seconds` None: nobody knows how long it is."""
        model, language, began = self._audio.listening_model, self._audio.language, time.monotonic()
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
            return Transcription(text=None, fee=_fee(model, error.code, began, None))
        body = _object(answer.body)
        if not answer.ok or not isinstance(text := body.get("text"), str):
            # What is refused is not charged; an answer that cannot be read may have been.
            cost = None if answer.ok else Decimal(0)
            return Transcription(text=None, fee=_fee(model, f"status_{answer.status}", began, cost))
        lasted = _seconds_told(body) or seconds
        price_usd = self._audio.price
        cost = None if lasted is None or price_usd is None else round(price_usd * Decimal(lasted) / 60, 9)
        return Transcription(text=text.strip(), fee=_fee(model, "ok", began, cost))

    async def speak(self, text: str, *, timeout_seconds: float) -> SpokenText:
        """The text, spoken; what is too long for the service is refused by it. At most so many seconds."""
        model, price_usd, began = self._audio.speaking_model, self._audio.speech_price, time.monotonic()
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
            return SpokenText(sound=None, fee=_fee(model, error.code, began, None))
        if not answer.ok or not answer.body:
            return SpokenText(sound=None, fee=_fee(model, f"status_{answer.status}", began, Decimal(0)))
        cost = None if price_usd is None else round(price_usd * len(text) / 1_000_000, 9)
        return SpokenText(sound=answer.body, fee=_fee(model, "ok", began, cost))


def _fee(model: str, outcome: str, began: float, cost_usd: Decimal | None) -> Fee:
    return Fee(
        name=model, provider=_PROVIDER, outcome=outcome, latency_seconds=time.monotonic() - began, cost_usd=cost_usd
    )


def _seconds_told(body: Mapping[str, Any]) -> float | None:
    """How long the recording was, where the service says so: whisper counts seconds, others count tokens."""
    told = _object(body.get("usage")).get("seconds")
    return float(told) if isinstance(told, int | float) and told > 0 else None


def _object(value: Any) -> Mapping[str, Any]:
    """A JSON object as it is; in the place of anything else an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
