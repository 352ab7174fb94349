"""The settings of the tool `twitter_search`."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from tools.base import FIXED, BaseUrl, Key, Options

SITE = "x.com"


class TwitterOptions(Options):
    """The settings `TOOLS__TWITTER__<FIELD>` of twitter_search; without a token it searches the web for posts on X."""

    bearer_token: Key | None = None
    """The bearer token of your X app (app-only); every post read with it costs money."""
    posts_per_day: int = Field(default=100, ge=0, le=1_000_000)
    """The limit of posts read per day (UTC); one search reads at least ten. Beyond it the web is searched instead."""
    post_cost_usd: Annotated[Decimal, FIXED] = Decimal("0.005")
    """What X charges for a post, in US dollars."""
    user_cost_usd: Annotated[Decimal, FIXED] = Decimal("0.010")
    """What X charges for an author, in US dollars."""
    base_url: Annotated[BaseUrl, FIXED] = "https://api.x.com"
    """The address of X."""
    timeout_seconds: Annotated[float, FIXED] = 8
    """The time limit for X; TOOLS__TIMEOUT_SECONDS applies to it and the web search that replaces it together."""

    def missing_settings(self) -> str | None:
        """See `Options`: a token, unless a search service can search the web for posts on X."""
        return None if self.bearer_token else "BEARER_TOKEN"

    def idle_services(self) -> Mapping[str, str]:
        """See `Options`."""
        return {} if self.bearer_token else {"X": "BEARER_TOKEN"}

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        others = "whoever sees what is asked of web_search"
        return ("X", f"in its stead {others}") if self.bearer_token else (others,)
