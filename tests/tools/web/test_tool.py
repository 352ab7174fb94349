"""Reading pages: in pieces, in their encodings, as their sites allow; and what is said of those that cannot be read."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from bot.media.library import Library
from tests.bot.media.samples import pdf
from tests.bot.media.test_pdf import locked
from tests.cells import sandbox
from tests.servers.base import Answer, Seen, Server
from tests.servers.fixtures import fixture_of
from tests.tools.conftest import USER_AGENT, Repository
from tests.tools.sites import HERE, Names, only_here
from tools import BadArguments, Denied, Fetcher, NotFound, RateLimited, TooLarge, ToolContext, Unavailable, fit_json
from tools.web.tool import MAX_BYTES, PageArguments, WebFetch

HTML = "<title>Lamps</title><h1>Lamps</h1><p>They flash. <a href='/morse'>Morse</a>"


@dataclass
class Site(Server):
    """Pages by path, each as type and body; and what the site says to programs."""

    pages: dict[str, tuple[str, str | bytes]] = field(default_factory=lambda: {"/": ("text/html", HTML)})
    robots: str | None = None
    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])

    def respond(self, seen: Seen, request: web.Request) -> Any:
        if seen.path in self.answers:
            return self.answers[seen.path](seen)
        if seen.path == "/robots.txt" and self.robots is not None:
            return web.Response(text=self.robots)
        if seen.path not in self.pages:
            return web.Response(status=404, text="none")
        named, body = self.pages[seen.path]
        data = body.encode() if isinstance(body, str) else body
        return web.Response(body=data, headers={"Content-Type": named})

    def url_of(self, path: str, host: str = "site.example") -> str:
        return f"http://{host}:{self.port}{path}"

    @property
    def asked(self) -> list[str]:
        return [f"{seen.headers['host'].partition(':')[0]}{seen.path}" for seen in self.requests]


site = fixture_of(Site)


@pytest.fixture
async def fetcher(site: Site) -> AsyncIterator[Fetcher]:
    names = Names({"site.example": [[HERE]], "other.example": [[HERE]], "inside.example": [["10.0.0.1"]]})
    async with Fetcher(USER_AGENT, reach=only_here(site.port), resolve=names) as opened:
        yield opened


@pytest.fixture
def tool(fetcher: Fetcher) -> WebFetch:
    return WebFetch(fetcher, Repository())


async def fetched(tool: WebFetch, context: ToolContext, url: str, **more: Any) -> dict[str, Any]:
    return dict((await tool.run(PageArguments(url=url, **more), context)).data)


async def test_a_page_is_read_with_its_title_and_links(tool: WebFetch, site: Site, context: ToolContext) -> None:
    """What is not there is not named, nor a link as long as a tracker's."""
    site.pages["/"] = ("text/html", HTML + f"<a href='/{'x' * 200}'>Far</a>")
    assert await fetched(tool, context, site.url_of("/#part")) == {
        "url": site.url_of("/"),
        "title": "Lamps",
        "text": "# Lamps\n\nThey flash. MorseFar",
        "links": [{"text": "Morse", "url": site.url_of("/morse")}],
    }


async def test_a_long_page_is_read_on_without_a_gap(fetcher: Fetcher, site: Site, context: ToolContext) -> None:
    """Piece by piece, each whole in the model's eyes whatever has to be escaped in it, until nothing is left."""
    lines = [f'"{number}" \\ a quoted line\t"with" signs' for number in range(300)]
    site.pages["/long"] = ("text/plain; charset=utf-8", "\n".join(lines))
    tool = WebFetch(fetcher, Repository(), max_chars=1_000)
    pieces, offset = "", 0
    while offset is not None:
        data = await fetched(tool, context, site.url_of("/long"), offset=offset)
        assert tool.spec.max_result_chars is not None
        assert "[cut" not in fit_json(data, tool.spec.max_result_chars)
        assert len(data["text"]) <= 1_000
        pieces += data["text"]
        offset = data.get("next_offset")
    assert pieces == "\n".join(lines)
    assert len((await fetched(tool, context, site.url_of("/long"), max_chars=300))["text"]) <= 300
    with pytest.raises(BadArguments, match="nothing from"):
        await fetched(tool, context, site.url_of("/long"), offset=len(pieces))


async def test_a_page_that_is_refused_says_why(tool: WebFetch, site: Site, context: ToolContext) -> None:
    """In words that help the model on."""
    kinds = {404: NotFound, 410: NotFound, 401: Denied, 402: Denied, 403: Denied, 429: RateLimited, 500: Unavailable}
    for status, kind in kinds.items():
        site.answers["/"] = lambda _, status=status: web.Response(status=status)
        with pytest.raises(kind):
            await fetched(tool, context, site.url_of("/"))


async def test_a_pdf_is_known_by_its_bytes(tool: WebFetch, site: Site, context: ToolContext) -> None:
    """Whatever its server calls it."""
    for named, body in (
        ("application/pdf; charset=x", b"<!-- a line of the printer's -->%PDF-words"),
        ("application/octet-stream", b"\xef\xbb\xbf%PDF-words"),
        ("text/html", b"\r\n%PDF-words"),
    ):
        site.pages["/"] = (named, body)
        data = await fetched(tool, context, site.url_of("/"))
        assert data == {"url": site.url_of("/"), "pages": 1, "text": "Page 1:\nwords"}


async def test_a_pdf_is_read_on_by_its_pages(fetcher: Fetcher, site: Site, context: ToolContext) -> None:
    """Piece by piece under the numbers of its pages; of a scan it is said that it is one, as a model may be sent it."""
    site.pages["/"] = ("application/pdf", pdf(*[f"page {number} {'words ' * 20}" for number in range(1, 4)]))
    tool = WebFetch(fetcher, Library(sandbox()), max_chars=200)
    first = await fetched(tool, context, site.url_of("/"))
    assert (first["pages"], "note" in first, first["text"][:14]) == (3, False, "Page 1:\npage 1")
    rest = await fetched(tool, context, site.url_of("/"), offset=first["next_offset"])
    assert "Page 2:\npage 2" in first["text"] + rest["text"]
    site.pages["/"] = ("application/pdf", pdf("", ""))
    data = await fetched(tool, context, site.url_of("/"))
    assert (data["pages"], data["text"]) == (2, "")
    assert "scan" in data["note"]


async def test_a_pdf_that_cannot_be_opened(fetcher: Fetcher, site: Site, context: ToolContext) -> None:
    """The model hears why; it is said by what has opened it, so it is quoted."""
    tool = WebFetch(fetcher, Library(sandbox()))
    for body, told in (
        (locked("key"), "it is locked by a password"),
        (b"%PDF-1.7 and no more", "it is damaged"),
    ):
        site.pages["/"] = ("application/pdf", body)
        with pytest.raises(BadArguments, match="The PDF cannot be read") as caught:
            await fetched(tool, context, site.url_of("/"))
        assert caught.value.quoted == told


async def test_a_file_has_its_bound(tool: WebFetch, site: Site, context: ToolContext) -> None:
    """Page or PDF."""
    site.pages["/"] = ("application/pdf", b"%PDF-" + b"x" * (MAX_BYTES - 5))
    assert (await fetched(tool, context, site.url_of("/")))["next_offset"] == 6_000
    site.pages["/"] = ("text/html", b"x" * (MAX_BYTES + 1))
    with pytest.raises(TooLarge, match="MB"):
        await fetched(tool, context, site.url_of("/"))


async def test_what_a_site_closes_to_programs_is_left_alone(tool: WebFetch, site: Site, context: ToolContext) -> None:
    """Its rules are asked for once, and the closed page never; a file of 1 MB is weighed beside all else."""
    begun: list[str] = []

    class Threads(ThreadPoolExecutor):
        def submit(self, fn: Any, /, *args: Any, **more: Any) -> Any:
            begun.append(fn.args[0].__name__)
            return super().submit(fn, *args, **more)

    asyncio.get_running_loop().set_default_executor(Threads())
    site.robots = "User-agent: *\nDisallow: /closed"
    site.pages["/closed"] = site.pages["/"]
    for _ in range(2):
        with pytest.raises(Denied, match=r"robots\.txt"):
            await fetched(tool, context, site.url_of("/closed"))
    assert begun == ["allows", "allows"]
    await fetched(tool, context, site.url_of("/"))
    assert site.asked == ["site.example/robots.txt", "site.example/"]


async def test_a_redirect_is_looked_at_anew(tool: WebFetch, site: Site, context: ToolContext) -> None:
    """By the rules of the site that it leads to, and by the guard of the network."""

    def to(host: str, path: str) -> Answer:
        return lambda _: web.Response(status=302, headers={"Location": site.url_of(path, host)})

    site.robots = "User-agent: *\nDisallow: /closed"
    site.pages["/open"] = site.pages["/closed"] = site.pages["/"]
    site.answers |= {"/a": to("other.example", "/open"), "/b": to("other.example", "/closed")}
    site.answers |= {"/c": to("inside.example", "/open")}
    assert (await fetched(tool, context, site.url_of("/a")))["url"] == site.url_of("/open", "other.example")
    with pytest.raises(Denied, match=r"robots\.txt"):
        await fetched(tool, context, site.url_of("/b"))
    with pytest.raises(Denied, match="private"):
        await fetched(tool, context, site.url_of("/c"))
    assert "other.example/closed" not in site.asked
    assert not [asked for asked in site.asked if asked.startswith("inside")]


async def test_a_site_that_cannot_say_is_asked_again_later(tool: WebFetch, site: Site, context: ToolContext) -> None:
    """A server that fails has not agreed; a file that is too long says nothing."""
    site.answers["/robots.txt"] = lambda _: web.Response(status=503)
    with pytest.raises(Unavailable, match="unknown whether"):
        await fetched(tool, context, site.url_of("/"))
    site.answers["/robots.txt"] = lambda _: web.Response(body=b"x" * 600_000, content_type="text/plain")
    assert (await fetched(tool, context, site.url_of("/")))["title"] == "Lamps"
