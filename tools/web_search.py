"""The tool `web_search`: asks search services one after the other until one answers.

The order is the operator's own SearXNG where its address is set, Brave where its key is, Wikipedia always. What people
ask goes to no other service. How each is asked is `tools.search`'s part.
"""

import logging
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, StringConstraints

from tools.base import Arguments, BaseUrl, Key, Options, Result, ToolContext, ToolSpec
from tools.errors import BadArguments, ToolError
from tools.http import Http
from tools.search.base import Hit, SearchBackend
from tools.search.brave import Brave
from tools.search.searxng import SearXNG
from tools.search.wikipedia import Wikipedia
from tools.text import cleaned

MAX_QUERY_CHARS = 500
_MOST_RESULTS = 20

_log = logging.getLogger(__name__)


class WebSearchOptions(Options):
    """The settings `TOOLS__WEB_SEARCH__<FIELD>`."""

    api_key: Key | None = None
    """Brave Search's key; without one Brave is not asked."""
    max_results: int = Field(default=5, ge=1, le=_MOST_RESULTS)
    """The most results of one search."""
    base_url: BaseUrl = "https://api.search.brave.com/res/v1"
    """Where Brave Search answers."""
    searxng_base_url: BaseUrl | None = None
    """Your own SearXNG with the format `json` switched on; asked first where it is set."""
    wikipedia_base_url: BaseUrl = "https://{language}.wikipedia.org"
    """Where Wikipedia answers, asked last; `{language}` stands for the language below."""
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,12}(-[a-z]+)*$")] = "en"
    """Which Wikipedia is asked: en, de, fr, ..."""
    timeout_seconds: float = Field(default=6, gt=0, le=120)
    """For each service that is asked; up to three are, one after the other."""


class WebSearchArguments(Arguments):
    """What is looked for."""

    query: str = Field(
        min_length=1,
        max_length=MAX_QUERY_CHARS,
        description="A few words as one would type them into a search engine. No private details of people.",
    )
    count: int | None = Field(
        default=None, ge=1, le=_MOST_RESULTS, description="How many results; left out: the usual number."
    )


class WebSearch:
    """Searches the web, or Wikipedia where nothing else is set up."""

    def __init__(self, options: WebSearchOptions, http: Http) -> None:
        self._max_results = options.max_results
        self._backends = _backends(options, http)

    spec = ToolSpec(
        name="web_search",
        description=(
            "Searches the web and gives numbered results: title, address, site, a snippet and where known the age."
            " `source` names the service that answered; Wikipedia alone knows encyclopaedic matters only, no news and"
            " no prices. Use it for what is recent, local or uncertain, and name the addresses that you relied on."
        ),
        arguments=WebSearchArguments,
    )

    async def run(self, arguments: WebSearchArguments, context: ToolContext) -> Result:
        """The results of the first service that answers; an empty list, and a message, when it found nothing.

        Raises:
            BadArguments: the query holds nothing that can be read.
            ToolError: no service answered; of the kind of the last one's failure.
        """
        del context
        query = " ".join(cleaned(arguments.query).split())
        if not query:
            raise BadArguments("The query is empty.")
        failures: list[ToolError] = []
        for backend in self._backends:
            try:
                hits = await backend.search(query, min(arguments.count or self._max_results, self._max_results))
            except ToolError as error:
                _log.warning("%s failed, kind %s", backend.name, error.code)
                failures.append(error)
            else:
                return _result(query, backend.name, hits, failures)
        last = failures[-1]
        raise type(last)(" ".join(map(str, failures))) from last


def _backends(options: WebSearchOptions, http: Http) -> tuple[SearchBackend, ...]:
    """Who is asked, in order."""
    timeout_seconds = options.timeout_seconds
    backends: list[SearchBackend] = []
    if options.searxng_base_url:
        backends.append(SearXNG(http=http, base_url=options.searxng_base_url, timeout_seconds=timeout_seconds))
    if options.api_key:
        key = options.api_key
        backends.append(Brave(http=http, base_url=options.base_url, api_key=key, timeout_seconds=timeout_seconds))
    wikipedia = Wikipedia(
        http=http,
        base_url=options.wikipedia_base_url,
        language=options.language,
        timeout_seconds=timeout_seconds,
    )
    return (*backends, wikipedia)


def _result(query: str, source: str, hits: Sequence[Hit], failures: Sequence[ToolError]) -> Result:
    data: dict[str, object] = {"query": query, "source": source}
    if failures:
        data["failed_before"] = [str(failure) for failure in failures]
    if not hits:
        data["message"] = "Nothing was found; try other words."
    data["results"] = [_row(number, hit) for number, hit in enumerate(hits, start=1)]
    return Result(data=data)


def _row(number: int, hit: Hit) -> dict[str, object]:
    row: dict[str, object] = {"number": number, "title": hit.title, "url": hit.url, "site": hit.site}
    if hit.age:
        row["age"] = hit.age
    return row | {"snippet": hit.snippet}
