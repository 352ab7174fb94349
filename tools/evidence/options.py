"""The settings of the tool `verify_news`."""

from typing import Annotated

from pydantic import Field

from tools.base import CommaList, Options
from tools.search.options import Site

_MAX_SITES = 30
Sites = Annotated[tuple[Site, ...], CommaList, Field(max_length=_MAX_SITES)]


class VerifyNewsOptions(Options):
    """The settings `TOOLS__VERIFY_NEWS__<FIELD>`. The services that are searched are those of `TOOLS__WEB_SEARCH__`."""

    independent_sources: int = Field(default=3, ge=1, le=20)
    """How many independent reports must agree before the evidence says that several do."""
    max_rounds: int = Field(default=3, ge=1, le=3)
    """The most rounds of searches for one claim."""
    max_searches: int = Field(default=7, ge=1, le=9)
    """The most searches for one claim, over all rounds: each may cost what the search service takes."""
    max_sources: int = Field(default=10, ge=1, le=40)
    """The most pages that are told of; all that were found are counted."""
    preferred_sites: Sites = ()
    """Sites that are searched by themselves where none of them was found, and told first: a comma list."""
    excluded_sites: Sites = ()
    """Sites that never count and are not told of: a comma list."""
    official_sites: Sites = ()
    """Authorities whose word counts as official, besides those of states that are known: a comma list."""
    timeout_seconds: float = Field(default=24, gt=0, le=300)
    """How long the searches for one claim may take together; then it answers with what it has."""

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        return ("those who see web_search: searches about the claim",)
