"""The settings of the tool `verify_news`."""

from typing import Annotated

from pydantic import Field

from tools.base import CommaList, Options
from tools.search.options import Site

_MAX_SITES = 30
Sites = Annotated[tuple[Site, ...], CommaList, Field(max_length=_MAX_SITES)]


class VerifyNewsOptions(Options):
    """The settings `TOOLS__VERIFY_NEWS__<FIELD>`. Searches use the services of `TOOLS__WEB_SEARCH__`."""

    max_rounds: int = Field(default=3, ge=1, le=3)
    """The largest number of search rounds for one claim."""
    max_searches: int = Field(default=7, ge=1, le=9)
    """The largest number of searches for one claim, in all rounds; each may cost what the search service charges."""
    preferred_sites: Sites = ()
    """Sites that are searched separately if none of their pages was found, and listed first: a comma-separated list."""
    official_sites: Sites = ()
    """Further authorities whose statements count as official, besides those of known states: a comma-separated list."""
    timeout_seconds: float = Field(default=24, gt=0, le=300)
    """The time limit for all searches of one claim; after that it answers with what it has."""

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        return ("those who see web_search: searches about the claim",)
