"""The guard against attacks: each runs against a server that listens in the forbidden place and counts."""

import ipaddress
import socket
from collections.abc import AsyncIterator, Sequence

import pytest

from tests.servers.fixtures import fixture_of
from tests.tools.conftest import USER_AGENT
from tests.tools.sites import HERE, INSIDE, SECRET, Line, Names, Site, answer_bytes, fetch, line, only_here
from tools import BadArguments, Denied, Fetcher, NotFound, ToolError, Unavailable, canonical_url
from tools.web.addresses import MAX_CHARS, is_public, resolve_redirect, web_address

PUBLIC = "93.184.216.34"

site = fixture_of(Site)


@pytest.fixture
async def trap() -> AsyncIterator[Line]:
    async with line(SECRET) as listening:
        yield listening


NUMBERS = """
127.0.0.1 127.0.0.1. 127.1 2130706433 0x7f000001 0x7f.0.0.1 0x7f.1 017700000001 0177.1 0x7f.0x0.0.1 127。0。0。1
127．0．0．1 127｡0｡0｡1｡ 0 0.0.0.0 0.1.2.3 10.0.0.1 167772161 172.16.0.1 172.31.255.255 192.168.1.1 192.168.257
169.254.169.254 2852039166 0xA9FEA9FE 169.254.43518 100.64.0.1 168.63.129.16 2822734096 192.0.0.192 192.0.0.8
192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 [::1] [0:0:0:0:0:0:0:1]
[::] [::ffff:127.0.0.1] [::ffff:a9fe:a9fe] [0:0:0:0:0:FFFF:10.0.0.1] [::ffff:168.63.129.16] [::ffff:0:127.0.0.1]
[::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001::f:80ff:fffe]
[2001:0:4136:e378:8000:63bf:3fff:fdd2] [2001:20::1] [2001:db8::1] [3fff::1] [100::1] [5f00::1] [fc00::1]
[fd00:ec2::254] [fe80::1] [fec0::1] [ff02::1] [ff0e::1]
"""

LED_INSIDE = {
    "localhost": [HERE, "::1"],
    "LocalHost.": [HERE],
    "metadata.google.internal": ["169.254.169.254"],
    "good-and-bad.example": [PUBLIC, HERE],
    "good-and-inner-six.example": [PUBLIC, "fd00::1"],
    "good-and-wrapped.example": ["2606:2800:220:1:248:1893:25c8:1946", "::ffff:7f00:1"],
    "zone.example": ["fe80::1%1"],
    "bücher.example": [HERE],
}


async def test_nothing_inside_is_connected_to_however_it_is_spelled(trap: Line) -> None:
    """A number is where it leads, a name nothing but its addresses, and one bad among them is enough."""
    names = Names({web_address(f"http://{host}").host: [addresses] for host, addresses in LED_INSIDE.items()})
    async with Fetcher(USER_AGENT, ports={trap.port}, resolve=names) as fetcher:
        for number, host in enumerate([*NUMBERS.split(), *LED_INSIDE], start=1):
            with pytest.raises(Denied, match="private or reserved network") as caught:
                await fetch(fetcher, f"http://{host}:{trap.port}/latest/meta-data/")
            assert (trap.accepted, sum(names.asked.values())) == (0, number), host
            assert not [address for address in LED_INSIDE.get(host, ()) if address in str(caught.value)]


DISPUTED = [
    "file:///etc/passwd",
    "data:text/html,<b>x</b>",
    "",
    "http:127.0.0.1:{port}/",
    "http://site.example\\@127.0.0.1:{port}/",
    "http://site.example:{port}/ HTTP/1.1\r\nHost: inner\r\n\r\n",
    "http://１２７.０.０.１:{port}/",
    "http://[::1:{port}/",
    "http://[::0:0",
    "http://site..example:{port}/",
    "http://" + "a" * 64 + ".example:{port}/",
    "http://site.example:{port}x/",
    "http://site.example:0/",
    "http://site.example/" + "a" * MAX_CHARS,
]
DENIED = [
    "http://127.0.0.1%2f@site.example:{port}/",
    "http://user:password@site.example:{port}/",
    "http://127.0.0.1:{port}#@site.example/",
]


async def test_a_form_that_readers_dispute_goes_nowhere(trap: Line) -> None:
    """Schemes, passwords, signs, half addresses and ports are refused before a look-up, without the address."""
    names = Names({"site.example": [[PUBLIC]]})
    async with Fetcher(USER_AGENT, ports={trap.port}, resolve=names) as fetcher:
        for form in DISPUTED + DENIED:
            with pytest.raises(BadArguments if form in DISPUTED else Denied) as caught:
                await fetch(fetcher, form.replace("{port}", str(trap.port)))
            assert "site.example" not in str(caught.value)
    assert (trap.accepted, names.asked["site.example"]) == (0, 0)
    names = Names({"site.example": [[HERE]]})
    async with Fetcher(USER_AGENT, **only_here(80, 443), resolve=names) as fetcher:
        for scheme, port in (("http", trap.port), ("https", 22), ("http", 8080)):
            with pytest.raises(Denied, match="ports of the web"):
                await fetch(fetcher, f"{scheme}://site.example:{port}/")
    assert (trap.accepted, dict(names.asked)) == (0, {})


async def test_a_redirect_passes_the_guard_anew(site: Site) -> None:
    """Asked once, it leads nowhere inside; a name that changes behind the check keeps the judged address."""
    names = Names({"site.example": [[HERE]], "inner.example": [[INSIDE]], "both.example": [[HERE, INSIDE]]})
    async with line(SECRET, INSIDE) as inner:
        rows: list[tuple[str | None, type[ToolError]]] = [
            (f"http://{INSIDE}:{{inner}}/", Denied),
            ("http://2130706434:{inner}/", Denied),
            ("http://[::ffff:127.0.0.2]:{inner}/", Denied),
            ("http://inner.example:{inner}/", Denied),
            ("http://both.example:{inner}/", Denied),
            ("http://site.example:22/", Denied),
            ("http://user:password@site.example:{site}/", Denied),
            (f"http://{INSIDE}:{{inner}}\\@site.example:{{site}}/", Unavailable),
            ("file:///etc/passwd", Unavailable),
            ("/" + "a" * MAX_CHARS, Unavailable),
            (None, Unavailable),
        ]
        for location, kind in rows:
            site.requests.clear()
            there = {} if location is None else {"Location": location.format(inner=inner.port, site=site.port)}
            site.faults.append(answer_bytes(status=302, **there))
            async with Fetcher(USER_AGENT, **only_here(site.port, inner.port), resolve=names) as fetcher:
                with pytest.raises(kind):
                    await fetch(fetcher, site.url_of("/go"))
            assert (inner.accepted, len(site.requests)) == (0, 1)
        site.requests.clear()
        names = Names({"rebinding.example": [[HERE], [INSIDE]]})
        async with Fetcher(USER_AGENT, **only_here(site.port), resolve=names) as fetcher:
            page = await fetch(fetcher, site.url_of("/", "rebinding.example"))
        assert (page.body, names.asked["rebinding.example"], inner.accepted) == (b"page /", 1, 0)
    assert site.requests[0].headers["host"] == f"rebinding.example:{site.port}"


async def test_a_name_without_an_address_is_told() -> None:
    """Nothing of that name, or a name service that is down: in words without the name."""
    answers: tuple[tuple[Sequence[str] | Exception, type[ToolError]], ...] = (
        ([], NotFound),
        (socket.gaierror(socket.EAI_NONAME, "unknown"), NotFound),
        (socket.gaierror(socket.EAI_AGAIN, "later"), Unavailable),
    )
    for answer, kind in answers:
        async with Fetcher(USER_AGENT, resolve=Names({"nowhere.example": [answer]})) as fetcher:
            with pytest.raises(kind) as caught:
                await fetch(fetcher, "http://nowhere.example/")
        assert "nowhere" not in str(caught.value)


def test_public_addresses_are_public() -> None:
    """What is served to everybody may be fetched."""
    for text in ("1.1.1.1", PUBLIC, "192.0.1.1", "192.31.196.1", "223.255.255.255", "::ffff:1.1.1.1", "2a00:1450::1"):
        assert is_public(ipaddress.ip_address(text)), text


def test_an_address_has_one_spelling() -> None:
    """What means the same is spelled the same, and sent in that spelling."""
    for text, canonical in (
        ("HTTP://Site.Example", "http://site.example/"),
        ("https://site.example:443/a?b=c#d", "https://site.example/a?b=c"),
        ("http://site.example:443/", "http://site.example:443/"),
        ("http://site.example./a", "http://site.example/a"),
        ("https://site.example/a/%2e?b/../c", "https://site.example/a?b/../c"),
        ("https://site.example/a/%2e%2E/b/%2E/.%2e/c", "https://site.example/c"),
        ("https://faß.example/ä", "https://xn--fa-hia.example/%C3%A4"),
        ("https://site。example/", "https://site.example/"),
        ("https://[2606:4700:0:0::1111]/", "https://[2606:4700::1111]/"),
        ("https://@site.example/#@127.0.0.1/", "https://site.example/"),
        ("https://user@site.example/", None),
    ):
        assert canonical_url(text) == canonical, text
        assert canonical is None or canonical_url(canonical) == canonical


def test_a_redirect_with_disputed_signs_leads_nowhere() -> None:
    """Joining would drop some of them without a word; spaces, which many servers leave as they are, are escaped."""
    origin = web_address("https://site.example/a/b?c")
    for sign in ("\t", "\n", "\r", "\\", "\x00", "\u2028", "\ud800"):
        for location in (f"/x{sign}y", f"ht{sign}tps://site.example/", f"{sign}/x", f"/x{sign}"):
            with pytest.raises(Unavailable):
                resolve_redirect(origin, location)
    assert str(resolve_redirect(origin, " x y ")) == "https://site.example/a/x%20y"
