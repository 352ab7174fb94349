"""The fetcher on pages that are what they say, and on servers that misbehave."""

import asyncio
import gzip
import logging
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import httpcore
import pytest

from tests.servers.base import hang
from tests.servers.certificates import certified
from tests.servers.fixtures import fixture_of
from tests.tools.conftest import USER_AGENT, memory_below
from tests.tools.sites import (
    EMPTY_BLOCKS,
    GZIP_HEAD,
    HERE,
    SECRET,
    Names,
    Site,
    answer_bytes,
    bomb,
    endless,
    fetch,
    line,
    only_here,
    says,
    trickle,
)
from tools import BadArguments, Denied, Fetcher, TimedOut, TooLarge, Unavailable
from tools.web.fetch import MAX_REDIRECTS

SITE = "site.example"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

site = fixture_of(Site)


def fetcher_for(port: int, *more: int, authorities: ssl.SSLContext | None = None) -> Fetcher:
    names = Names({SITE: [[HERE]], "www.site.example": [[HERE]], "xn--bcher-kva.example": [[HERE]]})
    return Fetcher(USER_AGENT, **only_here(port, *more), resolve=names, authorities=authorities)


@pytest.fixture
async def fetcher(site: Site) -> AsyncIterator[Fetcher]:
    async with fetcher_for(site.port) as opened:
        yield opened


async def test_a_page_is_status_type_body_and_where_it_stood(fetcher: Fetcher, site: Site) -> None:
    """The request says who asks and what may come back, and nothing else."""
    site.faults.append(answer_bytes("grüße".encode(), 'Text/HTML; x=1; Charset="UTF-8"', X_A="1"))
    page = await fetch(fetcher, site.url_of("/ä?q=b#c"))
    assert (page.status, page.ok, page.content_type, page.charset) == (200, True, "text/html", "utf-8")
    assert (page.body.decode(), page.headers["x-a"]) == ("grüße", "1")
    assert page.url == site.url_of("/%C3%A4?q=b")
    (seen,) = site.requests
    assert (seen.method, seen.path, seen.query, seen.body) == ("GET", "/ä", {"q": "b"}, b"")
    assert seen.headers == {
        "host": f"{SITE}:{site.port}",
        "user-agent": USER_AGENT,
        "accept": "text/html, text/plain",
        "accept-encoding": "gzip, identity",
    }


async def test_everybody_else_has_a_turn_while_a_page_is_read(site: Site, fetcher: Fetcher) -> None:
    """It is taken in sips of four kilobytes, a turn for each; other users of the library read as it wants."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    site.faults.append(answer_bytes(b"x" * 1_000_000))
    counting = asyncio.create_task(count())
    await fetch(fetcher, site.url_of())
    counting.cancel()
    assert turns >= 1_000_000 // 4_096
    assert httpcore.AsyncHTTP11Connection.READ_NUM_BYTES == 64 * 1024


async def test_an_address_that_does_not_answer_gives_way_to_the_next(site: Site) -> None:
    """A host that has several is reached over any."""
    names = Names({SITE: [["::1", HERE]]})
    async with Fetcher(USER_AGENT, ports={site.port}, admits=lambda _: True, resolve=names) as fetcher:
        assert (await fetch(fetcher, site.url_of())).ok


async def test_a_redirect_is_followed_by_get(fetcher: Fetcher, site: Site) -> None:
    """Relative to where it stood or whole, to another host too, five times at most; cookies are left behind."""
    for status, location in (
        (301, "c d?e=f"),
        (303, site.url_of("/a/c d?e=f", "www.site.example")),
        (307, "//SITE.example:{}/a/c d?e=f"),
        (308, "c d?e=f"),
    ):
        site.requests.clear()
        there = location.format(site.port)
        site.faults.append(answer_bytes(status=status, Location=there, Set_Cookie="track=1; Path=/"))
        page = await fetch(fetcher, site.url_of("/a/b"))
        assert (page.ok, page.body, page.url.partition(f":{site.port}")[2]) == (True, b"page /a/c d", "/a/c%20d?e=f")
        assert [seen.method for seen in site.requests] == ["GET", "GET"]
        assert not {"cookie", "referer"}.intersection(site.requests[1].headers)
    hops = [answer_bytes(status=302, Location=f"/{hop}") for hop in range(MAX_REDIRECTS + 1)]
    site.faults[:] = hops[:MAX_REDIRECTS]
    assert (await fetch(fetcher, site.url_of())).body == b"page /4"
    site.requests.clear()
    site.faults[:] = hops
    with pytest.raises(Unavailable, match="more than 5 times"):
        await fetch(fetcher, site.url_of())
    assert len(site.requests) == MAX_REDIRECTS + 1


async def test_only_the_types_that_were_asked_for_are_read(fetcher: Fetcher, site: Site) -> None:
    """The server's word counts, nothing is guessed; its word is not repeated to the model either."""
    for content_type, accept in (
        ("text/markdown", ["text/*"]),
        ("application/json", ["text/*", "application/json"]),
        ("application/atom+xml", ["*+xml"]),
    ):
        site.faults.append(answer_bytes(content_type=content_type))
        assert (await fetch(fetcher, site.url_of(), accept=accept)).body == b"page"
    for content_type, accept in (
        ("text/html-ish", ["text/html"]),
        ("text/html, image/png", ["text/html"]),
        (" ", ["text/*"]),
    ):
        site.faults.append(answer_bytes(content_type=content_type))
        with pytest.raises(BadArguments) as caught:
            await fetch(fetcher, site.url_of(), accept=accept)
        assert str(caught.value) == f"Unsupported content type; expected one of: {', '.join(accept)}."


async def test_a_body_that_is_too_large_or_packed_unfit_is_left_unread(fetcher: Fetcher, site: Site) -> None:
    """Endless bodies, bombs, a byte too many, and compression without a bound, in the memory that the limit allows."""
    for fault in (
        endless(b"x", b"x" * 65_536),
        endless(GZIP_HEAD, EMPTY_BLOCKS, **{"Content-Encoding": "gzip"}),
        answer_bytes(bomb(), Content_Encoding="gzip"),
        answer_bytes(b"x" * 300_001),
    ):
        site.faults.append(fault)
        with memory_below(8_000_000), pytest.raises(TooLarge, match=r"more than 0\.3 MB"):
            await fetch(fetcher, site.url_of(), max_bytes=300_000)
    for body, encoding, words in (
        (b"whatever", "deflate", "broken compression"),
        (gzip.compress(b"whole", mtime=0)[:-9], "gzip", "broke off"),
        (gzip.compress(b"whole", mtime=0)[:-4] + b"\0\0\0\0", "gzip", "broken compression"),
    ):
        site.faults.append(answer_bytes(body, Content_Encoding=encoding))
        with pytest.raises(Unavailable, match=words):
            await fetch(fetcher, site.url_of())


async def test_a_trickle_does_not_outlast_the_deadline() -> None:
    """The deadline is total: a byte now and then does not prolong it."""
    for talk in (
        trickle(HEAD + b"Content-Length: 100000\r\n\r\n", b"x"),
        trickle(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        trickle(HEAD + b"Content-Encoding: gzip\r\n\r\n" + GZIP_HEAD, b"\x00\x00\x00\xff\xff"),
    ):
        async with line(talk) as slow, fetcher_for(slow.port) as fetcher:
            with pytest.raises(TimedOut, match=r"did not answer within 0\.1 seconds"):
                await fetch(fetcher, f"http://{SITE}:{slow.port}/", timeout_seconds=0.1)


async def test_an_answer_that_breaks_the_rules_is_a_failure() -> None:
    """Another program, half an answer, a bomb of headers: told in words, in bounded memory."""
    for said in (
        b"220 mail.example ESMTP\r\n\r\n",
        b"",
        HEAD + b"Content-Length: 50\r\n\r\nhalf",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 1_000_000,
        b"HTTP/1.1 302 Found\r\nLocation: \xff\xfe\x00\r\n\r\n",
    ):
        with memory_below(12_000_000):
            async with line(says(said)) as strange, fetcher_for(strange.port) as fetcher:
                with pytest.raises(Unavailable):
                    await fetch(fetcher, f"http://{SITE}:{strange.port}/")


async def test_tls_keeps_the_name_of_the_host(site: Site, tmp_path: Path) -> None:
    """The certificate must be for the name; no redirect leads from https to http, but one to https is fine."""
    known = certified(SITE, tmp_path)
    away = says(f"HTTP/1.1 302 Found\r\nLocation: {site.url_of()}\r\nContent-Length: 0\r\n\r\n")
    async with (
        line(away, authority=known.server) as bad,
        line(SECRET, authority=known.server) as secure,
        fetcher_for(bad.port, site.port, secure.port, authorities=known.client) as fetcher,
    ):
        for host in ("www.site.example", HERE):
            with pytest.raises(Unavailable, match="its certificate is not trusted"):
                await fetch(fetcher, f"https://{host}:{secure.port}/a")
        with pytest.raises(Denied, match="from https to http"):
            await fetch(fetcher, f"https://{SITE}:{bad.port}/")
        assert not site.requests
        site.faults.append(answer_bytes(status=301, Location=f"https://{SITE}:{secure.port}/a"))
        page = await fetch(fetcher, site.url_of())
    assert (page.ok, page.url, page.body) == (True, f"https://{SITE}:{secure.port}/a", b"secret")
    assert len(secure.heard) == 1


async def test_addresses_are_in_no_log(fetcher: Fetcher, site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """What people read is theirs, even where everything is logged."""
    caplog.set_level(logging.DEBUG)
    await fetch(fetcher, site.url_of("/private?word=canary"))
    site.faults.append(hang)
    with pytest.raises(TimedOut) as caught:
        await fetch(fetcher, site.url_of("/private?word=canary"), timeout_seconds=0.05)
    for words in (caplog.text, repr(caught.value)):
        assert "canary" not in words
        assert SITE not in words
