"""Fetches pages whose addresses come from people and from other pages.

    Fetcher.get -> FetchedPage  status, type and body; redirects are followed
                -> ToolError    refused, unreachable, too slow, too large, of another type

    address --web_address--> scheme, host, port --consent?--lookup--> all IP addresses allowed? --> connect to one
                 ^                                                                                     |
                 '-------------------------- redirect, at most five ----------------------------------'

The guard is where the connection is opened: a host is looked up once, all of its addresses are checked, and the
connection goes to one of these. So a name whose answer changes in between, or any spelling of a host, reaches nothing
new. TLS and the header Host keep the name. httpcore has no proxies, cookies, passwords and redirects, and only GET is
sent. Left to others: whether this turn can ask for the address (the policy of the bot), what a page means (the tool).

Source: httpcore 1.0.9, whose network backend is a public interface; its timeouts are per read, so there is one deadline
for everything. Checking first and then connecting by name reached 127.0.0.1 (measured 2026-11-21).
"""

import asyncio
import logging
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import ip_address
from typing import Any, Self, cast

import httpcore

from tools.connections import Answer, decompress, in_time, trusted_certificates, why_unreachable
from tools.errors import BadArguments, Denied, NotFound, Unavailable
from tools.web.addresses import WEB_PORTS, IpAddress, WebAddress, is_public, resolve_redirect, web_address

MAX_AT_ONCE = 64
"""How many fetches run in parallel; more wait, within their own deadlines. More than a few chats can cause together, so
that slow pages keep no one else waiting; few enough for the memory that bodies take."""

MAX_REDIRECTS = 5

_SERVICE = "The page"  # the name for errors, as an address could contain words of a stranger
_MAX_ATTEMPTS = 4  # addresses of one host to try
_ATTEMPT_SECONDS = 5.0  # for each but the last, so that an unresponsive one leaves time for the next
_READ_BYTES = 4_096
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([a-z0-9._:+-]{1,40})", re.IGNORECASE)
_UNKNOWN_NAME = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})

Resolver = Callable[[str, int], Awaitable[Sequence[IpAddress]]]
"""Returns all addresses of a host, best first; raises `socket.gaierror` if there are none."""

Consent = Callable[[WebAddress], Awaitable[None]]
"""Called before each request of a fetch, including redirects; raises a `ToolError` to forbid it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchedPage(Answer):
    """The content of an address."""

    url: str
    """Where it was found, after all redirects, normalized."""
    content_type: str
    """In lower case and without parameters, such as `text/html`; "" if the server gives none."""
    charset: str | None
    """The server's name for the encoding, in lower case; Python may not know it."""
    body: bytes
    """Decompressed; empty unless the status is a success (2xx), as it is not read otherwise."""


class Fetcher:
    """A client for strangers' pages; `async with` opens and closes it."""

    def __init__(
        self,
        user_agent: str,
        *,
        ports: Collection[int] = WEB_PORTS,
        admits: Callable[[IpAddress], bool] = is_public,
        resolve: Resolver | None = None,
        authorities: ssl.SSLContext | None = None,
    ) -> None:
        """`user_agent` names Aldis. Tests replace the others, which no setting does: `ports` and IP addresses to which
        connections are allowed, how names are looked up, and which authorities are trusted.
        """
        self._headers = {"User-Agent": user_agent, "Accept-Encoding": "gzip, identity"}
        # A lookup cannot be stopped: in the shared threads of the process, a stranger's slow name server would soon
        # block the lookups of the models' services.
        self._threads = ThreadPoolExecutor(MAX_AT_ONCE, thread_name_prefix="lookup")
        self._authorities = authorities
        self._backend = _GuardedBackend(ports, admits, resolve or self._look_up)
        self._pool: Any = None
        """None while it is closed."""

    async def __aenter__(self) -> Self:
        # At DEBUG, httpcore logs every host and header, which tell what people ask.
        logging.getLogger("httpcore").setLevel(logging.WARNING)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=self._authorities or trusted_certificates(),
            max_connections=MAX_AT_ONCE,
            max_keepalive_connections=0,  # every request opens its own connection and so passes the guard
            network_backend=self._backend,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        pool, self._pool = self._pool, None
        self._threads.shutdown(wait=False, cancel_futures=True)
        if pool is not None:
            await pool.aclose()

    async def _look_up(self, host: str, port: int) -> Sequence[IpAddress]:
        look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        return tuple(dict.fromkeys(ip_address(address[0]) for *_, address in found))

    async def get(
        self,
        url: str,
        *,
        accept: Collection[str],
        max_bytes: int,
        timeout_seconds: float,
        consent: Consent | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> FetchedPage:
        """Fetches a page by GET.

        `accept` lists the content types that a success can have, such as `text/html`, `text/*`, `*+xml`, or "" for one
        whose server names none. `max_bytes` bounds the body, before and after decompression, `timeout_seconds` all of
        it, redirects included. `consent` can fetch by itself; None: every web address is allowed. `headers` are sent in
        addition: printable ASCII. Raises `Denied` where it leads, directly or by a redirect, to where Aldis does not
        go, or another `ToolError`.
        """
        address = web_address(url)
        named = ", ".join(each for each in accept if each[:1].isalpha())
        sent = {**self._headers, **(headers or {}), "Accept": named}
        async with in_time(_SERVICE, timeout_seconds):
            for _ in range(MAX_REDIRECTS + 1):
                if consent is not None:
                    await consent(address)
                page = await self._ask(address, sent, accept, max_bytes)
                if page.status not in _REDIRECTS:
                    return page
                address = resolve_redirect(address, page.headers.get("location", ""))
        raise Unavailable(f"{_SERVICE} redirects more than {MAX_REDIRECTS} times.")

    async def _ask(
        self, address: WebAddress, headers: Mapping[str, str], accept: Collection[str], max_bytes: int
    ) -> FetchedPage:
        """Sends one request, and reads the body of a success of an accepted type."""
        sent = {"Host": address.authority, **headers}
        # In parts, so that no second parser has a say.
        scheme, host, target = (part.encode("ascii") for part in (address.scheme, address.host, address.target))
        url = httpcore.URL(scheme=scheme, host=host, port=address.port, target=target)
        try:
            async with self._pool.stream("GET", url, headers=list(sent.items())) as response:
                joined: dict[str, str] = {}
                for raw_name, raw_value in response.headers:
                    name, value = raw_name.decode("latin-1").lower(), raw_value.decode("utf-8", errors="replace")
                    joined[name] = f"{joined[name]}, {value}" if name in joined else value
                named = joined.get("content-type", "")
                kind = named.partition(";")[0].strip().lower()
                charset = _CHARSET.search(named)
                page = FetchedPage(
                    url=str(address),
                    status=response.status,
                    content_type=kind,
                    charset=charset[1].lower() if charset else None,
                    body=b"",
                    headers=joined,
                )
                if not page.ok:
                    return page
                if not {kind, f"{kind.partition('/')[0]}/*", f"*+{kind.rpartition('+')[2]}"}.intersection(accept):
                    raise BadArguments(f"Unsupported content type; expected one of: {headers['Accept']}.")
                packed = joined.get("content-encoding", "")
                body = await decompress(response.aiter_stream(), packed, service=_SERVICE, max_bytes=max_bytes)
                return replace(page, body=body)
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            raise Unavailable(f"{_SERVICE} cannot be reached: {why_unreachable(error)}.") from error


class _GuardedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections only to addresses that it has checked itself."""

    def __init__(self, ports: Collection[int], admits: Callable[[IpAddress], bool], resolve: Resolver) -> None:
        self._ports = ports
        self._admits = admits
        self._resolve = resolve
        # The cast is needed because httpcore substitutes another class of this name if anyio is missing.
        self._network = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature; the deadline is the caller's
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> Any:
        del timeout, local_address, socket_options
        if port not in self._ports:
            ports = ", ".join(map(str, sorted(self._ports)))
            raise Denied(f"Only the ports of the web are fetched from ({ports}).")
        try:
            addresses = await self._resolve(host, port)
        except socket.gaierror as error:
            if error.errno not in _UNKNOWN_NAME:
                raise Unavailable("The name of the site cannot be looked up at present.") from error
            addresses = ()
        if not addresses:
            raise NotFound("There is no site of that name.")
        # One bad address among good ones is no accident: such a server hopes that we try them all.
        if not all(map(self._admits, addresses)):
            raise Denied("This address leads into a private or reserved network; only public sites are fetched.")
        *others, last = map(str, addresses[:_MAX_ATTEMPTS])
        for address in others:
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return _SmallReads(await self._network.connect_tcp(address, port, timeout=_ATTEMPT_SECONDS))
        return _SmallReads(await self._network.connect_tcp(last, port))  # all the time that the caller has left


class _SmallReads:
    """Reads 4 kB at a time: 64 kB of one-byte chunks stop all others for half a second (measured 2026-11-21)."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore's signature
        return await self._stream.read(min(max_bytes, _READ_BYTES), timeout)

    async def start_tls(self, *given: Any, **named: Any) -> Any:
        return _SmallReads(await self._stream.start_tls(*given, **named))
