"""The settings of the tools for prediction markets."""

from typing import Annotated, Literal

from tools.base import FIXED, BaseUrl, Options

Sources = Literal["both", "polymarket", "manifold"]


class MarketsOptions(Options):
    """The settings `TOOLS__MARKETS__<FIELD>`, of both tools."""

    sources: Annotated[Sources, FIXED] = "both"
    """The markets to query: both, polymarket (real money) or manifold (play money)."""
    polymarket_base_url: Annotated[BaseUrl, FIXED] = "https://gamma-api.polymarket.com"
    """The address of Polymarket."""
    manifold_base_url: Annotated[BaseUrl, FIXED] = "https://api.manifold.markets"
    """The address of Manifold."""
    timeout_seconds: Annotated[float, FIXED] = 8
    """The time limit for each request."""

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        names = {"polymarket": ("Polymarket",), "manifold": ("Manifold",)}
        return names.get(self.sources, ("Polymarket", "Manifold"))
