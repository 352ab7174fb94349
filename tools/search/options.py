"""The settings of the search services: who is asked, in which order, how often, and where each answers."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, StringConstraints

from tools.base import BaseUrl, CommaList, Key, Lowered, Options

Mode = Literal["snippets", "context"]
"""What Brave is asked for: the usual snippets, or passages of the pages themselves."""

Provider = Literal["searxng", "brave", "tavily", "serpapi", "perplexity", "wikipedia"]
"""The services, in the order in which they are asked unless the operator sets another."""

MAX_RESULTS = 20
"""Per search."""

_NEEDS: Mapping[Provider, tuple[str, str]] = {
    "searxng": ("SearXNG", "SEARXNG_BASE_URL"),
    "brave": ("Brave Search", "API_KEY"),
    "tavily": ("Tavily", "TAVILY_API_KEY"),
    "serpapi": ("SerpApi", "SERPAPI_API_KEY"),
    "perplexity": ("Perplexity", "PERPLEXITY_API_KEY"),
}
"""What services are called, and the setting without which each is not asked; one that is missing needs nothing."""


_SITE = re.compile(r"(?=.{3,80}\Z)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+")


def _as_site(given: str) -> str:
    """A host, out of whatever is taken for one: with a scheme, `www.` or a path."""
    host = given.lower().rpartition("://")[2].partition("/")[0].removeprefix("www.").removeprefix("*.")
    if not _SITE.fullmatch(host):
        raise ValueError("must be the host of a site, such as example.org")
    return host


Site = Annotated[str, AfterValidator(_as_site)]
"""A host in lower case, without `www.`; what lies below it is meant too."""


def _each_once(names: tuple[Provider, ...]) -> tuple[Provider, ...]:
    if len(set(names)) != len(names):
        raise ValueError("must name each service once")
    return names


PerMonth = Annotated[int, Field(ge=0, le=10_000_000)] | None


class SearchOptions(Options):
    """The settings `TOOLS__WEB_SEARCH__<FIELD>`: of the tool, and of the services that every tool searches with."""

    providers: Annotated[tuple[Provider, ...], CommaList, Lowered, AfterValidator(_each_once)] = ()
    """Who is asked, in this order, until one answers: a comma list. Without one: searxng, brave, tavily, serpapi,
    perplexity, wikipedia. A service without its key or address is passed over."""
    api_key: Key | None = None
    """Brave Search's key; without one Brave is not asked."""
    tavily_api_key: Key | None = None
    """Tavily's key; without one Tavily is not asked, unless it may be keyless."""
    serpapi_api_key: Key | None = None
    """SerpApi's key, for what Google finds; without one it is not asked."""
    perplexity_api_key: Key | None = None
    """The key of Perplexity's Search API; without one it is not asked."""
    tavily_keyless: bool = False
    """Whether Tavily is asked without a key where there is none: free, limited, and what people ask goes to Tavily."""
    brave_per_month: PerMonth = None
    """How often Brave is asked in a calendar month, UTC, so that no plan is overrun; none: without limit."""
    tavily_per_month: PerMonth = None
    """The same for Tavily."""
    serpapi_per_month: PerMonth = None
    """The same for SerpApi."""
    perplexity_per_month: PerMonth = None
    """The same for Perplexity."""
    brave_mode: Mode = "snippets"
    """What Brave is asked for: `snippets`, or `context`, longer passages of the pages at the same price."""
    base_url: BaseUrl = "https://api.search.brave.com/res/v1"
    """Where Brave Search answers."""
    tavily_base_url: BaseUrl = "https://api.tavily.com"
    """Where Tavily answers."""
    serpapi_base_url: BaseUrl = "https://serpapi.com"
    """Where SerpApi answers."""
    perplexity_base_url: BaseUrl = "https://api.perplexity.ai"
    """Where Perplexity answers."""
    searxng_base_url: BaseUrl | None = None
    """Your own SearXNG with the format `json` switched on."""
    wikipedia_base_url: BaseUrl = "https://{language}.wikipedia.org"
    """Where Wikipedia answers; `{language}` stands for the language below."""
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,12}(-[a-z]+)*$")] = "en"
    """Which Wikipedia is asked: en, de, fr, ..."""
    timeout_seconds: float = Field(default=6, gt=0, le=120)
    """For each service that is asked; TOOLS__TIMEOUT_SECONDS holds for all of them together."""
    max_results: int = Field(default=5, ge=1, le=MAX_RESULTS)
    """The most results of one search."""

    def missing_settings(self) -> str | None:
        """See `Options`: only where the operator's order names none but services that lack their key or address."""
        lacking = dict(self._lacking())
        return None if len(lacking) < len(self._order) else " or ".join(lacking.values())

    def idle_services(self) -> Mapping[str, str]:
        """See `Options`: the services of the order that are passed over."""
        return dict(self._lacking())

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`: the services of the order that are set up; each only when those before it fail."""
        return tuple(_NEEDS[provider][0] if provider in _NEEDS else "Wikimedia" for provider in self.ready)

    @staticmethod
    def services() -> Mapping[str, str]:
        """The services that need a key or an address of their own, by the setting."""
        return {f"TOOLS__WEB_SEARCH__{variable}": service for service, variable in _NEEDS.values()}

    @property
    def ready(self) -> tuple[Provider, ...]:
        """The services that have what they need, in the order in which they are asked."""
        return tuple(provider for provider in self._order if not self._lacks(provider))

    def limit_per_month(self, provider: Provider) -> int | None:
        """How often a service is asked in a month; None: without limit."""
        return getattr(self, f"{provider}_per_month", None)

    @property
    def _order(self) -> tuple[Provider, ...]:
        return self.providers or get_args(Provider)

    def _lacking(self) -> Iterator[tuple[str, str]]:
        return (_NEEDS[provider] for provider in self._order if self._lacks(provider))

    def _lacks(self, provider: Provider) -> bool:
        is_keyless = provider == "tavily" and self.tavily_keyless
        return provider in _NEEDS and not is_keyless and getattr(self, _NEEDS[provider][1].lower()) is None
