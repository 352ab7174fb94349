"""The settings of the feeds and of the tools that look into them."""

from typing import Annotated

from pydantic import AfterValidator, Field

from tools.base import CommaList, Options

_MAX_FEEDS = 50
MAX_DAYS = 365


def _as_feed(given: str) -> str:
    """A feed's address in its one spelling."""
    from tools.web.addresses import canonical_url  # where feeds are set: httpx comes with it

    url = canonical_url(given)
    if url is None:
        raise ValueError("must be a comma-separated list of addresses such as https://example.org/feed.xml")
    return url


class NewsOptions(Options):
    """The settings `TOOLS__NEWS__<FIELD>`, of both tools and of the reading of feeds."""

    feeds: Annotated[
        tuple[Annotated[str, AfterValidator(_as_feed)], ...],
        CommaList,
        AfterValidator(lambda feeds: tuple(dict.fromkeys(feeds))),
        Field(max_length=_MAX_FEEDS),
    ] = ()
    """The RSS and Atom feeds that are read: a comma list of their addresses, at most 50, of the public web only. Admins
    can add others with `/feeds`. Without any feed models are not offered the tools."""
    poll_minutes: int = Field(default=60, ge=15, le=1440)
    """How often each feed is asked for what is new, unless it wants to be asked less often."""
    kept_days: int = Field(default=30, ge=1, le=MAX_DAYS)
    """How long what stood in feeds is kept."""
    max_entries: int = Field(default=5000, ge=100, le=20_000)
    """How much of it is kept at most, of all feeds together; first goes the oldest of those feeds that have most."""

    def idle_services(self) -> dict[str, str]:
        """See `Options`: news of one's choice, as long as the settings name no feed."""
        return {} if self.feeds else {"the feeds that you name": "FEEDS"}

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`: nobody; the feeds' servers see that they are read, never what is looked for."""
        return ()
