"""The settings `AUDIO__...`."""

from decimal import Decimal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from bot.settings.groups.base import SettingsGroup
from tools import BaseUrl


class AudioSettings(SettingsGroup):
    """Speech to text and back, by OpenAI or any server with its API (Groq, speaches, whisper.cpp). Off without an
    address.
    """

    base_url: BaseUrl | None = None
    """The address of the service, with /v1, such as https://api.openai.com/v1; setting it turns on voice notes."""
    api_key: SecretStr | None = None
    """Its key; defaults to that of LLM__OPENAI if the address is the same."""
    model: str | None = None
    """The transcription model; defaults to `gpt-4o-mini-transcribe` at OpenAI itself, `whisper-1` elsewhere."""
    language: str | None = Field(default=None, pattern="^[a-z]{2}$")
    """The language that people speak, like de; unset, the model detects it."""
    price: Decimal | None = Field(default=None, ge=0, le=1000)
    """The price of a minute in US dollars, for the ledger; unset means unknown. Budgets need it."""
    speak: bool = False
    """Whether a voice note is also answered with a voice note, besides the text."""
    speech_model: str | None = None
    """The speech model; defaults to `gpt-4o-mini-tts` at OpenAI itself, `tts-1` elsewhere."""
    voice: str = "alloy"
    """The voice that it speaks with."""
    speech_price: Decimal | None = Field(default=None, ge=0, le=100_000)
    """The price of a million spoken characters in US dollars, for the ledger; unset means unknown."""
    timeout_seconds: float = Field(default=60, ge=1, le=600)
    """How many seconds transcribing one recording, or speaking one answer, can take."""

    @property
    def is_openai_itself(self) -> bool:
        """Whether the address is OpenAI's own rather than a compatible server's."""
        return self.base_url is not None and urlsplit(self.base_url).hostname == "api.openai.com"

    @property
    def listening_model(self) -> str:
        """The transcription model."""
        return self.model or ("gpt-4o-mini-transcribe" if self.is_openai_itself else "whisper-1")

    @property
    def speaking_model(self) -> str:
        """The speech model."""
        return self.speech_model or ("gpt-4o-mini-tts" if self.is_openai_itself else "tts-1")
