"""The settings of the tool `convert`."""

from typing import Annotated

from tools.base import FIXED, BaseUrl, Options


class ConvertOptions(Options):
    """The settings `TOOLS__CONVERT__<FIELD>`."""

    rates_base_url: Annotated[BaseUrl, FIXED] = "https://api.frankfurter.dev"
    """The source of exchange rates: Frankfurter, or a server of your own."""
    timeout_seconds: Annotated[float, FIXED] = 8
    """The time limit for fetching the rates."""

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        return ("Frankfurter: that rates are asked for",)
