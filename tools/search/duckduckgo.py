"""DuckDuckGo, whose result pages `ddgs` reads: best effort, and only where the operator names it.

It has no interface that finds pages: its Instant Answer API has a summary for few questions, mostly Wikipedia's, and
nothing for the rest. ddgs poses as a browser, and may be turned away at any time; then the next service answers. Its
engine is asked by itself: `DDGS` says "No results found." for every status but 200, so that a refusal passes for an
empty page, ranks anew what it finds, and takes a proxy from the environment.

Source: ddgs 9.16.1 (MIT), `ddgs/ddgs.py`, `base.py`, `engines/duckduckgo.py`, which may change with any release and is
pinned; primp 2.0.1 and lxml 6.1.3 come with it, 28 MB. An answer is bounded in time alone (2026-11-30).
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import ceil
from typing import Any

from tools.connections import in_time
from tools.errors import TimedOut, Unavailable, Unreachable
from tools.http import Http
from tools.search.base import Query, SearchForm, SearchResult, SearchRow, hit
from tools.search.options import SearchOptions

_ONE_BY_ONE = ThreadPoolExecutor(max_workers=1, thread_name_prefix="duckduckgo")
"""Bursts are turned away first; and a search that hangs must not take threads from others."""


@dataclass(frozen=True, kw_only=True)
class ReadPages(SearchForm):
    """A service without an interface: `params` are the arguments of the engine of ddgs that reads its pages."""

    async def search(self, query: Query, options: SearchOptions, http: Http) -> SearchResult:  # noqa: ARG002
        """See `SearchForm`; ddgs opens connections of its own."""
        arguments = dict(self.params(query, options))
        read = partial(self._rows, self.url(query, options), ceil(options.timeout_seconds), arguments)
        async with in_time(self.name, options.timeout_seconds):
            rows = await asyncio.get_running_loop().run_in_executor(_ONE_BY_ONE, read)
        found = (found for row in rows if (found := hit(row, max_snippet_chars=self.max_snippet_chars)))
        cost_usd = self.price_usd(query, options)
        return SearchResult(source=self.name, hits=tuple(islice(found, query.count)), cost_usd=cost_usd)

    def _rows(self, url: str, timeout_seconds: int, arguments: dict[str, Any]) -> list[SearchRow]:
        from ddgs.engines.duckduckgo import Duckduckgo  # noqa: PLC0415 - an extra, and 22 MB
        from ddgs.exceptions import DDGSException, TimeoutException  # noqa: PLC0415
        from lxml.etree import LxmlError  # noqa: PLC0415  # pyright: ignore[reportUnknownVariableType]

        unreadable: Any = (LxmlError, ValueError)
        engine = Duckduckgo(timeout=timeout_seconds)
        engine.search_url = url
        try:
            found = engine.search(**arguments)
        except TimeoutException as error:
            raise TimedOut(f"{self.name} did not answer within {timeout_seconds} seconds.") from error
        except DDGSException as error:
            raise Unreachable(f"{self.name} cannot be reached.") from error
        except unreadable as error:
            raise Unavailable(f"{self.name} answers something that cannot be read.") from error
        if not found:  # a page that ddgs no longer understands looks like one without results
            raise Unavailable(f"{self.name} shows no results, or turns programs away for the moment.")
        return [SearchRow(title=one.title, url=one.href, snippet=one.body) for one in found]
