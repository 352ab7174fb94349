"""The settings of the tool `convert`."""

from pydantic import Field

from tools.base import BaseUrl, Options


class ConvertOptions(Options):
    """The settings `TOOLS__CONVERT__<FIELD>`."""

    rates_base_url: BaseUrl = "https://api.frankfurter.dev"
    """The source of exchange rates: Frankfurter, or a server of your own."""
    timeout_seconds: float = Field(default=8, gt=0, le=120)
    """The time limit for fetching the rates."""

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        return ("Frankfurter: that rates are asked for",)
