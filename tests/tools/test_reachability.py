"""Why a connection failed is told in words, whichever library wrapped the cause, and names no address."""

import asyncio
import errno
import socket
import ssl
from pathlib import Path

import httpx
import pytest

from tests.ports import free_port
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
    (FileNotFoundError(errno.ENOENT, "No such file"), "there is no such socket"),
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


async def test_the_library_keeps_the_cause(tmp_path: Path) -> None:
    """As httpx raises it, for a port where nobody listens, a host that there is not, and a server without TLS."""
    async with httpx.AsyncClient(trust_env=False) as client:

        async def why(url: str) -> str:
            with pytest.raises(httpx.TransportError) as caught:
                await client.get(url)
            return why_unreachable(caught.value)

        assert await why(f"http://127.0.0.1:{free_port()}") == "nothing listens there"
        assert await why("http://no.such.host.invalid") == "no host of that name is known here"
        server = await asyncio.start_server(_say_http, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            assert "TLS" in await why(f"https://127.0.0.1:{port}")
    with pytest.raises(FileNotFoundError) as caught:
        await asyncio.open_unix_connection(tmp_path / "none")
    assert why_unreachable(caught.value) == "there is no such socket"


async def _say_http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await writer.drain()
    writer.close()
