"""Connections to outside services, for `tools.http`; one answer at a time, bounded in size.

Source: httpx 0.28.1, whose own timeouts are per read and whose decoders are not bounded: a gzip of 1 MB made
`client.get()` take 2.1 GB (measured 2026-11-21).
"""

import errno
import functools
import logging
import socket
import ssl
import zlib
from collections.abc import AsyncIterable, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any

import httpx

from tools.errors import BrokenOff, TooLarge, Unavailable, Unreachable

_MAX_CONNECTIONS = 1000
"""For all services together: with only a few, one service that hangs would block all others."""

_COMPRESSIONS = frozenset({"gzip", "x-gzip", "deflate"})
_UNASKED = frozenset({"br", "zstd", "compress"})
_ANY_WBITS = 32 + zlib.MAX_WBITS
"""Has zlib recognise by its head what it is given: gzip, or its own format, which is HTTP's `deflate`."""

_NO_WAY = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL})
_WORDS: tuple[tuple[type[BaseException], str], ...] = (
    (socket.gaierror, "no host of that name is known here"),
    (ssl.SSLCertVerificationError, "its certificate is not trusted, or is for another name"),
    (ssl.SSLError, "it does not use TLS; an address without it begins with http://"),
    (TimeoutError, "no answer in time"),
    (ConnectionRefusedError, "nothing listens there"),
    (PermissionError, "this user may not connect to it"),
    (FileNotFoundError, "there is no such socket"),
)
"""Subclasses come before their base classes."""
_MAX_CAUSES = 20

_BEFORE_ANYTHING_IS_SENT = (httpx.ConnectError, httpx.LocalProtocolError, httpx.UnsupportedProtocol)


class Connections:
    """The connections that all tools share."""

    def __init__(self, user_agent: str) -> None:
        # At INFO, httpx logs every address with its query, which contains people's words and the keys of some services.
        for name in ("httpx", "httpcore"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self._client = httpx.AsyncClient(
            headers={"User-Agent": user_agent, "Accept": "application/json", "Accept-Encoding": "gzip, identity"},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            verify=trusted_certificates(),
            follow_redirects=False,
            trust_env=False,
            http2=False,
            timeout=None,  # noqa: S113 - every request stands under a deadline of asyncio
            limits=httpx.Limits(max_connections=_MAX_CONNECTIONS, max_keepalive_connections=8, keepalive_expiry=30),
        )

    async def aclose(self) -> None:
        """Closes them; nothing can be sent afterwards."""
        await self._client.aclose()

    async def send(
        self, method: str, url: str, content: Mapping[str, Any], *, service: str, max_bytes: int
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Sends a request and returns status, headers by their names in lower case, and body, of at most `max_bytes`.

        Raises:
            Unreachable: the connection failed; BrokenOff: it failed once it was open.
            TooLarge, Unavailable: the answer is too long, or its compression is broken.
        """
        try:
            request = self._client.build_request(method, httpx.URL(url), **content)
        except httpx.InvalidURL as error:
            raise Unavailable(f"The address of {service} is not valid: the operator must check it.") from error
        try:
            response = await self._client.send(request, stream=True)
            try:
                encoding = response.headers.get("content-encoding", "")
                body = await decompress(response.aiter_raw(), encoding, service=service, max_bytes=max_bytes)
            finally:
                await response.aclose()
        except _BEFORE_ANYTHING_IS_SENT as error:
            raise Unreachable(f"{service} cannot be reached: {why_unreachable(error)}.") from error
        except httpx.TransportError as error:
            raise BrokenOff(f"{service} broke off without a whole answer ({type(error).__name__}).") from error
        return response.status_code, {name.lower(): value for name, value in response.headers.items()}, body


@functools.cache
def trusted_certificates() -> ssl.SSLContext:
    """Returns the authorities that Aldis trusts for every service, loaded once because that takes a tenth of a second.

    They are the machine's, or what SSL_CERT_FILE and SSL_CERT_DIR name, so that a household or a company can have one
    of its own; Mozilla's, by certifi, where there are none.

    Source: https://docs.openssl.org/3.5/man3/SSL_CTX_load_verify_locations/ (2026-11)
    """
    paths = ssl.get_default_verify_paths()
    if paths.cafile or (paths.capath and any(Path(paths.capath).glob("????????.[0-9]"))):
        return ssl.create_default_context()
    return httpx.create_ssl_context(trust_env=False)


async def decompress(chunks: AsyncIterable[bytes], encoding: str, *, service: str, max_bytes: int) -> bytes:
    """Returns the whole body, decompressed piece by piece, with at most `max_bytes` (at least 1) of it in memory.

    `encoding` is the header Content-Encoding, "" if missing; `service` is the name for errors.

    A word that names no compression, such as `utf-8`, means none, as browsers take it.

    Raises:
        TooLarge: the body is longer than `max_bytes`, before or after decompression.
        Unavailable: its encoding was not asked for, or is broken.
    """
    words = encoding.lower().replace(",", " ").split()
    codings = [word for word in words if word in _COMPRESSIONS | _UNASKED]
    if _UNASKED.intersection(codings) or len(codings) > 1:
        raise Unavailable(f"{service} answers in an encoding that was not asked for.")
    decoder = zlib.decompressobj(wbits=_ANY_WBITS) if codings else None
    body = bytearray()
    read_bytes = 0
    try:
        async for chunk in chunks:
            read_bytes += len(chunk)
            body += chunk if decoder is None else decoder.decompress(chunk, max_bytes + 1 - len(body))
            if max(len(body), read_bytes) > max_bytes:
                raise TooLarge(f"{service} answers with more than {max_bytes / 1_000_000:g} MB.")
            if decoder is not None and decoder.eof:
                break  # zlib would copy everything after it with each piece: for 15 MB that took 13 s
    except zlib.error as error:
        raise Unavailable(f"{service} answers with broken compression.") from error
    if decoder is not None and not decoder.eof:
        raise Unavailable(f"{service} broke off in the middle of its answer.")
    return bytes(body)


def why_unreachable(error: BaseException) -> str:
    """Returns why a connection failed, by its first telling cause, or the type of the error. Names no address."""
    waiting = [error]
    for _ in range(_MAX_CAUSES):
        if not waiting:
            break
        cause = waiting.pop(0)
        if isinstance(cause, OSError) and cause.errno in _NO_WAY:
            return "it cannot be reached from here"
        for kind, words in _WORDS:
            if isinstance(cause, kind):
                return words
        behind = cause.__cause__ or cause.__context__
        waiting += [*cause.exceptions] if isinstance(cause, BaseExceptionGroup) else []  # pyright: ignore[reportUnknownMemberType]
        waiting += [behind] if behind is not None else []
    return type(error).__name__
