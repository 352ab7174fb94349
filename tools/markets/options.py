"""The settings of the tools that ask prediction markets."""

from typing import Literal

from pydantic import Field

from tools.base import BaseUrl, Options

Sources = Literal["both", "polymarket", "manifold"]


class MarketsOptions(Options):
    """The settings `TOOLS__MARKETS__<FIELD>`, of both tools."""

    sources: Sources = "both"
    """Who is asked: both, polymarket (real money) or manifold (play money)."""
    polymarket_base_url: BaseUrl = "https://gamma-api.polymarket.com"
    """Where Polymarket answers."""
    manifold_base_url: BaseUrl = "https://api.manifold.markets"
    """Where Manifold answers."""
    timeout_seconds: float = Field(default=8, gt=0, le=120)
    """For each request; both are asked side by side."""

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        names = {"polymarket": ("Polymarket",), "manifold": ("Manifold",)}
        return names.get(self.sources, ("Polymarket", "Manifold"))
