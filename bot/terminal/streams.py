"""Standard input and output for an event loop: messages one at a time, texts written whole, the loop never blocked.

Three sources of messages: a fixed text, the lines of a pipe or file, a person at a prompt.
Left to others: what a message or an answer is (`bot.terminal.transport`).
"""

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TextIO, TypeVar

from prompt_toolkit import PromptSession
from prompt_toolkit.application import in_terminal
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input.defaults import create_input
from prompt_toolkit.output.defaults import create_output

_CHUNK_BYTES = 65_536
_LEAVING = frozenset({"/quit", "/exit", "/bye", "/q", "/ende", "/beenden", "/quitter", "/sortir", "/salir"})
"""Words that leave, alone on a line."""
_LEAVING_AT_PROMPT = _LEAVING | {"quit", "exit"}
"""Words that leave at a prompt; in a file they are lines like any other."""
_T = TypeVar("_T")


class Once:
    """One message, given beforehand."""

    def __init__(self, text: str) -> None:
        self._text: str | None = text if text.strip() else None

    async def read(self) -> str | None:
        """Returns the text, then None."""
        text, self._text = self._text, None
        return text


class PipedInput:
    """The lines of a pipe or file, read as they are asked for.

    Reads in a thread, because an event loop can wait for pipes but not for files. Reads the descriptor itself: a
    buffered stream has a lock, and if a thread holds it while the interpreter exits, the exit is a crash.
    """

    def __init__(self, stream: TextIO) -> None:
        self._descriptor = stream.fileno()
        self._buffer = b""
        self._at_end = False
        self._coming: asyncio.Future[str | None] | None = None

    async def read(self) -> str | None:
        """Returns the next line that is not blank, stripped; None at the end, and for `/quit`."""
        # The caller can be cancelled while the thread reads; the line then waits for the next caller.
        self._coming = self._coming or _in_thread(self._next)
        line = await asyncio.shield(self._coming)
        self._coming = None
        return line

    def _next(self) -> str | None:
        while (line := self._line()) is not None:
            if text := line.decode("utf-8", "replace").strip():
                return None if text.lower() in _LEAVING else text
        return None

    def _line(self) -> bytes | None:
        """The next line without its end; None at the end of the input."""
        while b"\n" not in self._buffer and not self._at_end:
            chunk = self._chunk()
            self._at_end = not chunk
            self._buffer += chunk
        if not self._buffer:
            return None
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _chunk(self) -> bytes:
        try:
            return os.read(self._descriptor, _CHUNK_BYTES)
        except OSError:  # the terminal hung up: the input ends here
            return b""


class _Interrupted(Exception):
    """Ctrl-C at the prompt."""


class PromptInput:
    """A person at a prompt, which is on standard error so that standard output has nothing but answers.

    Ctrl-D and `/quit` leave. Ctrl-C discards what was typed, or leaves if nothing was typed.
    """

    def __init__(self, stdin: TextIO, stderr: TextIO) -> None:
        self._session: PromptSession[str] = PromptSession(
            "> ",
            history=InMemoryHistory(),
            interrupt_exception=_Interrupted,
            input=create_input(stdin),
            output=create_output(stderr),
        )
        self.shown = asyncio.Event()
        """Set when the prompt is visible for the first time."""
        self._session.app.after_render += self._on_render

    def _on_render(self, _: object) -> None:
        self.shown.set()

    async def read(self) -> str | None:
        """Returns what the person sent with Enter, stripped, never blank (a paste can have several lines); None on
        leaving.
        """
        while True:
            try:
                # In raw mode Ctrl-C is a key; the handler of SIGINT belongs to whoever runs the terminal.
                text = await self._session.prompt_async(handle_sigint=False, set_exception_handler=False)
            except EOFError:
                return None
            except _Interrupted:
                if not self._session.default_buffer.text:
                    return None
                continue
            if typed := text.strip():
                return None if typed.lower() in _LEAVING_AT_PROMPT else typed


class TerminalWriter:
    """Writes whole texts, in order, above an open prompt; see `PipedInput` for why not through the stream."""

    def __init__(self, stream: TextIO) -> None:
        self._descriptor = stream.fileno()
        self._encoding = stream.encoding
        self._turn = asyncio.Lock()

    async def write(self, text: str) -> None:
        """Writes all of it.

        Raises:
            OSError: it cannot be written; part of it may have been.
        """
        data = memoryview(text.encode(self._encoding, "replace"))
        async with self._turn, in_terminal():
            await _in_thread(partial(self._write, data))

    async def write_quietly(self, text: str) -> None:
        """Writes it if possible; remarks beside the answers must not prevent them."""
        with suppress(OSError):
            await self.write(text)

    def _write(self, data: memoryview) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]


def _in_thread(work: Callable[[], _T]) -> asyncio.Future[_T]:
    """Returns what `work` returns, or the OSError it raises, from a thread that never keeps the process from exiting.

    (The loop's own executor is waited for at exit: a read from a silent pipe would block that for ever.)
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_T] = loop.create_future()

    def settle(settled: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed, so nobody waits
            loop.call_soon_threadsafe(lambda: None if future.done() else settled())

    def run() -> None:
        try:
            outcome = work()
        except OSError as error:
            settle(partial(future.set_exception, error))
        else:
            settle(partial(future.set_result, outcome))

    threading.Thread(target=run, name="terminal", daemon=True).start()
    return future
