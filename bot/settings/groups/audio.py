"""The settings `AUDIO__...`."""

from decimal import Decimal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from bot.settings.groups.base import SettingsGroup
from tools import BaseUrl


class AudioSettings(SettingsGroup):
    """Spoken words, by OpenAI or any server with its API (Groq, speaches, whisper.cpp). Off without an address."""

    base_url: BaseUrl | None = None
    """The address of the service, with /v1, such as https://api.openai.com/v1; with it voice notes are understood."""
    api_key: SecretStr | None = None
    """Its key; left out, the one of LLM__OPENAI counts where the address is the same."""
    model: str | None = None
    """The model that listens; none means `gpt-4o-mini-transcribe` at OpenAI itself, `whisper-1` elsewhere."""
    language: str | None = Field(default=None, pattern="^[a-z]{2}$")
    """The language that people speak, like de; none lets the model find out."""
    price: Decimal | None = Field(default=None, ge=0, le=1000)
    """What a minute costs, in US dollars, for the ledger; none means that nobody knows. A budget wants it said."""
    speak: bool = False
    """Whether a voice note is answered by a voice note, besides the text."""
    speech_model: str | None = None
    """The model that speaks; none means `gpt-4o-mini-tts` at OpenAI itself, `tts-1` elsewhere."""
    voice: str = "alloy"
    """Its voice."""
    speech_price: Decimal | None = Field(default=None, ge=0, le=100_000)
    """What a million spoken characters cost, in US dollars, for the ledger; none means as above."""
    timeout_seconds: float = Field(default=60, ge=1, le=600)
    """How long listening to one recording, or speaking one answer, may take."""

    @property
    def is_openai_itself(self) -> bool:
        """Whether the address is OpenAI's own and not a compatible server's."""
        return self.base_url is not None and urlsplit(self.base_url).hostname == "api.openai.com"

    @property
    def listening_model(self) -> str:
        """The model that listens."""
        return self.model or ("gpt-4o-mini-transcribe" if self.is_openai_itself else "whisper-1")

    @property
    def speaking_model(self) -> str:
        """The model that speaks."""
        return self.speech_model or ("gpt-4o-mini-tts" if self.is_openai_itself else "tts-1")
