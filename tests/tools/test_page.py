"""Reading pages: in pieces, in their encodings, as their sites allow; and what is said of those that cannot be read."""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from pydantic import ValidationError

from tests.servers.base import Answer, Seen, Server
from tests.tools.conftest import USER_AGENT
from tests.tools.sites import HERE, Names, only_here
from tools import BadArguments, Denied, Fetcher, NotFound, RateLimited, ToolContext, ToolError, Unavailable, fitted
from tools.page import PageArguments, PageOptions, WebFetch
from tools.robots import REMEMBERED_SECONDS

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


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as running:
        yield running


@pytest.fixture
async def fetcher(site: Site) -> AsyncIterator[Fetcher]:
    names = Names({"site.example": [[HERE]], "other.example": [[HERE]], "inside.example": [["10.0.0.1"]]})
    async with Fetcher(USER_AGENT, reach=only_here(site.port), resolve=names) as opened:
        yield opened


@pytest.fixture
def tool(fetcher: Fetcher) -> WebFetch:
    return WebFetch(PageOptions(), fetcher)


async def fetched(tool: WebFetch, context: ToolContext, url: str, **more: Any) -> dict[str, Any]:
    return dict((await tool.run(PageArguments(url=url, **more), context)).data)


async def test_a_page_is_read_with_its_title_and_links(tool: WebFetch, site: Site, context: ToolContext) -> None:
    """What is not there is not named."""
    assert await fetched(tool, context, site.url_of("/#part")) == {
        "url": site.url_of("/"),
        "title": "Lamps",
        "text": "# Lamps\n\nThey flash. Morse",
        "links": [{"text": "Morse", "url": site.url_of("/morse")}],
    }


async def test_a_long_page_is_read_on_without_a_gap(fetcher: Fetcher, site: Site, context: ToolContext) -> None:
    """Piece by piece, each whole in the model's eyes whatever has to be escaped in it, until nothing is left."""
    lines = [f'"{number}" \\ a quoted line\t"with" signs' for number in range(300)]
    site.pages["/long"] = ("text/plain; charset=utf-8", "\n".join(lines))
    tool = WebFetch(PageOptions(max_chars=1_000), fetcher)
    pieces, offset = "", 0
    while offset is not None:
        data = await fetched(tool, context, site.url_of("/long"), offset=offset)
        assert tool.spec.max_result_chars is not None
        assert "[cut" not in fitted(data, tool.spec.max_result_chars)
        assert len(data["text"]) <= 1_000
        pieces += data["text"]
        offset = data.get("next_offset")
    assert pieces == "\n".join(lines)
    assert len((await fetched(tool, context, site.url_of("/long"), max_chars=300))["text"]) <= 300
    with pytest.raises(BadArguments, match="nothing from"):
        await fetched(tool, context, site.url_of("/long"), offset=len(pieces))


async def test_the_fullest_page_fits_its_result(fetcher: Fetcher, site: Site, context: ToolContext) -> None:
    """Nothing that the tool gives is cut behind its back, or `next_offset` would skip what was."""
    links = "".join(f"<a href='/{'x' * 440}{n}'>{'&quot;' * 90}</a>" for n in range(60))
    site.pages["/full"] = ("text/html", f"<title>{'&quot;' * 90}</title>{links}<p>{'&quot;' * 9_000}")
    tool = WebFetch(PageOptions(max_chars=200), fetcher)
    data = await fetched(tool, context, site.url_of("/full"))
    assert len(data["links"]) > 5
    assert tool.spec.max_result_chars is not None
    assert "[cut" not in fitted(data, tool.spec.max_result_chars)
    assert "left out" not in fitted(data, tool.spec.max_result_chars)


@pytest.mark.parametrize(
    ("named", "body"),
    [
        ("text/html; charset=ISO-8859-1", "<p>Zürich – 5 €".encode("cp1252")),
        ("text/html", "<meta charset='windows-1252'><p>Zürich – 5 €".encode("cp1252")),
        ("text/html; charset=cp1252", "\ufeff<p>Zürich – 5 €".encode()),
        ("text/html; charset=utf-16le", "<p>Zürich – 5 €".encode("utf-16-le")),
        ("text/html; charset=nonsense", "<p>Zürich – 5 €".encode()),
        ("text/html; charset=unicode_escape", "<p>Zürich – 5 €".encode()),
        ("text/plain", "Zürich – 5 €".encode()),
        ("application/json", '"Zürich – 5 €"'.encode()),
    ],
)
async def test_text_is_read_in_its_encoding(
    tool: WebFetch, site: Site, context: ToolContext, named: str, body: bytes
) -> None:
    """As the body's mark, the header or the page says; else, and where the name is none of the web's, as UTF-8."""
    site.pages["/"] = (named, body)
    assert (await fetched(tool, context, site.url_of("/")))["text"].strip('"') == "Zürich – 5 €"


@pytest.mark.parametrize(
    ("html", "note"),
    [
        ("<div id=app></div><script src=app.js></script>", "JavaScript"),
        ("<h1>Sign in</h1><form><input type=password></form><script></script>", "login"),
        ("<img src=x>", "no text"),
        (f"<script></script><p>{'words ' * 100}", None),
    ],
)
async def test_a_page_that_hides_its_text_is_told_so(
    tool: WebFetch, site: Site, context: ToolContext, html: str, note: str | None
) -> None:
    """The model should not take an empty frame for the page."""
    site.pages["/"] = ("text/html", html)
    told = (await fetched(tool, context, site.url_of("/"))).get("note", "")
    assert (note in told) if note else not told


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (404, NotFound),
        (410, NotFound),
        (401, Denied),
        (403, Denied),
        (402, Denied),
        (429, RateLimited),
        (500, Unavailable),
    ],
)
async def test_a_page_that_is_refused_says_why(
    tool: WebFetch, site: Site, context: ToolContext, status: int, kind: type[ToolError]
) -> None:
    """In words that help the model on."""
    site.answers["/"] = lambda _: web.Response(status=status)
    with pytest.raises(kind):
        await fetched(tool, context, site.url_of("/"))


@pytest.mark.parametrize("named", ["image/png", "application/pdf", "application/octet-stream"])
async def test_what_is_no_text_is_not_read(tool: WebFetch, site: Site, context: ToolContext, named: str) -> None:
    """Pictures and papers are for other hands."""
    site.pages["/"] = (named, b"%PDF")
    with pytest.raises(BadArguments, match="none of: text/html"):
        await fetched(tool, context, site.url_of("/"))


async def test_what_a_site_closes_to_programs_is_left_alone(tool: WebFetch, site: Site, context: ToolContext) -> None:
    """Its rules are asked for once, and the closed page never."""
    site.robots = "User-agent: *\nDisallow: /closed"
    site.pages["/closed"] = site.pages["/"]
    for _ in range(2):
        with pytest.raises(Denied, match=r"robots\.txt"):
            await fetched(tool, context, site.url_of("/closed"))
    await fetched(tool, context, site.url_of("/"))
    assert site.asked == ["site.example/robots.txt", "site.example/"]


async def test_an_operator_may_read_them_all_the_same(fetcher: Fetcher, site: Site, context: ToolContext) -> None:
    """Then nobody asks for the rules."""
    site.robots = "User-agent: *\nDisallow: /"
    await fetched(WebFetch(PageOptions(obey_robots=False), fetcher), context, site.url_of("/"))
    assert site.asked == ["site.example/"]


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
    """A server that fails has not agreed; a file that is none, or too long, says nothing."""
    site.answers["/robots.txt"] = lambda _: web.Response(status=503)
    with pytest.raises(Unavailable, match="unknown whether"):
        await fetched(tool, context, site.url_of("/"))
    site.answers["/robots.txt"] = lambda _: web.Response(body=b"x" * 600_000, content_type="text/plain")
    assert await fetched(tool, context, site.url_of("/"))


async def test_the_rules_of_a_site_are_asked_for_again_after_an_hour(
    tool: WebFetch, site: Site, context: ToolContext
) -> None:
    """They may have changed."""
    await fetched(tool, context, site.url_of("/"))
    until, rules = tool._robots._remembered[site.url_of("")]
    assert 0 < until - time.monotonic() <= REMEMBERED_SECONDS
    tool._robots._remembered[site.url_of("")] = time.monotonic(), rules
    site.robots = "User-agent: *\nDisallow: /"
    with pytest.raises(Denied):
        await fetched(tool, context, site.url_of("/"))


async def test_more_sites_than_are_remembered(tool: WebFetch, site: Site, context: ToolContext) -> None:
    """The one that was longest not asked for is forgotten."""
    await fetched(tool, context, site.url_of("/"))
    rules = tool._robots._remembered[site.url_of("")]
    for number in range(256):
        tool._robots._remembered[f"http://s{number}.example"] = rules
    await fetched(tool, context, site.url_of("/", "other.example"))
    assert len(tool._robots._remembered) == 256
    assert site.url_of("") not in tool._robots._remembered


@pytest.mark.parametrize("arguments", [{}, {"url": ""}, {"url": "x", "offset": -1}, {"url": "x", "max_chars": 5}])
def test_arguments_out_of_bounds_are_refused(arguments: dict[str, Any]) -> None:
    """An address, and numbers that make sense."""
    with pytest.raises(ValidationError):
        PageArguments(**arguments)
