"""The terminal as a way to people: lines come in, answers go to standard output, all else to standard error.

Three kinds of input, chosen by what it is given: one fixed text (`once`), a prompt if a person is at a terminal, or
else the lines of a pipe or file. The next message is taken only after the previous one was answered, so a person can
read before writing and a script gets its answers in order. This transport doubles for Signal's in tests, and ships.

The streams are read and written by their descriptors, in threads that keep no process from exiting: an event loop can
wait for pipes but not for files, and a buffered stream has a lock, which a thread may hold while the interpreter exits.
"""

import asyncio
import itertools
import json
import os
import tempfile
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from io import FileIO
from pathlib import Path
from typing import TextIO, TypeVar

from prompt_toolkit import PromptSession
from prompt_toolkit.application import in_terminal
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input.defaults import create_input
from prompt_toolkit.output.defaults import create_output
from pydantic import BaseModel, ValidationError

from bot.clock import Clock
from bot.errors import TooSlow, Undeliverable, Unfetchable
from bot.events import (
    TERMINAL_PERSON,
    WHOLE_ANSWER,
    ChatId,
    Envelope,
    Event,
    File,
    Incoming,
    Kind,
    Removal,
    Reply,
    SentId,
    Style,
    Styled,
)
from bot.invocation import command_line
from bot.signal.envelope import is_command
from bot.signal.protocol import ModelAnswered, ModelFailed, Progress, StreamState, ToolStarted
from tools import shorten

ACCOUNT = "terminal"
SHOWN_RESULT_CHARS = 200
"""How many characters of a tool's result a line shows."""
_SHOWN_NAME_CHARS = 60
_TEXTS = frozenset({"application/json", "text/plain", "text/csv"})
_INDICATOR, _INDICATOR_GONE = "…", "\r\x1b[K"
_ANSI_CODES = {Style.BOLD: "1", Style.ITALIC: "3", Style.STRIKETHROUGH: "9"}
_LEAVING = frozenset({"/quit", "/exit", "/bye", "/q", "/ende", "/beenden", "/quitter", "/sortir", "/salir"})
"""Words that leave, alone on a line."""
_LEAVING_AT_PROMPT = _LEAVING | {"quit", "exit"}
"""Words that leave at a prompt; in a file they are lines like any other."""

# A web page quoted in an answer could otherwise move the cursor, rewrite lines or retitle the window.
_CONTROLS = {code: "�" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
_T = TypeVar("_T")


class Terminal:
    """One conversation of one person with standard input and output.

    `conversation` names it; `once` is a single text to answer instead of reading `stdin`. `verbosity` 0 shows tool
    calls and models that fail, 1 also results and which model answered in place of another, 2 also timings, tokens and
    cost. The streams must be real files, pipes or terminals.
    """

    account = ACCOUNT
    number: str | None = None

    def __init__(
        self,
        *,
        stdin: TextIO,
        stdout: TextIO,
        stderr: TextIO,
        conversation: str = "default",
        once: str | None = None,
        verbosity: int = 0,
        clock: Clock | None = None,
    ) -> None:
        self._chat = ChatId.direct(conversation)
        self._verbosity = verbosity
        self._clock = clock or Clock()
        self.is_interactive = once is None and stdin.isatty() and stderr.isatty()
        """Whether a person is there, who sees failures."""
        can_draw = os.environ.get("TERM") != "dumb"  # an editor's shell would show control sequences as they are
        self._draws = self.is_interactive and can_draw
        lines = _lines(stdin.fileno()) if once is None else filter(str.strip, (once,))
        self._lines = _Prompt(stdin, stderr) if self._draws else _Lines(lines)
        self.first_message: asyncio.Future[str | None] | None = None
        """What is being typed since `show_prompt`; None if no person is at a terminal."""
        self._answers, self._notes = _Writer(stdout), _Writer(stderr)
        self._painted = stdout.isatty() and can_draw
        self._last_sent_at = 0
        self.stream = StreamState(is_open=True)
        self._current: Envelope | None = None
        self._read = set[int]()  # the times of all lines: a yes has its answer in that to the question before it
        self._answered = asyncio.Event()
        self._over = asyncio.Event()
        self._indicated = False
        self.failed = False
        """Whether any reply reported a failure or could not be written."""

    async def show_prompt(self) -> None:
        """Lets the person start typing before messages are asked for; returns when the prompt is visible, or never will
        be.

        Does nothing if nobody is at a terminal.
        """
        if isinstance(self._lines, _Prompt):
            self.first_message = asyncio.ensure_future(self._lines.read())
            shown = asyncio.ensure_future(self._lines.shown.wait())
            await asyncio.wait((self.first_message, shown), return_when=asyncio.FIRST_COMPLETED)
            shown.cancel()

    async def envelopes(self) -> AsyncGenerator[Envelope]:
        """Yields the messages, each after the previous one was answered; ends with the input or its reader.

        When called again after a failure, it begins with the message that was not answered yet, so that none is lost.
        """
        while not self._over.is_set() and (envelope := await self._unanswered()) is not None:
            yield envelope
            await self._answered.wait()
        self.stop_receiving()

    def stop_receiving(self) -> None:
        """Stops taking messages; `envelopes` ends at once."""
        self.stream.is_open = False
        self._over.set()
        self._answered.set()

    def event(self, envelope: Envelope) -> Event | None:
        """Returns the message in the envelope, or None if it is not from this transport."""
        with suppress(ValidationError):
            frame, chat = _Frame.model_validate_json(envelope.raw), envelope.chat
            if chat is not None:
                sent_at = SentId(frame.timestamp)
                return Incoming(author=TERMINAL_PERSON, name=None, chat=chat, sent_at=sent_at, text=frame.text)
        return None

    async def send(self, reply: Reply) -> SentId:
        """Writes the answer; waits as long as the reader of standard output makes it wait, like any program in a pipe.

        What was written stays; an edit is written below it, and a line on standard error says so.

        Raises:
            Undeliverable: nobody reads standard output any more; `envelopes` ends.
        """
        self.failed = self.failed or not reply.ok
        await self._hide_indicator()
        if reply.chat != self._chat:
            await self._note(f"· an answer in the conversation {reply.chat.removeprefix('direct:')}:")
        if reply.edits is not None:
            await self._note("· the answer was changed:")
        try:
            if all(file.name != WHOLE_ANSWER for file in reply.files):  # which begins with the same words
                await self._answers.write(self._shown(reply.content) + "\n")
            for file in reply.files:
                await self._hand_over(file)
        except OSError as error:
            self.failed = True
            self.stop_receiving()
            raise Undeliverable("standard output is closed") from error
        if reply.last and not self._read.isdisjoint(reply.answers):
            self._answered.set()
        return self._next_sent_at()

    async def remove(self, removal: Removal) -> SentId:  # noqa: ARG002 - a terminal cannot show which one it was
        """Says that an answer was deleted; what was written stays on the screen."""
        await self._hide_indicator()
        await self._note("· an answer was deleted")
        return self._next_sent_at()

    async def typing(self, chat: ChatId, *, started: bool) -> None:
        """Shows a small sign while an answer is being written, if a person is at the terminal."""
        if not started:
            await self._hide_indicator()
        elif self._draws and chat == self._chat and self._waiting and not self._indicated:
            self._indicated = True
            await self._remark(_INDICATOR)

    async def progress(self, chat: ChatId, progress: Progress) -> None:
        """Writes a line on standard error for a step of this conversation, if the verbosity asks for it."""
        line = progress_line(progress, self._verbosity)
        if line is not None and chat == self._chat:
            await self._hide_indicator()
            await self._note(line)

    async def react(self, *_: object, **__: object) -> None:
        """Does nothing: lines cannot be marked, and no file is kept."""

    async def attachment(self, *_: object, **__: object) -> bytes:
        """Has none to return."""
        raise Unfetchable("no file comes this way")

    discard = react

    async def aclose(self) -> None:
        """Stops taking messages; an open prompt is removed, and further output begins on a new line."""
        self.stop_receiving()
        reading, self.first_message = self.first_message, None
        if reading is not None and not reading.done():
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await self._note("")

    @property
    def _waiting(self) -> bool:
        """Whether a message was passed on and not answered yet."""
        return self._current is not None and not self._answered.is_set()

    async def _unanswered(self) -> Envelope | None:
        """The message to pass on now: the one still waiting for its answer, or else the next; None at the end."""
        if not self._waiting:
            text = await self._line()
            if text is None:
                return None
            self.stream.heard_at = time.monotonic()
            self._current = self._envelope(text)
            self._read.add(self._current.sent_at)
            self._answered.clear()
        return self._current

    async def _line(self) -> str | None:
        """The next message; None at the end of the input, and when no more are to be taken."""
        reading = self.first_message or asyncio.ensure_future(self._lines.read())
        self.first_message = None
        over = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait((reading, over), return_when=asyncio.FIRST_COMPLETED)
            return reading.result() if reading.done() else None
        finally:
            for task in (reading, over):
                task.cancel()
            await asyncio.wait((reading, over))

    def _envelope(self, text: str) -> Envelope:
        sent_at = self._next_sent_at()
        # An argument or a paste in a wrong encoding can contain lone surrogates.
        encodable = text.encode("utf-8", "replace").decode()
        return Envelope(
            account=ACCOUNT,
            author=TERMINAL_PERSON,
            number=None,
            device=1,
            sent_at=sent_at,
            kind=Kind.MESSAGE,
            chat=self._chat,
            raw=json.dumps({"text": encodable, "timestamp": sent_at}, ensure_ascii=False),
            is_command=is_command(text),
        )

    def _next_sent_at(self) -> SentId:
        """The time in milliseconds, later than all before: an id must not be given twice."""
        self._last_sent_at = max(self._last_sent_at + 1, int(self._clock.wall().timestamp() * 1000))
        return SentId(self._last_sent_at)

    async def _hand_over(self, file: File) -> None:
        """Saves a file for a person at a terminal; writes a text out for a program, or if it is the answer itself."""
        place, is_saved = file.name, self._painted and file.name != WHOLE_ANSWER
        if is_saved:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="aldis-"))
            place = str(folder / file.name)
            await asyncio.to_thread(Path(place).write_bytes, file.data)
        await self._note(f"· a file: {place}, {len(file.data)} bytes")
        if not is_saved and file.content_type in _TEXTS:
            await self._answers.write(self._shown(Styled(text=file.data.decode("utf-8", "replace"))) + "\n")

    def _shown(self, content: Styled) -> str:
        """The text for output: at a terminal styled, elsewhere as it is."""
        return paint(content) if self._painted else content.text

    async def _hide_indicator(self) -> None:
        if self._indicated:
            self._indicated = False
            await self._remark(_INDICATOR_GONE)

    async def _note(self, line: str) -> None:
        await self._remark(line.translate(_CONTROLS) + "\n")

    async def _remark(self, text: str) -> None:
        """Writes beside the answers, which it must not prevent."""
        with suppress(OSError):
            await self._notes.write(text)


def paint(content: Styled) -> str:
    """Returns the text with bold, italic and struck-through ranges as ANSI codes, without its own control
    characters.
    """
    units = content.text.translate(_CONTROLS).encode("utf-16-le", "replace")
    ends = [(span.start, span.start + span.length, _ANSI_CODES.get(span.style)) for span in content.styles]
    edges = sorted({0, len(units) // 2, *(edge for start, end, _ in ends for edge in (start, end))})
    parts: list[str] = []
    for start, end in itertools.pairwise(edges):
        text = units[2 * start : 2 * end].decode("utf-16-le", "replace")
        here = {code for first, last, code in ends if code and first <= start < last}
        parts.append(f"\x1b[{';'.join(sorted(here))}m{text}\x1b[0m" if here else text)
    return "".join(parts)


def progress_line(progress: Progress, verbosity: int) -> str | None:
    """Returns the line for a step, or None if the verbosity does not ask for it (see `Terminal`)."""
    if isinstance(progress, ToolStarted):
        return f"· {_shown_name(progress.name)} {progress.arguments}"
    if isinstance(progress, ModelFailed):
        # Whoever is here can fix what people in Signal cannot.
        if progress.error == TooSlow.__name__:
            names = "LLM__TIMEOUT_SECONDS and WORKER__TURN_TIMEOUT_SECONDS"
            return f"· {progress.provider} did not answer in time: {names} give a slow model longer"
        doctor = command_line("doctor")
        return f"· {progress.provider} did not answer ({progress.error}): `{doctor}` looks for what is wrong"
    timing = f" ({progress.latency_seconds:.2f} s)" if verbosity > 1 else ""
    if isinstance(progress, ModelAnswered):
        if verbosity < 2:  # noqa: PLR2004 -- the number of v's in -vv
            who = f"· answered by {progress.provider} {progress.model}; {progress.instead_of} did not"
            return who if verbosity and progress.instead_of else None
        tokens = f"{progress.input_tokens} tokens in, {progress.output_tokens} out"
        return f"· {progress.provider} {progress.model}: {tokens}, {progress.cost_usd} USD{timing}"
    shown = shorten(progress.content, SHOWN_RESULT_CHARS)
    return f"  {_shown_name(progress.name)} → {shown}{timing}" if verbosity else None


class _Frame(BaseModel):
    """A message as the inbox stores it."""

    text: str
    timestamp: int


def _shown_name(tool: str) -> str:
    """The name on part of a line: a model may have made it up."""
    return shorten(" ".join(tool.split()), _SHOWN_NAME_CHARS)


class _Lines:
    """Messages that need no person: one at a time, as they are asked for."""

    def __init__(self, texts: Iterator[str]) -> None:
        self._texts = texts
        self._coming: asyncio.Future[str | None] | None = None

    async def read(self) -> str | None:
        """Returns the next message; None at the end."""
        # The caller can be cancelled while the thread reads; the line then waits for the next caller.
        self._coming = self._coming or _in_thread(partial(next, self._texts, None))
        text = await asyncio.shield(self._coming)
        self._coming = None
        return text


def _lines(descriptor: int) -> Iterator[str]:
    """The lines of a pipe or file that are not blank, stripped; up to its end, or a word that leaves."""
    with suppress(OSError):  # the terminal hung up: the input ends here
        for line in iter(FileIO(descriptor, closefd=False).readline, b""):
            text = line.decode("utf-8", "replace").strip()
            if text.lower() in _LEAVING:
                return
            if text:
                yield text


class _Interrupted(Exception):
    """Ctrl-C at the prompt."""


class _Prompt:
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
                # In raw mode Ctrl-C is a key; the handler of SIGINT belongs to the program around the terminal.
                text = await self._session.prompt_async(handle_sigint=False, set_exception_handler=False)
            except EOFError:
                return None
            except _Interrupted:
                if not self._session.default_buffer.text:
                    return None
                continue
            if typed := text.strip():
                return None if typed.lower() in _LEAVING_AT_PROMPT else typed


class _Writer:
    """Writes whole texts, in order, above an open prompt."""

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

    def _write(self, data: memoryview) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]


def _in_thread(work: Callable[[], _T]) -> asyncio.Future[_T]:
    """Returns what `work` returns, or the OSError it raises, from a thread that never keeps the process from exiting.

    (The loop's own executor is waited for at exit: a read from a silent pipe would block that for ever.)
    """
    future = Future[_T]()

    def run() -> None:
        future.set_running_or_notify_cancel()
        try:
            future.set_result(work())
        except OSError as error:
            future.set_exception(error)

    threading.Thread(target=run, name="terminal", daemon=True).start()
    return asyncio.wrap_future(future)
