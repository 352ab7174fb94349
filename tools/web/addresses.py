"""Decides which web addresses can be fetched at all, and which IP addresses can be reached for them. Pure functions.

    web_address(text) -> WebAddress     parses an address in one way only: what is compared is what is sent
                      -> ToolError      no address, or one that must not be fetched
    is_public(ip)                       whether an IP address belongs to the public internet

A host is never judged by its spelling: `2130706433`, `0x7f.1` and a name in any DNS all lead to 127.0.0.1. What
counts is what it resolves to at the moment of the connection, which `tools.web.fetch` checks.

Source: the special-purpose registries of IANA for IPv4 and IPv6 (RFC 6890); `is_global` of Python 3.11 to 3.13 calls
6to4, NAT64, multicast, site-local and documentation addresses global (measured 2026-11-21).
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Annotated
from urllib.parse import urljoin

from pydantic import AfterValidator

from tools.errors import BadArguments, Denied, ToolError, Unavailable

IpAddress = IPv4Address | IPv6Address

MAX_CHARS = 4_000
"""The longest accepted address."""

WEB_PORTS = frozenset({80, 443})
"""The ports of the web; other ports of public machines have databases and consoles."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_PORTS = range(1, 65_536)
# Parsers disagree on these: some drop them, some end the host at them, some pass them on into the request.
_DISPUTED = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029\ud800-\udfff]")
_ESCAPED_DOTS = re.compile(r"(?<=/)(?:\.|%2e){1,2}(?=[/?#]|\Z)", re.IGNORECASE)
"""Segments that lead upwards; httpx resolves them once they are spelled out. Otherwise a server could do so, and show
another page than the one that robots.txt was asked about."""
_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\Z")

_CLOSED_IPV4 = (
    IPv4Network("192.0.0.0/24"),  # protocol assignments; Oracle's cloud serves metadata at 192.0.0.192
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
    IPv4Network("168.63.129.16/32"),  # Azure's host, a public number that the machine below answers
)
_OPEN_IPV6 = IPv6Network("2000::/3")  # the only block from which IANA assigns public addresses
_CLOSED_IPV6 = (
    IPv6Network("2001::/23"),  # protocol assignments, including Teredo, which carries IPv4
    IPv6Network("2001:db8::/32"),  # documentation
    IPv6Network("2002::/16"),  # 6to4, which carries IPv4
    IPv6Network("3fff::/20"),  # documentation
)


@dataclass(frozen=True, kw_only=True, slots=True)
class WebAddress:
    """A normalized web address; its `str` is what `canonical_url` returns."""

    scheme: str
    """`http` or `https`."""
    host: str
    """In lower-case ASCII (international names as `xn--`), without a trailing dot; IPv6 without brackets."""
    port: int
    target: str
    """Path and query as sent: ASCII, percent-encoded, beginning with a slash, without the fragment."""

    @property
    def authority(self) -> str:
        """The host, and the port unless it is the default: the value of the header Host."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def is_public(address: IpAddress) -> bool:
    """Whether the address belongs to the public internet, independently of the version of Python."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        return address in _OPEN_IPV6 and not any(address in closed for closed in _CLOSED_IPV6)
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    return not any(address in closed for closed in _CLOSED_IPV4)


def web_address(text: str) -> WebAddress:
    """Parses an address as it is sent; raises `BadArguments`, or `Denied` for one with a user name or password."""
    import httpx  # noqa: PLC0415 - it takes long, and every start reads this module

    if len(text) > MAX_CHARS:
        raise BadArguments(f"The address is longer than {MAX_CHARS:,} characters.")
    if _DISPUTED.search(text):
        raise BadArguments("The address holds spaces, backslashes or control characters.")
    try:
        url = httpx.URL(_ESCAPED_DOTS.sub(lambda dots: dots[0].lower().replace("%2e", "."), text))
    except httpx.InvalidURL as error:
        raise BadArguments("This is not a valid address.") from error
    if url.scheme not in _DEFAULT_PORTS:
        raise BadArguments("Only addresses that begin with http:// or https:// can be fetched.")
    if url.userinfo:
        raise Denied("Addresses that hold a user name or password are not fetched.")
    port = _DEFAULT_PORTS[url.scheme] if url.port is None else url.port
    if port not in _PORTS:  # httpcore would use the default for 0
        raise BadArguments("The port in the address is not valid.")
    host, target = url.raw_host.decode("ascii").removesuffix("."), url.raw_path.decode("ascii")
    if ":" in host:
        address = IPv6Address(host)  # httpx has checked that it is one
        if address.scope_id is not None:
            raise BadArguments("An address with a zone belongs to a local network.")
        host = str(address)
    elif not _NAME.match(host):
        raise BadArguments("The host in the address is not valid.")
    return WebAddress(scheme=url.scheme, host=host, port=port, target=target)


def canonical_url(text: str) -> str | None:
    """Returns the normalized address, which alone is sent, for comparisons; None if it must not be fetched."""
    try:
        return str(web_address(text))
    except ToolError:
        return None


def resolve_redirect(origin: WebAddress, location: str) -> WebAddress:
    """Returns where the header `location` of `origin` leads; raises `Denied` from https to http, or `Unavailable`."""
    # Many servers leave spaces as they are. Other disputed characters are refused before joining drops some of them.
    spelled = location.strip(" ").replace(" ", "%20")
    try:
        target = web_address(urljoin(str(origin), spelled) if spelled and not _DISPUTED.search(spelled) else "")
    except (BadArguments, ValueError) as error:
        raise Unavailable("The page redirects to something that is not a web address.") from error
    if origin.scheme == "https" and target.scheme != "https":
        raise Denied("The page redirects from https to http, which is not followed.")
    return target


_SITE = re.compile(r"(?=.{3,80}\Z)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+")


def _as_site(given: str) -> str:
    """Returns the host of what people write for a site: with a scheme, `www.` or a path."""
    host = given.lower().rpartition("://")[2].partition("/")[0].removeprefix("www.").removeprefix("*.")
    if not _SITE.fullmatch(host):
        raise ValueError("must be the host of a site, such as example.org")
    return host


Site = Annotated[str, AfterValidator(_as_site)]
"""A host in lower case, without `www.`; it includes its subdomains."""
