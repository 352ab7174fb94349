"""The settings of the tool `twitter_search`."""

from collections.abc import Mapping

from pydantic import Field

from tools.base import Key, Options

SITE = "x.com"


class TwitterOptions(Options):
    """The settings `TOOLS__TWITTER__<FIELD>` of twitter_search; without a token it searches the web for posts on X."""

    bearer_token: Key | None = None
    """The bearer token of your X app (app-only); every post read with it costs money."""
    posts_per_day: int = Field(default=100, ge=0, le=1_000_000)
    """The limit of posts read per day (UTC); one search reads at least ten. Beyond it the web is searched instead."""

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
