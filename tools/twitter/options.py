"""The settings of the tool `twitter_search`."""

from collections.abc import Mapping
from decimal import Decimal

from pydantic import Field

from tools.base import BaseUrl, Key, Options

SITE = "x.com"


class TwitterOptions(Options):
    """The settings `TOOLS__TWITTER__<FIELD>` of twitter_search; without a token the web is searched for posts on X."""

    bearer_token: Key | None = None
    """The bearer token of your app at X (app-only); every post that is read with it costs money."""
    posts_per_day: int = Field(default=100, ge=0, le=1_000_000)
    """How many posts are read in a day, UTC; a search reads ten or more. Then the web is searched instead."""
    post_cost_usd: Decimal = Field(default=Decimal("0.005"), ge=0, le=1)
    """What X charges for a post, in US dollars."""
    user_cost_usd: Decimal = Field(default=Decimal("0.010"), ge=0, le=1)
    """What X charges for an author, in US dollars."""
    base_url: BaseUrl = "https://api.x.com"
    """Where X answers."""
    timeout_seconds: float = Field(default=8, gt=0, le=120)
    """For X; TOOLS__TIMEOUT_SECONDS holds for it and the search that stands in for it together."""

    def missing_settings(self) -> str | None:
        """See `Options`: a token, unless there is a service that can search the web for posts on X."""
        return None if self.bearer_token else "BEARER_TOKEN"

    def idle_services(self) -> Mapping[str, str]:
        """See `Options`."""
        return {} if self.bearer_token else {"X": "BEARER_TOKEN"}

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        others = "whoever sees what is asked of web_search"
        return ("X", f"in its stead {others}") if self.bearer_token else (others,)
