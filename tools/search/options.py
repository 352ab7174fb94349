"""The settings of the search services: which are queried, in which order, how often, and at which address."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, StringConstraints, field_validator

from tools.base import FIXED, BaseUrl, CommaList, Key, Lowered, Options

Provider = Literal["searxng", "brave", "tavily", "serpapi", "perplexity", "duckduckgo", "wikipedia"]
"""The services, in the order in which they are queried by default; DuckDuckGo only where it is named."""

MAX_RESULTS = 20
"""Per search."""

_NEEDS: Mapping[Provider, tuple[str, str]] = {
    "searxng": ("SearXNG", "SEARXNG_BASE_URL"),
    "brave": ("Brave Search", "API_KEY"),
    "tavily": ("Tavily", "TAVILY_API_KEY"),
    "serpapi": ("SerpApi", "SERPAPI_API_KEY"),
    "perplexity": ("Perplexity", "PERPLEXITY_API_KEY"),
}
"""The name of each service, and the setting it needs; a service that is not listed needs nothing."""


class SearchOptions(Options):
    """The settings `TOOLS__WEB_SEARCH__<FIELD>`, of the tool and of the services that all tools search with."""

    providers: Annotated[
        tuple[Provider, ...], CommaList, Lowered, AfterValidator(lambda names: tuple(dict.fromkeys(names)))
    ] = ()
    """The services to query, in order, until one answers: a comma-separated list. Unset means searxng, brave, tavily,
    serpapi, perplexity, wikipedia. A service without its key or address is skipped. duckduckgo is queried only if it is
    named: the package ddgs (the extra `ddgs`) reads its pages, as far as it lets programs."""
    api_key: Key | None = None
    """The key of Brave Search; without it Brave is not queried."""
    tavily_api_key: Key | None = None
    """The key of Tavily; without it Tavily is not queried, unless TOOLS__WEB_SEARCH__TAVILY_KEYLESS is set."""
    serpapi_api_key: Key | None = None
    """The key of SerpApi, which returns Google's results; without it SerpApi is not queried."""
    perplexity_api_key: Key | None = None
    """The key of Perplexity's Search API; without it Perplexity is not queried."""
    tavily_keyless: bool = False
    """Whether Tavily is queried even without a key: free and limited, but Tavily sees what people search for."""
    base_url: BaseUrl = "https://api.search.brave.com/res/v1"
    """The address of Brave Search."""
    tavily_base_url: BaseUrl = "https://api.tavily.com"
    """The address of Tavily."""
    serpapi_base_url: BaseUrl = "https://serpapi.com"
    """The address of SerpApi."""
    perplexity_base_url: Annotated[BaseUrl, FIXED] = "https://api.perplexity.ai"
    """The address of Perplexity."""
    duckduckgo_base_url: Annotated[BaseUrl, FIXED] = "https://html.duckduckgo.com"
    """The address of DuckDuckGo's pages without scripts."""
    searxng_base_url: BaseUrl | None = None
    """The address of your own SearXNG, with its format `json` enabled."""
    wikipedia_base_url: BaseUrl = "https://{language}.wikipedia.org"
    """The address of Wikipedia; `{language}` is replaced by the language below."""
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,12}(-[a-z]+)*$")] = "en"
    """The language of the Wikipedia to search: en, de, fr, ..."""
    timeout_seconds: float = Field(default=6, gt=0, le=120)
    """The time limit for each service; TOOLS__TIMEOUT_SECONDS applies to all of them together."""
    max_results: int = Field(default=5, ge=1, le=MAX_RESULTS)
    """The largest number of results of one search."""

    @field_validator("providers")
    @classmethod
    def _installed(cls, given: tuple[Provider, ...]) -> tuple[Provider, ...]:
        if "duckduckgo" in given and find_spec("ddgs") is None:
            raise ValueError(
                "duckduckgo needs the package ddgs: pip install 'ddgs>=9.16,<9.17', or an image with EXTRAS=ddgs"
            )
        return given

    def missing_settings(self) -> str | None:
        """See `Options`: only if the operator's order contains no service that has its key or address."""
        lacking = self.idle_services()
        return None if len(lacking) < len(self._order) else " or ".join(lacking.values())

    def idle_services(self) -> Mapping[str, str]:
        """See `Options`: the skipped services of the order."""
        return dict(_NEEDS[provider] for provider in self._order if self._lacks(provider))

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`: the available services of the order; each only if those before it fail."""
        keyless = {"duckduckgo": "DuckDuckGo", "wikipedia": "Wikimedia"}
        return tuple(keyless.get(provider) or _NEEDS[provider][0] for provider in self.ready)

    @staticmethod
    def services() -> Mapping[str, str]:
        """Returns the services that need a key or an address, by the name of the setting."""
        return {f"TOOLS__WEB_SEARCH__{variable}": service for service, variable in _NEEDS.values()}

    @property
    def ready(self) -> tuple[Provider, ...]:
        """The available services, in the order in which they are queried."""
        return tuple(provider for provider in self._order if not self._lacks(provider))

    @property
    def _order(self) -> tuple[Provider, ...]:
        return self.providers or tuple(one for one in get_args(Provider) if one != "duckduckgo")

    def _lacks(self, provider: Provider) -> bool:
        is_keyless = provider == "tavily" and self.tavily_keyless
        return provider in _NEEDS and not is_keyless and getattr(self, _NEEDS[provider][1].lower()) is None
