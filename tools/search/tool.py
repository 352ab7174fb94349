"""The tool `web_search`: passes a model's query to the search services and returns the results.

`tools.search.service` chooses the service, and has what all searching tools share.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.search.base import Freshness, Query
from tools.search.options import MAX_RESULTS, SearchOptions, Site
from tools.search.service import CachedHits, SearchService, clean_query, row

MAX_QUERY_CHARS = 500

_MAX_SITES = 5

Sites = Annotated[tuple[Site, ...], Field(max_length=_MAX_SITES)]
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")]


class WebSearchArguments(Arguments):
    """The pages to search for."""

    query: str = Field(
        min_length=1, max_length=MAX_QUERY_CHARS, description="A few words. No private details about people."
    )
    count: int | None = Field(
        default=None, ge=1, le=MAX_RESULTS, description="The number of results; default: as usual."
    )
    topic: Literal["web", "news"] = Field(default="web", description="`news` for recent events.")
    freshness: Freshness | None = Field(default=None, description="The maximum age of pages; default: any.")
    sites: Sites = Field(default=(), description="Search only these sites, such as example.org.")
    without_sites: Sites = Field(default=(), description="Exclude these sites.")
    language: Language | None = Field(default=None, description="Of the pages, two letters: en, de, fr, ...")


class WebSearch:
    """Searches the web, or Wikipedia if nothing else is set up."""

    def __init__(self, options: SearchOptions, search: SearchService) -> None:
        self._max_results = options.max_results
        self._search = search
        self.spec = ToolSpec(
            name="web_search",
            rare_arguments=frozenset({"count", "without_sites", "language"}),
            description=(
                "Searches the web and returns numbered results: title, address, site, snippet and, if known, age."
                " `source` names the service that answered; Wikipedia has only encyclopaedic subjects, no news or"
                " prices. Use it for anything recent, local or uncertain."
            ),
            arguments=WebSearchArguments,
            intent=lambda given: Intent("search_web", {"query": given.query}),
            finds_pages=True,
            cost_usd=search.usual_usd,
        )

    async def run(self, arguments: WebSearchArguments, context: ToolContext) -> Result:
        """Returns the results of the first service that answers; an empty list and a message if there are none.

        Raises:
            BadArguments: the query contains nothing readable.
            Disabled: no available service supports this kind of search.
            ToolError: no service answered; the error of the last one.
        """
        query = self._query(arguments)
        found = await self._search.search(query, context.now)
        return Result(data=self._data(query, found), cost_usd=found.cost_usd)

    def _query(self, arguments: WebSearchArguments) -> Query:
        return Query(
            text=clean_query(arguments.query),
            count=min(arguments.count or self._max_results, self._max_results),
            is_news=arguments.topic == "news",
            freshness=arguments.freshness,
            sites=arguments.sites,
            without_sites=arguments.without_sites,
            language=arguments.language,
        )

    def _data(self, query: Query, found: CachedHits) -> Mapping[str, Any]:
        data: dict[str, Any] = {"query": query.text, "source": found.source}
        if found.failures:
            data["failed_before"] = [str(failure) for failure in found.failures]
        if not found.hits:
            data["message"] = "Nothing was found; try other words."
        return data | {"results": list(map(row, found.hits))}


def search_tools(options: SearchOptions, search: SearchService) -> tuple[WebSearch, ...]:
    """Returns the tool; none if no service is available."""
    return (WebSearch(options, search),) if search.is_open else ()
