"""The tool `web_search`: passes a model's query to the search services and returns the results.

`tools.search.services` chooses the service, and has what all searching tools share.
"""

from typing import Annotated, Any, Literal, cast

from pydantic import Field, model_validator

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec, fit
from tools.search.base import Freshness, Language, Query, trim_query
from tools.search.options import MAX_RESULTS, SearchOptions
from tools.search.services import SearchService, clean_query, row
from tools.web.addresses import Site

MAX_QUERY_CHARS = 500

_MAX_SITES = 5
_TAVILY_NAMES = {"include_domains": "sites", "exclude_domains": "without_sites"}

Sites = Annotated[tuple[Site, ...], Field(max_length=_MAX_SITES)]


class WebSearchArguments(Arguments):
    """The pages to search for."""

    rare = frozenset({"count", "without_sites", "language", "search_depth", "include_answer"})

    query: str = Field(min_length=1, description="A few words, no private details about people.")
    count: int | None = Field(default=None, description=f"Up to {MAX_RESULTS} results; default: as usual.")
    topic: Literal["web", "news"] = Field(default="web", description="`news` for recent events.")
    freshness: Freshness | None = Field(default=None, description="The maximum age.")
    sites: Sites = Field(default=(), description="Only these sites, such as example.org.")
    without_sites: Sites = Field(default=(), description="Exclude these sites.")
    language: Language | None = Field(default=None, description="Of the pages, two letters: en, de, fr, ...")
    search_depth: Literal["basic", "advanced"] = Field(default="basic", description="Advanced costs more; Tavily only.")
    include_answer: bool = Field(default=False, description="The service's own short answer, too; Tavily only.")

    @model_validator(mode="before")
    @classmethod
    def _by_names_of_tavily(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {_TAVILY_NAMES.get(name, name): item for name, item in cast("dict[str, Any]", given).items()}


class WebSearch:
    """Searches the web, or Wikipedia if nothing else is set up."""

    def __init__(self, options: SearchOptions, search: SearchService) -> None:
        self._max_results = options.max_results
        self._search = search
        self.spec = ToolSpec(
            name="web_search",
            description=(
                "Searches the web for what is recent, local or uncertain, without private details about people. Returns"
                " numbered results; `source` names the service that answered: Wikipedia has only encyclopaedic"
                " subjects, no news or prices."
            ),
            arguments=WebSearchArguments,
            intent=lambda given: Intent("search_web", {"query": given.query}),
            label="pages",
            cost_usd=search.usual_usd,
        )

    async def run(self, arguments: WebSearchArguments, context: ToolContext) -> Result:
        """Returns the results of the first service that answers; an empty list and a message if there are none."""
        count, note = fit(arguments.count or self._max_results, 1, self._max_results, "results")
        query = Query(
            text=trim_query(clean_query(arguments.query), max_chars=MAX_QUERY_CHARS),
            count=count,
            is_news=arguments.topic == "news",
            freshness=arguments.freshness,
            sites=arguments.sites,
            without_sites=arguments.without_sites,
            language=arguments.language,
            is_deep=arguments.search_depth == "advanced",
            has_answer=arguments.include_answer,
        )
        found = await self._search.search(query, context.now)
        more: dict[str, Any] = {
            "answer": found.answer,
            "failed_before": [str(failure) for failure in found.failures],
            "message": "" if found.hits else "Nothing was found; try other words.",
        }
        data = {
            **note,
            "query": query.text,
            "source": found.source,
            **{name: item for name, item in more.items() if item},
            "results": list(map(row, found.hits)),
        }
        return Result(data=data, cost_usd=found.cost_usd)
