"""The terminal as a way to people: lines come in, answers go to standard output, all else to standard error.

Three kinds of input, chosen by what it is given: one fixed text (`once`), a prompt if a person is at a terminal, or
else the lines of a pipe or file. The next message is taken only after the previous one was answered, so a person can
read before writing and a script gets its answers in order. This transport doubles for Signal's in tests, and ships.
"""

import asyncio
import itertools
import json
import os
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import TextIO

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
from bot.terminal.streams import Once, PipedInput, PromptInput, TerminalWriter
from tools import shorten

ACCOUNT = "terminal"
SHOWN_RESULT_CHARS = 200
"""How many characters of a tool's result a line shows."""
_SHOWN_NAME_CHARS = 60
_TEXTS = frozenset({"application/json", "text/plain", "text/csv"})
_INDICATOR, _INDICATOR_GONE = "…", "\r\x1b[K"
_ANSI_CODES = {Style.BOLD: "1", Style.ITALIC: "3", Style.STRIKETHROUGH: "9"}

# A web page quoted in an answer could otherwise move the cursor, rewrite lines or retitle the window.
_CONTROLS = {code: "�" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


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
        self._lines: Once | PromptInput | PipedInput
        if once is not None:
            self._lines = Once(once)
        else:
            self._lines = PromptInput(stdin, stderr) if self._draws else PipedInput(stdin)
        self.first_message: asyncio.Future[str | None] | None = None
        """What is being typed since `show_prompt`; None if nobody is at a terminal."""
        self._answers, self._notes = TerminalWriter(stdout), TerminalWriter(stderr)
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
        if isinstance(self._lines, PromptInput):
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
        self._end()

    def stop_receiving(self) -> None:
        """Stops taking messages; `envelopes` ends at once."""
        self._end()

    def event(self, envelope: Envelope) -> Event | None:
        """Returns the message in the envelope, or None if it is not from this transport."""
        try:
            frame = _Frame.model_validate_json(envelope.raw)
        except ValidationError:
            return None
        if envelope.chat is None:
            return None
        return Incoming(
            author=TERMINAL_PERSON, name=None, chat=envelope.chat, sent_at=SentId(frame.timestamp), text=frame.text
        )

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
            self._end()
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
            await self._notes.write_quietly(_INDICATOR)

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

    def _end(self) -> None:
        self.stream.is_open = False
        self._over.set()
        self._answered.set()

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
        if self._painted and file.name != WHOLE_ANSWER:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="aldis-"))
            await asyncio.to_thread((folder / file.name).write_bytes, file.data)
            await self._note(f"· a file: {folder / file.name}, {len(file.data)} bytes")
            return
        await self._note(f"· a file: {file.name}, {len(file.data)} bytes")
        if file.content_type in _TEXTS:
            await self._answers.write(self._shown(Styled(text=file.data.decode("utf-8", "replace"))) + "\n")

    def _shown(self, content: Styled) -> str:
        """The text for output: at a terminal styled, elsewhere as it is."""
        return paint(content) if self._painted else content.text

    async def _hide_indicator(self) -> None:
        if self._indicated:
            self._indicated = False
            await self._notes.write_quietly(_INDICATOR_GONE)

    async def _note(self, line: str) -> None:
        await self._notes.write_quietly(line.translate(_CONTROLS) + "\n")


def paint(content: Styled) -> str:
    """Returns the text with bold, italic and struck-through ranges as ANSI codes, without its own control
    characters.
    """
    units = content.text.translate(_CONTROLS).encode("utf-16-le", "replace")
    edges = {0, len(units) // 2}
    edges.update(edge for span in content.styles for edge in (span.start, span.start + span.length))
    ordered = sorted(edges)
    parts: list[str] = []
    for start, end in itertools.pairwise(ordered):
        text, codes = units[2 * start : 2 * end].decode("utf-16-le", "replace"), _codes_at(content, start)
        parts.append(f"\x1b[{codes}m{text}\x1b[0m" if codes else text)
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


def _codes_at(content: Styled, position: int) -> str:
    """The ANSI codes of the styles at a position in UTF-16 code units; empty if there are none."""
    styles = {span.style for span in content.styles if span.start <= position < span.start + span.length}
    return ";".join(code for style, code in _ANSI_CODES.items() if style in styles)
