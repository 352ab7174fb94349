"""Explains failed connections to whoever configured the address."""

import errno
import socket
import ssl
from collections.abc import Iterator

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


def why_unreachable(error: BaseException) -> str:
    """Returns why a connection failed, by its first telling cause, or the type of the error. Names no address."""
    for cause in _causes(error):
        if isinstance(cause, OSError) and cause.errno in _NO_WAY:
            return "it cannot be reached from here"
        for kind, words in _WORDS:
            if isinstance(cause, kind):
                return words
    return type(error).__name__


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yields the error and its causes, the nearest first."""
    waiting = [error]
    for _ in range(_MAX_CAUSES):
        if not waiting:
            return
        cause = waiting.pop(0)
        yield cause
        behind = cause.__cause__ or cause.__context__
        waiting += [*cause.exceptions] if isinstance(cause, BaseExceptionGroup) else []  # pyright: ignore[reportUnknownMemberType]
        waiting += [behind] if behind is not None else []
