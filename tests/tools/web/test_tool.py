"""Reading pages: in pieces, in their encodings, as their sites allow; and what is said of those that cannot be read."""

import asyncio
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import pytest

from bot.media.library import Library
from tests.bot.media.samples import pdf
from tests.bot.media.test_pdf import locked
from tests.cells import sandbox
from tests.servers.base import hang, redirect
from tests.servers.fixtures import fixture_of
from tests.tools.conftest import USER_AGENT, Asked, Opened, Repository
from tests.tools.sites import HERE, Names, Site, answer_bytes, only_here
from tools import (
    BadArguments,
    Denied,
    Fetcher,
    NotFound,
    RateLimited,
    TimedOut,
    TooLarge,
    ToolContext,
    Unavailable,
    fit_json,
)
from tools.web.tool import MAX_BYTES, WebFetch, allows

HTML = "<title>Lamps</title><h1>Lamps</h1><p>They flash. <a href='/morse'>Morse</a>"

site = fixture_of(lambda: Site(answers={"/": answer_bytes(HTML)}))


@pytest.fixture
async def fetcher(site: Site) -> AsyncIterator[Fetcher]:
    names = Names({"site.example": [[HERE]], "other.example": [[HERE]], "inside.example": [["10.0.0.1"]]})
    async with Fetcher(USER_AGENT, **only_here(site.port), resolve=names) as opened:
        yield opened


@pytest.fixture
def opened(fetcher: Fetcher, context: ToolContext) -> Opened:
    return lambda papers=None, **more: Asked(WebFetch(fetcher, papers or Repository(), **more), context)


async def test_a_page_is_read_with_its_title_and_links(ask: Asked, site: Site) -> None:
    """What is not there is not named, nor a link as long as a tracker's; a page that is refused says why."""
    site.answers["/"] = answer_bytes(HTML + f"<a href='/{'x' * 200}'>Far</a>")
    assert await ask(site.url_of("/#part")) == {
        "url": site.url_of(),
        "title": "Lamps",
        "text": "# Lamps\n\nThey flash. MorseFar",
        "links": [{"text": "Morse", "url": site.url_of("/morse")}],
    }
    kinds = {404: NotFound, 410: NotFound, 401: Denied, 402: Denied, 403: Denied, 429: RateLimited, 500: Unavailable}
    for status, kind in kinds.items():
        site.answers["/"] = answer_bytes(status=status)
        with pytest.raises(kind):
            await ask(site.url_of())


async def test_a_long_page_is_read_on_without_a_gap(opened: Opened, site: Site) -> None:
    """Piece by piece, each whole in the model's eyes whatever has to be escaped in it, until nothing is left."""
    lines = [f'"{number}" \\ a quoted line\t"with" signs' for number in range(300)]
    site.answers["/long"] = answer_bytes("\n".join(lines), "text/plain; charset=utf-8")
    ask = opened(max_chars=1_000)
    pieces, offset = "", 0
    while offset is not None:
        data = await ask(site.url_of("/long"), offset=offset)
        assert "[cut" not in fit_json(data, ask.tool.spec.max_result_chars or 0)
        assert len(data["text"]) <= 1_000
        pieces += data["text"]
        offset = data.get("next_offset")
        assert offset is None or data["text"].endswith((" ", "\n"))  # half of a number is another number
    assert pieces == "\n".join(lines)
    assert len((await ask(site.url_of("/long"), max_chars=300))["text"]) <= 300
    with pytest.raises(BadArguments, match="nothing from"):
        await ask(site.url_of("/long"), offset=len(pieces))


async def test_a_model_names_how_long_to_wait_within_what_the_operator_allows(opened: Opened, site: Site) -> None:
    """In milliseconds; the default ends there, too."""
    for allowed, named in ((60, {"timeout_ms": 200}), (0.2, {"timeout_ms": 60_000}), (0.2, {})):
        site.faults += [answer_bytes(status=404), hang]
        with pytest.raises(TimedOut, match=r"within 0\.2 seconds"):
            await opened(call_seconds=allowed)(site.url_of("/slow"), **named)


async def test_a_pdf_is_known_by_its_bytes(ask: Asked, site: Site) -> None:
    """Whatever its server calls it; page or PDF, it has its bound."""
    for named, body in (
        ("application/pdf; charset=x", b"<!-- a line of the printer's -->%PDF-words"),
        ("application/octet-stream", b"\xef\xbb\xbf%PDF-words"),
        ("text/html", b"\r\n%PDF-words"),
    ):
        site.answers["/"] = answer_bytes(body, named)
        data = await ask(site.url_of())
        assert data == {"url": site.url_of(), "pages": 1, "text": "Page 1:\nwords"}
    site.answers["/"] = answer_bytes(b"%PDF-" + b"x" * (MAX_BYTES - 5), "application/pdf")
    assert (await ask(site.url_of()))["next_offset"] == 6_000
    site.answers["/"] = answer_bytes(b"x" * (MAX_BYTES + 1), "text/html")
    with pytest.raises(TooLarge, match="MB"):
        await ask(site.url_of())


async def test_a_pdf_is_read_on_by_its_pages(opened: Opened, site: Site) -> None:
    """Piece by piece under their numbers; of a scan, and of one that cannot be opened, it says so."""
    site.answers["/"] = answer_bytes(
        pdf(*[f"page {number} {'words ' * 20}" for number in range(1, 4)]), "application/pdf"
    )
    ask = opened(Library(sandbox()), max_chars=200)
    first = await ask(site.url_of())
    assert (first["pages"], "note" in first, first["text"][:14]) == (3, False, "Page 1:\npage 1")
    rest = await ask(site.url_of(), offset=first["next_offset"])
    assert "Page 2:\npage 2" in first["text"] + rest["text"]
    site.answers["/"] = answer_bytes(pdf("", ""), "application/pdf")
    data = await ask(site.url_of())
    assert (data["pages"], data["text"]) == (2, "")
    assert "scan" in data["note"]
    for body, told in ((locked("key"), "it is locked by a password"), (b"%PDF-1.7 and no more", "it is damaged")):
        site.answers["/"] = answer_bytes(body, "application/pdf")
        with pytest.raises(BadArguments, match="The PDF cannot be read") as caught:
            await ask(site.url_of())
        assert caught.value.quoted == told


async def test_what_a_site_closes_to_programs_is_left_alone(ask: Asked, opened: Opened, site: Site) -> None:
    """Its rules are asked for once, beside all else; a server that fails has not agreed, and is asked again."""
    begun: list[str] = []

    class Threads(ThreadPoolExecutor):
        def submit(self, fn: Any, /, *args: Any, **more: Any) -> Any:
            begun.append(fn.args[0].__name__)
            return super().submit(fn, *args, **more)

    asyncio.get_running_loop().set_default_executor(Threads())
    site.answers["/robots.txt"] = answer_bytes("User-agent: *\nDisallow: /closed", "text/plain")
    for _ in range(2):
        with pytest.raises(Denied, match=r"robots\.txt"):
            await ask(site.url_of("/closed"))
    assert begun == ["allows", "allows"]
    await ask(site.url_of())
    assert site.asked == ["site.example/robots.txt", "site.example/"]
    ask = opened()
    site.answers["/robots.txt"] = answer_bytes(status=503)
    with pytest.raises(Unavailable, match="unknown whether"):
        await ask(site.url_of())
    site.answers["/robots.txt"] = answer_bytes(b"x" * 600_000, "text/plain")
    assert (await ask(site.url_of()))["title"] == "Lamps"


async def test_a_redirect_is_looked_at_anew(ask: Asked, site: Site) -> None:
    """By the rules of the site that it leads to, and by the guard of the network."""
    site.answers["/robots.txt"] = answer_bytes("User-agent: *\nDisallow: /closed", "text/plain")
    site.answers |= {
        "/a": redirect(site.url_of("/open", "other.example"), 302),
        "/b": redirect(site.url_of("/closed", "other.example"), 302),
    }
    site.answers |= {"/c": redirect(site.url_of("/open", "inside.example"), 302)}
    assert (await ask(site.url_of("/a")))["url"] == site.url_of("/open", "other.example")
    with pytest.raises(Denied, match=r"robots\.txt"):
        await ask(site.url_of("/b"))
    with pytest.raises(Denied, match="private"):
        await ask(site.url_of("/c"))
    assert "other.example/closed" not in site.asked
    assert not [asked for asked in site.asked if asked.startswith("inside")]


ROWS = [
    ("", "/anything", True),
    ("User-agent: *\nDisallow: /\nAllow: /$", "/", True),
    ("user-AGENT : *\n disallow:/x", "/x/y", False),
    ("User-agent: other\nDisallow: /", "/", True),
    ("User-agent: *\nDisallow: /\n\nUser-agent: Other\nUser-agent: ALDIS\nDisallow: /lamps # not", "/private", True),
    ("User-agent: Aldis/2.0 (a lamp)\nDisallow: /", "/", False),
    ("User-agent: aldis-news\nDisallow: /", "/", True),
    ("User Agent: *\nDisallow: /", "/", False),
    ("useragent: *\nDissallow: /", "/", False),
    ("User-agent: *\rDisallow: /a\r\rDisallow: /b*.zip$ # not this", "/b/a.zip", False),
    ("User-agent: *\nDisallow: /x?", "/x?q=1", False),
    ("User-agent: *\nDisallow: /ü", "/%C3%BC", False),
]


def test_the_longest_rule_of_the_own_group_counts() -> None:
    """As RFC 9309 has it; what cannot be understood forbids nothing, and no file takes long."""
    for text, path, is_allowed in ROWS:
        assert allows(text, path) is is_allowed, (text, path)
    agents = "".join(f"User-agent: {''.join(name)}\n" for name in product("bcdefghijklmnopqrstuvwxyz", repeat=3))
    for file in (
        agents + "User-agent: aldis\n" + "Disallow: /a\n" * 30_000,
        "User-agent: *\n" + "".join(f"Disallow: /x{number}\n" for number in range(50_000)) + "Disallow: /a\n",
        "User-agent: *\n" + f"Disallow: /{'*a' * 20}b\n" * 20_000 + "Disallow: /a\n",
    ):
        began = time.process_time()
        assert not allows(file, "/" + "a" * 4_000)
        assert time.process_time() - began < 20
