"""Why a connection failed is told in words, whichever library wrapped the cause, and names no address."""

import errno
import socket
import ssl

import httpx

from tools import why_unreachable


def raised(outer: BaseException, cause: BaseException) -> BaseException:
    """The outer error as if it had been raised from the cause."""
    outer.__cause__ = cause
    return outer


CAUSES: list[tuple[BaseException, str]] = [
    (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "no host of that name is known here"),
    (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER]"), "it does not use TLS; an address without it begins with http://"),
    (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), "nothing listens there"),
    (PermissionError(errno.EACCES, "Permission denied"), "this user may not connect to it"),
    (FileNotFoundError(errno.ENOENT, "No such file"), "there is no such file or socket"),
    (TimeoutError(), "no answer in time"),
    (OSError(errno.ENETUNREACH, "Network is unreachable"), "it cannot be reached from here"),
    (ValueError("secret"), "ConnectError"),
]


def test_the_cause_is_told() -> None:
    """Also behind several others, and as one of a group; what is not known is named by its kind alone."""
    for cause, words in CAUSES:
        group = ExceptionGroup("tried both", [cause]) if isinstance(cause, Exception) else cause
        for outer in (raised(OSError("all failed"), cause), group):
            assert why_unreachable(raised(httpx.ConnectError("x"), outer)) == words
