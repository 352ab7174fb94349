"""The settings of the tool `image_generate`."""

from decimal import Decimal
from urllib.parse import urlsplit

from pydantic import Field

from tools.base import BaseUrl, Key, Options

OPENAI_URL = "https://api.openai.com/v1"


class ImagesOptions(Options):
    """The settings `TOOLS__IMAGES__<FIELD>` of image_generate, which is offered once an address or a key is set."""

    base_url: BaseUrl | None = None
    """The address of the service, with /v1; unset means OpenAI itself. A server of your own may need no key."""
    api_key: Key | None = None
    """Its key. It never gets any other key of yours."""
    model: str | None = Field(default=None, min_length=1, max_length=200)
    """The model that draws; unset means `gpt-image-2.5-flare` at OpenAI itself, and elsewhere the server's default."""
    cost_usd: Decimal = Field(default=Decimal(0), ge=0, le=100)
    """The price of one picture in US dollars, for the ledger and the budgets; 0 means that pictures are not counted.
    Required if there is a budget."""

    def missing_settings(self) -> str | None:
        """See `Options`: OpenAI needs a key, another service an address."""
        return None if self.base_url or self.api_key else "API_KEY or BASE_URL"

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        return (f"{urlsplit(self.base_url or OPENAI_URL).hostname}: the description",)
