"""Sockets that carry lines: little is kept unread at first, and what is left at the end is read in few pieces."""

import asyncio
from pathlib import Path

import pytest

from bot.signal.signal_cli.rpc import connect

_LEFT_BYTES = 3 * 1024 * 1024


async def _write_all(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write((b"-" * 1023 + b"\n") * (_LEFT_BYTES // 1024))
    await writer.drain()
    writer.close()


@pytest.mark.parametrize(("way", "most_reads"), [("unix", 100), ("tcp", 400)])
async def test_what_is_left_is_read_in_few_pieces(tmp_path: Path, way: str, most_reads: int) -> None:
    """A small buffer hands megabytes over in a thousand pieces, and a busy machine has no time for those at a stop."""
    path = tmp_path / "socket"
    if way == "unix":
        server = await asyncio.start_unix_server(_write_all, path)
        url = f"unix://{path}"
    else:
        server = await asyncio.start_server(_write_all, "127.0.0.1", 0)
        url = f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, await connect(url, is_frugal=True) as lines:
        lines.take_more()
        pieces: list[int] = []
        while sum(pieces) < _LEFT_BYTES // 1024:
            pieces.append(len(await lines.lines()))
            await asyncio.sleep(0)
    assert len(pieces) < most_reads
