"""The terminal as a way to people: lines come in, answers go to standard output, all else to standard error.

Three kinds of input, chosen by what it is given: one fixed text (`once`), a prompt if a person is at a terminal, or
else the lines of a pipe or file. The next message is taken only after the previous one was answered, so a person can
read before writing and a script gets its answers in order; a person who sees results (`-v`) can write meanwhile, to
correct or stop the answer. This transport doubles for Signal's in tests, and ships.
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
from prompt_toolkit.input.defaults import create_input
from prompt_toolkit.output.defaults import create_output

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

_RESULT_CHARS, _NAME_CHARS = 200, 60
"""How many characters of a tool's result and name a line shows."""
_TEXTS = frozenset({"application/json", "text/plain", "text/csv"})
_ANSI_CODES = {Style.BOLD: "1", Style.ITALIC: "3", Style.STRIKETHROUGH: "9"}
_LEAVING = frozenset({"/quit", "/exit", "/bye", "/q", "/ende", "/beenden", "/quitter", "/sortir", "/salir"})
"""Words that leave, alone on a line; at a prompt also `quit` and `exit`."""

# A web page quoted in an answer could otherwise move the cursor, rewrite lines or retitle the window.
_CONTROLS = {code: "�" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
_T = TypeVar("_T")


class Terminal:
    """One conversation of one person with standard input and output, which must be real files, pipes or terminals.

    `conversation` names it; `once` is a single text to answer instead of reading `stdin`. `verbosity` 0 shows tool
    calls and models that fail, 1 also results and which model answered in place of another, 2 also timings, tokens and
    cost.
    """

    account = "terminal"
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
        self._chat, self._verbosity, self._clock = ChatId.direct(conversation), verbosity, clock or Clock()
        self._stdout, self._stderr, self._writing = stdout, stderr, {stdout: asyncio.Lock(), stderr: asyncio.Lock()}
        self.is_interactive = once is None and stdin.isatty() and stderr.isatty()
        """Whether a person is there, who sees failures."""
        can_draw = os.environ.get("TERM") != "dumb"  # an editor's shell would show control sequences as they are
        self._draws = self.is_interactive and can_draw
        self._painted = stdout.isatty() and can_draw
        self._prompt: PromptSession[str] | None = None
        if self._draws:  # on standard error, so that standard output has nothing but answers
            keys, screen = create_input(stdin), create_output(stderr)
            self._prompt = PromptSession("> ", input=keys, output=screen)
        self._stays_open = self._draws and verbosity > 0
        """Whether the prompt takes messages while one is answered."""
        self.stop_answers: Callable[[], bool] = lambda: False
        """Called on Ctrl-C at the prompt; returns whether there was an answer to stop."""
        self._lines = _lines(stdin.fileno()) if once is None else filter(str.strip, (once,))
        self._reading: asyncio.Future[str | None] | None = None
        """The next message, while it is typed or waited for."""
        self.stream = StreamState(is_open=True)
        self._current: Envelope | None = None
        """The message that was passed on and not answered yet."""
        self._read = set[int]()  # the times of all lines: a yes has its answer in that to the question before it
        self._answered = asyncio.Event()
        self._last_sent_at = 0
        self.failed = False
        """Whether any reply reported a failure or could not be written."""

    async def show_prompt(self) -> None:
        """Lets the person start typing before messages are asked for; returns once the prompt is visible, or never will
        be: with no person at a terminal at once.
        """
        if self._prompt is not None:
            shown = asyncio.Event()

            def on_shown(_: object) -> None:
                shown.set()

            self._prompt.app.after_render += on_shown
            self._reading = asyncio.ensure_future(self._typed(self._prompt))
            self._reading.add_done_callback(on_shown)
            await shown.wait()

    async def envelopes(self) -> AsyncGenerator[Envelope]:
        """Yields the messages, each after the previous one was answered, or at once where the prompt stays open; ends
        with the input or its reader.

        When called again after a failure, it begins with the message that was not answered yet, so that none is lost.
        """
        while self.stream.is_open:
            self._answered.clear()
            self._current = self._current or await self._next()
            if self._current is None:
                break
            yield self._current
            if self._stays_open:
                self._current = None
            else:
                await self._answered.wait()
        self.stop_receiving()

    def stop_receiving(self) -> None:
        """Stops taking messages; `envelopes` ends at once."""
        self.stream.is_open = False
        self._answered.set()
        if self._reading is not None:
            self._reading.cancel()

    def event(self, envelope: Envelope) -> Event | None:
        """Returns the message in the envelope, or None if it is not from this transport."""
        with suppress(ValueError, KeyError):
            if (chat := envelope.chat) is not None:
                text = str(json.loads(envelope.raw)["text"])
                return Incoming(author=TERMINAL_PERSON, name=None, chat=chat, sent_at=envelope.sent_at, text=text)
        return None

    async def send(self, reply: Reply) -> SentId:
        """Writes the answer; waits as long as the reader of standard output makes it wait, like any program in a pipe.

        What was written stays; an edit is written below it, and a line on standard error says so.

        Raises:
            Undeliverable: the reader of standard output is gone; `envelopes` ends.
        """
        self.failed = self.failed or not reply.ok
        if reply.chat != self._chat:
            await self._note(f"· an answer in the conversation {reply.chat.removeprefix('direct:')}:")
        if reply.edits is not None:
            await self._note("· the answer was changed:")
        try:
            if all(file.name != WHOLE_ANSWER for file in reply.files):  # which begins with the same words
                await self._write_answer(reply.content)
            for file in reply.files:
                await self._hand_over(file)
        except OSError as error:
            self.failed = True
            self.stop_receiving()
            raise Undeliverable("standard output is closed") from error
        if reply.last and not self._read.isdisjoint(reply.answers):
            self._current = None
            self._answered.set()
        return self._next_sent_at()

    async def remove(self, removal: Removal) -> SentId:  # noqa: ARG002 - a terminal cannot show which one it was
        """Says that an answer was deleted; what was written stays on the screen."""
        await self._note("· an answer was deleted")
        return self._next_sent_at()

    async def progress(self, chat: ChatId, progress: Progress) -> None:
        """Writes a line on standard error for a step of this conversation, if the verbosity asks for it."""
        line = progress_line(progress, self._verbosity)
        if line is not None and chat == self._chat:
            await self._note(line)

    async def react(self, *_: object, **__: object) -> None:
        """Does nothing: lines cannot be marked, no file is kept, and the prompt comes back with the answer."""

    async def attachment(self, *_: object, **__: object) -> bytes:
        """Has none to return."""
        raise Unfetchable("no file comes this way")

    discard = typing = react

    async def aclose(self) -> None:
        """Stops taking messages; an open prompt is removed, and further output begins on a new line."""
        self.stop_receiving()
        if self._draws and self._reading is not None:
            await asyncio.wait((self._reading,))
            await self._note("")

    async def _next(self) -> Envelope | None:
        """The next message; None at the end of the input, and when no more are to be taken."""
        # The caller can be cancelled meanwhile: what is read then waits for the next one.
        if self._reading is None:
            read = self._typed(self._prompt) if self._prompt else _in_thread(partial(next, self._lines, None))
            self._reading = asyncio.ensure_future(read)
        await asyncio.wait((self._reading,))
        reading, self._reading = self._reading, None
        text = None if reading.cancelled() else reading.result()
        if text is None:
            return None
        self.stream.heard_at = time.monotonic()
        sent_at = self._next_sent_at()
        self._read.add(sent_at)
        # An argument or a paste in a wrong encoding can contain lone surrogates.
        encodable = text.encode("utf-8", "replace").decode()
        return Envelope(
            account=self.account,
            author=TERMINAL_PERSON,
            number=None,
            device=1,
            sent_at=sent_at,
            kind=Kind.MESSAGE,
            chat=self._chat,
            raw=json.dumps({"text": encodable}, ensure_ascii=False),
            is_command=is_command(text),
        )

    async def _typed(self, prompt: PromptSession[str]) -> str | None:
        """What the person sent with Enter, stripped, never blank (a paste can have several lines); None on leaving.

        Ctrl-D and `/quit` leave. Ctrl-C discards what was typed and stops the answer, or leaves if there is neither.
        """
        while True:
            try:
                # In raw mode Ctrl-C is a key; the handler of SIGINT belongs to the program around the terminal.
                text = (await prompt.prompt_async(handle_sigint=False, set_exception_handler=False)).strip()
            except KeyboardInterrupt:
                if not self.stop_answers() and not prompt.default_buffer.text:
                    return None
            except EOFError:
                return None
            else:
                if text:
                    return None if text.lower() in _LEAVING | {"quit", "exit"} else text

    def _next_sent_at(self) -> SentId:
        """The time in milliseconds, later than all before: an id must not be given twice."""
        self._last_sent_at = max(self._last_sent_at + 1, int(self._clock.now().timestamp() * 1000))
        return SentId(self._last_sent_at)

    async def _hand_over(self, file: File) -> None:
        """Saves a file for a person at a terminal; writes a text out for a program, or if it is the answer itself."""
        place, is_saved = Path(file.name), self._painted and file.name != WHOLE_ANSWER
        if is_saved:
            place = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="aldis-")) / file.name
            await asyncio.to_thread(place.write_bytes, file.data)
        await self._note(f"· a file: {place}, {len(file.data)} bytes")
        if not is_saved and file.content_type in _TEXTS:
            await self._write_answer(Styled(text=file.data.decode("utf-8", "replace")))

    async def _write_answer(self, content: Styled) -> None:
        """Writes a text to standard output, at a terminal styled."""
        await self._write(self._stdout, (paint(content) if self._painted else content.text) + "\n")

    async def _note(self, line: str) -> None:
        """Writes a line beside the answers, which it must not prevent."""
        with suppress(OSError):
            await self._write(self._stderr, line.translate(_CONTROLS) + "\n")

    async def _write(self, stream: TextIO, text: str) -> None:
        """Writes all of a text, after those before it and above an open prompt."""
        data = text.encode(stream.encoding, "replace")
        async with self._writing[stream], in_terminal():
            await _in_thread(partial(_write_all, stream.fileno(), data))


def paint(content: Styled) -> str:
    """Returns the text with its styles as ANSI codes, as far as there are any, and without control characters."""
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
    if isinstance(progress, ModelFailed):
        # The person here can fix what people in Signal cannot.
        if progress.error == TooSlow.__name__:
            names = "LLM__TIMEOUT_SECONDS and WORKER__TURN_TIMEOUT_SECONDS"
            return f"· {progress.provider} did not answer in time: {names} give a slow model longer"
        doctor = command_line("doctor")
        return f"· {progress.provider} did not answer ({progress.error}): `{doctor}` looks for what is wrong"
    if isinstance(progress, ModelAnswered):
        who = f"{progress.provider} {progress.model}"
        if verbosity > 1:
            tokens = f"{progress.input_tokens} tokens in, {progress.output_tokens} out"
            return f"· {who}: {tokens}, {progress.cost_usd} USD ({progress.latency_seconds:.2f} s)"
        return f"· answered by {who}; {progress.instead_of} did not" if verbosity and progress.instead_of else None
    name = shorten(" ".join(progress.name.split()), _NAME_CHARS)  # a model may have made it up
    if isinstance(progress, ToolStarted):
        return f"· {name} {progress.arguments}"
    timing = f" ({progress.latency_seconds:.2f} s)" if verbosity > 1 else ""
    return f"  {name} → {shorten(progress.content, _RESULT_CHARS)}{timing}" if verbosity else None


def _lines(descriptor: int) -> Iterator[str]:
    """The lines of a pipe or file that are not blank, stripped; up to its end, or a word that leaves."""
    with suppress(OSError):  # the terminal hung up: the input ends here
        for line in iter(FileIO(descriptor, closefd=False).readline, b""):
            text = line.decode("utf-8", "replace").strip()
            if text.lower() in _LEAVING:
                return
            if text:
                yield text


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _in_thread(work: Callable[[], _T]) -> asyncio.Future[_T]:
    """Returns what `work` returns, or the OSError it raises, from a thread that never keeps the process from exiting.

    An event loop can wait for pipes but not for files, its own executor is waited for at exit, which a read from a
    silent pipe would block for ever, and a buffered stream has a lock, which a thread may hold then.
    """
    future = Future[_T]()

    def run() -> None:
        try:
            future.set_result(work())
        except OSError as error:
            future.set_exception(error)

    future.set_running_or_notify_cancel()
    threading.Thread(target=run, name="terminal", daemon=True).start()
    return asyncio.wrap_future(future)
