"""What connections to the outside have in common: whom they trust, how answers are unpacked, and why they fail."""

import asyncio
import errno
import functools
import socket
import ssl
import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from itertools import islice
from pathlib import Path

from tools.errors import TimedOut, TooLarge, Unavailable

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
    (FileNotFoundError, "there is no such file or socket"),
)
"""Subclasses come before their base classes."""
_MAX_CAUSES = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An answer over HTTP; its words are those of a stranger."""

    status: int
    headers: Mapping[str, str]
    """Headers by lower-case name; repeated values are joined by commas."""

    @property
    def ok(self) -> bool:
        """Whether the status is a success (2xx); the body may still report an error."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


@functools.cache
def trusted_certificates() -> ssl.SSLContext:
    """Returns the authorities that Aldis trusts for every service, loaded once because that takes a tenth of a second.
    They are the machine's, or what SSL_CERT_FILE and SSL_CERT_DIR name; Mozilla's, by certifi, where there are none.
    Source: https://docs.openssl.org/3.5/man3/SSL_CTX_load_verify_locations/ (2026-11)
    """
    paths = ssl.get_default_verify_paths()
    if paths.cafile or (paths.capath and any(Path(paths.capath).glob("????????.[0-9]"))):
        return ssl.create_default_context()
    import httpx  # noqa: PLC0415 - it takes long, and few machines come here

    return httpx.create_ssl_context(trust_env=False)


@asynccontextmanager
async def in_time(service: str, timeout_seconds: float) -> AsyncGenerator[None]:
    """Sets a deadline for the context; passing it raises `TimedOut`."""
    try:
        async with asyncio.timeout(timeout_seconds):
            yield
    except TimeoutError as error:
        raise TimedOut(f"{service} did not answer within {timeout_seconds:g} seconds.") from error


async def decompress(chunks: AsyncIterable[bytes], encoding: str, *, service: str, max_bytes: int) -> bytes:
    """Returns the whole body, decompressed piece by piece, with at most `max_bytes` (at least 1) of it in memory.
    `encoding` is the header Content-Encoding; a word that names no compression, such as `utf-8`, means none. Raises
    `TooLarge`, or `Unavailable` for an encoding that was not asked for, or is broken.
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
    waiting, kinds = [error], list[str]()
    for cause in islice(waiting, _MAX_CAUSES):  # which grows meanwhile
        if isinstance(cause, OSError) and cause.errno in _NO_WAY:
            return "it cannot be reached from here"
        for kind, words in _WORDS:
            if isinstance(cause, kind):
                return words
        behind = cause.__cause__ or cause.__context__
        if isinstance(cause, BaseExceptionGroup):
            waiting += [*cause.exceptions]  # pyright: ignore[reportUnknownMemberType]
        else:
            kinds.append(type(cause).__name__)
        waiting += [behind] if behind is not None else []
    return next(iter(kinds), type(error).__name__)
