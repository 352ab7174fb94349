"""The terminal as a transport, over real pipes, files and pseudo-terminals."""

import asyncio
import json
import os
import pty
import re
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.clock import SetClock
from bot.errors import Undeliverable
from bot.events import (
    WHOLE_ANSWER,
    ChatId,
    Envelope,
    File,
    Incoming,
    Kind,
    PersonId,
    Removal,
    Reply,
    SentId,
    Style,
    Styled,
    StyleRange,
)
from bot.invocation import VARIABLE
from bot.signal.protocol import ModelAnswered, ModelFailed, Progress, ToolEnded, ToolStarted, Transport
from bot.terminal.transport import Terminal, paint, progress_line
from tests.waiting import WAIT_SECONDS

START = datetime(2026, 11, 21, 22, 40, tzinfo=UTC)
START_MS = int(START.timestamp() * 1000)

STARTED = ToolStarted(name="get_weather", arguments='{"place": "Paris"}')
ENDED = ToolEnded(name="get_weather", content='{"ok": true}', ok=True, latency_seconds=0.25)
MODEL = ModelAnswered(
    provider="offline", model="offline", input_tokens=12, output_tokens=3, cost_usd="0", latency_seconds=1.5
)
FAILED = ModelFailed(provider="openai", error="Unavailable")


class Desk:
    """A terminal on fresh pipes: `feed` writes its input, `out` and `err` are what it wrote since last asked."""

    def __init__(self) -> None:
        (stdin, self.input_end), (self.output_end, stdout), (self.error_end, stderr) = os.pipe(), os.pipe(), os.pipe()
        self.streams: dict[str, Any] = {
            "stdin": os.fdopen(stdin),
            "stdout": os.fdopen(stdout, "w"),
            "stderr": os.fdopen(stderr, "w"),
        }
        self.clock = SetClock(START)

    def terminal(self, **options: Any) -> Terminal:
        return Terminal(clock=self.clock, **(self.streams | options))

    def feed(self, data: str | bytes, *, last: bool = False) -> None:
        os.write(self.input_end, data.encode() if isinstance(data, str) else data)
        if last:
            os.close(self.input_end)
            self.input_end = -1

    @property
    def out(self) -> str:
        return _written(self.output_end)

    @property
    def err(self) -> str:
        return _written(self.error_end)


def _written(descriptor: int) -> str:
    os.set_blocking(descriptor, False)
    with suppress(BlockingIOError):
        return os.read(descriptor, 1_000_000).decode()
    return ""


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    for descriptor in (desk.input_end, desk.output_end, desk.error_end):
        with suppress(OSError):  # the test closed it
            os.close(descriptor)
    for stream in desk.streams.values():
        stream.close()


def answer_to(envelope: Envelope, text: str = "fine", **changes: Any) -> Reply:
    assert envelope.chat is not None
    return replace(Reply(chat=envelope.chat, content=Styled(text=text), answers=(envelope.sent_at,)), **changes)


def text_of(terminal: Terminal, envelope: Envelope) -> str:
    event = terminal.event(envelope)
    assert isinstance(event, Incoming)
    return event.text


async def given_by(envelopes: AsyncIterator[Envelope]) -> Envelope:
    async with asyncio.timeout(WAIT_SECONDS):
        return await anext(envelopes)


async def texts_of(terminal: Terminal) -> list[str]:
    texts: list[str] = []
    async with asyncio.timeout(WAIT_SECONDS):
        async for envelope in terminal.envelopes():
            texts.append(text_of(terminal, envelope))
            await terminal.send(answer_to(envelope))
    return texts


async def blocked(awaitable: asyncio.Task[Any]) -> bool:
    """Whether the task waits although everything that was ready has run."""
    for _ in range(20):
        await asyncio.sleep(0)
    return not awaitable.done()


async def test_one_text_is_one_message_and_its_answer(desk: Desk) -> None:
    """`once`: the answer alone is on standard output; a broken frame is no event, and no half character gets on."""
    terminal: Transport = (concrete := desk.terminal(once="What is 2+2?", conversation="maths"))
    envelopes = terminal.envelopes()
    envelope = await given_by(envelopes)
    assert (envelope.account, envelope.author, envelope.number) == (terminal.account, PersonId("you"), None)
    assert (envelope.chat, envelope.sent_at, envelope.kind) == (ChatId("direct:maths"), START_MS, Kind.MESSAGE)
    assert json.loads(envelope.raw) == {"text": "What is 2+2?"}
    assert terminal.event(envelope) == Incoming(
        author=PersonId("you"), name=None, chat=ChatId("direct:maths"), sent_at=SentId(START_MS), text="What is 2+2?"
    )
    await terminal.send(answer_to(envelope, "4"))
    with pytest.raises(StopAsyncIteration):
        await given_by(envelopes)
    assert (desk.out, desk.err, concrete.failed) == ("4\n", "", False)
    broken = (replace(envelope, raw="{"), replace(envelope, raw="{}"), replace(envelope, chat=None))
    assert [terminal.event(one) for one in broken] == [None, None, None]
    assert await texts_of(desk.terminal(once="caf\udce9")) == ["caf?"]


async def test_changes_deletions_and_files_are_lines_beside_the_answers(desk: Desk) -> None:
    """New words come below a line that says so; a picture is named on standard error, a text stands below."""
    terminal = desk.terminal(once="When?")
    envelope = await given_by(terminal.envelopes())
    first = await terminal.send(answer_to(envelope, "In April."))
    second = await terminal.send(answer_to(envelope, "In May.", edits=first))
    assert (desk.out, desk.err) == ("In April.\nIn May.\n", "· the answer was changed:\n")
    removed = await terminal.remove(Removal(chat=ChatId("direct:default"), target=second))
    assert (desk.out, desk.err) == ("", "· an answer was deleted\n")
    assert first < second < removed
    picture = File(name="spent.png", content_type="image/png", data=b"\x89PNG")
    export = File(name="export.json", content_type="application/json", data='{"ä": 1}'.encode())
    await terminal.send(answer_to(envelope, "All of it.", files=(picture, export)))
    assert desk.out == 'All of it.\n{"ä": 1}\n'
    assert desk.err == "· a file: spent.png, 4 bytes\n· a file: export.json, 9 bytes\n"


async def test_lines_of_a_pipe_or_file_are_messages(desk: Desk, tmp_path: Path) -> None:
    """Each that is not blank, stripped, of any length, with no end or no UTF-8; `< file` works as a pipe does."""
    desk.feed(b"first\n\n   \n second \r\n" + b"caf\xe9\nlast", last=True)
    assert await texts_of(desk.terminal()) == ["first", "second", "caf\ufffd", "last"]
    long = "x" * 200_000
    (tmp_path / "lines").write_text(f"{long}\nsecond\n")
    with (tmp_path / "lines").open() as stdin:
        assert await texts_of(desk.terminal(stdin=stdin)) == [long, "second"]


async def test_the_next_line_waits_for_the_answer(desk: Desk) -> None:
    """A line is handed on when the one before was answered in full: by its last part, not by one to something else."""
    desk.feed("one\ntwo\n", last=True)
    terminal = desk.terminal()
    envelopes = terminal.envelopes()
    one = await given_by(envelopes)
    coming = asyncio.ensure_future(given_by(envelopes))
    await terminal.send(answer_to(one, "part 1", last=False))
    await terminal.send(answer_to(one, "to another", answers=(SentId(1),)))
    await terminal.send(answer_to(one, "a reminder", answers=()))
    assert await blocked(coming)
    await terminal.send(answer_to(one, "part 2"))
    assert text_of(terminal, await coming) == "two"
    assert desk.out == "part 1\nto another\na reminder\npart 2\n"


async def test_ids_only_grow_and_what_was_not_answered_comes_again(desk: Desk) -> None:
    """No two share one, in one millisecond or with the clock set back; a stream opened anew loses nothing read."""
    desk.feed("one\ntwo\n", last=True)
    terminal = desk.terminal()
    first = await given_by(terminal.envelopes())
    ids: list[int] = []
    async for envelope in terminal.envelopes():
        assert ids or envelope == first
        ids += [envelope.sent_at, await terminal.send(answer_to(envelope))]
        desk.clock.move(-3600)
    assert ids == [START_MS, START_MS + 1, START_MS + 2, START_MS + 3]


async def test_a_closed_standard_output_is_the_end(desk: Desk) -> None:
    """The answer is undeliverable, no line is taken; before, a cancelled stream does not swallow the next line."""
    terminal = desk.terminal()
    waiting = asyncio.ensure_future(given_by(terminal.envelopes()))
    assert await blocked(waiting)
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    desk.feed("one\ntwo\n")
    envelopes = terminal.envelopes()
    one = await given_by(envelopes)
    assert text_of(terminal, one) == "one"
    os.close(desk.output_end)
    with pytest.raises(Undeliverable, match="standard output is closed"):
        await terminal.send(answer_to(one, "private words"))
    with pytest.raises(StopAsyncIteration):
        await given_by(envelopes)
    assert terminal.failed
    desk.output_end = os.dup(desk.input_end)


BOUNDS = "LLM__TIMEOUT_SECONDS and WORKER__TURN_TIMEOUT_SECONDS"
CUT = "r" * 199 + "…"
CALLED_AND_COST = "· offline offline: 12 tokens in, 3 out, 0 USD (1.50 s)"
SHOWN: tuple[tuple[Progress, list[str | None]], ...] = (
    (STARTED, ['· get_weather {"place": "Paris"}'] * 3),
    (replace(STARTED, name="look\n· done\n", arguments="{}"), ["· look · done {}"] * 3),
    (replace(STARTED, name="r" * 1000, arguments="{}"), [f"· {'r' * 59}… {{}}"] * 3),
    (replace(FAILED, error="TooSlow"), [f"· openai did not answer in time: {BOUNDS} give a slow model longer"] * 3),
    (FAILED, ["· openai did not answer (Unavailable): `aldis doctor` looks for what is wrong"] * 3),
    (ENDED, [None, '  get_weather → {"ok": true}', '  get_weather → {"ok": true} (0.25 s)']),
    (replace(ENDED, content="r" * 201), [None, f"  get_weather → {CUT}", f"  get_weather → {CUT} (0.25 s)"]),
    (MODEL, [None, None, CALLED_AND_COST]),
    (
        replace(MODEL, instead_of="anthropic claude"),
        [None, "· answered by offline offline; anthropic claude did not", CALLED_AND_COST],
    ),
)


def test_what_each_verbosity_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls and failures always, results from -v on and cut, timings, tokens and cost with -vv."""
    monkeypatch.setenv(VARIABLE, "aldis")
    for progress, lines in SHOWN:
        assert [progress_line(progress, verbosity) for verbosity in range(3)] == lines


async def test_progress_goes_to_standard_error(desk: Desk) -> None:
    """A line per call of this conversation, no trace of others; where no one reads it, nothing else is prevented."""
    terminal = desk.terminal(once="x")
    await terminal.progress(ChatId("direct:default"), replace(STARTED, arguments='{"place": "\x1b[2J\x9bParis"}'))
    await terminal.progress(ChatId("direct:other"), STARTED)
    await terminal.progress(ChatId("direct:default"), ENDED)
    await terminal.typing(ChatId("direct:default"), started=True)
    assert (desk.out, desk.err) == ("", '· get_weather {"place": "\ufffd[2J\ufffdParis"}\n')
    os.close(desk.error_end)
    await terminal.progress(ChatId("direct:default"), STARTED)
    await terminal.send(answer_to(await given_by(terminal.envelopes())))
    assert (desk.out, terminal.failed) == ("fine\n", False)
    desk.error_end = os.dup(desk.output_end)


PAINTED: tuple[tuple[str, list[tuple[int, int, Style]], str], ...] = (
    ("plain", [], "plain"),
    ("a bold word", [(2, 4, Style.BOLD)], "a \x1b[1mbold\x1b[0m word"),
    ("an italic", [(3, 6, Style.ITALIC)], "an \x1b[3mitalic\x1b[0m"),
    ("gone", [(0, 4, Style.STRIKETHROUGH)], "\x1b[9mgone\x1b[0m"),
    ("🎉 bold", [(3, 4, Style.BOLD)], "🎉 \x1b[1mbold\x1b[0m"),
    ("abc", [(0, 2, Style.BOLD), (1, 2, Style.ITALIC)], "\x1b[1ma\x1b[0m\x1b[1;3mb\x1b[0m\x1b[3mc\x1b[0m"),
    ("code, secret", [(0, 4, Style.MONOSPACE), (6, 6, Style.SPOILER)], "code, secret"),
    ("a\tb\nc\x1b[2J\x07\x9b\rd", [], "a\tb\nc\ufffd[2J\ufffd\ufffd\ufffdd"),
    ("", [], ""),
)


def test_styles_as_the_terminal_paints_them() -> None:
    """Bold, italic and struck through become codes by UTF-16 offsets; foreign control characters never get through."""
    for text, styles, painting in PAINTED:
        ranges = tuple(StyleRange(start=start, length=length, style=style) for start, length, style in styles)
        assert paint(Styled(text=text, styles=ranges)) == painting


class Screen:
    """A person at a pseudo-terminal: reads what is shown, types, and answers what a terminal answers by itself."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._news = asyncio.Event()
        self.shown = ""
        """All that came since what was last looked for, codes included."""
        os.set_blocking(descriptor, False)
        asyncio.get_running_loop().add_reader(descriptor, self._read)

    def _read(self) -> None:
        data = os.read(self._descriptor, 65_536).decode()
        if "\x1b[6n" in data:  # "where is the cursor?"
            self.types("\x1b[1;1R")
        self.shown += data
        self._news.set()

    def types(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    async def sees(self, text: str) -> str:
        async with asyncio.timeout(WAIT_SECONDS):
            while text not in self.shown:
                self._news.clear()
                await self._news.wait()
        before, _, self.shown = self.shown.partition(text)
        return before

    async def prompts(self) -> None:
        """Wait until a prompt takes keys: it switches bracketed paste on, then shows itself."""
        await self.sees("\x1b[?2004h")
        await self.sees(">")

    async def message(self, envelopes: AsyncIterator[Envelope], typed: str) -> Envelope:
        coming = asyncio.ensure_future(given_by(envelopes))
        await self.prompts()
        self.types(typed)
        return await coming

    def leave(self) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)


Sit = Callable[..., tuple[Terminal, Screen]]


@pytest.fixture
async def sit(desk: Desk) -> AsyncIterator[Sit]:
    """Sit down at a pseudo-terminal: standard input and error, and standard output where asked for, are on it."""
    with ExitStack() as stack:

        def sat(*, output_too: bool = False) -> tuple[Terminal, Screen]:
            person, process = pty.openpty()
            stack.callback(os.close, person)
            stdin = stack.enter_context(os.fdopen(process))
            stderr = stack.enter_context(os.fdopen(os.dup(process), "w"))
            screen = Screen(person)
            stack.callback(screen.leave)
            stdout = stderr if output_too else desk.streams["stdout"]
            return desk.terminal(stdin=stdin, stderr=stderr, stdout=stdout), screen

        yield sat


async def test_a_person_writes_before_messages_are_asked_for(sit: Sit) -> None:
    """What was written while Aldis was still being put together is the first message."""
    terminal, screen = sit()
    async with asyncio.timeout(WAIT_SECONDS):
        await terminal.show_prompt()
    await screen.prompts()
    screen.types("tea?\r")
    assert text_of(terminal, await given_by(terminal.envelopes())) == "tea?"


async def test_a_conversation_at_the_prompt(desk: Desk, sit: Sit) -> None:
    """It comes back with each answer; Ctrl-C throws away what was typed, and leaves, as Ctrl-D, where nothing was."""
    for leaves in ("\x03", "\x04"):
        terminal, screen = sit()
        envelopes = terminal.envelopes()
        coming = asyncio.ensure_future(given_by(envelopes))
        await screen.prompts()
        screen.types("  \r")
        await screen.prompts()
        screen.types("never mind")
        await screen.sees("mind")
        screen.types("\x03")
        await screen.prompts()
        screen.types("hello\r")
        hello = await coming
        coming = asyncio.ensure_future(screen.message(envelopes, "\x1b[200~two\nlines\x1b[201~\r"))  # a paste
        assert await blocked(coming)
        await terminal.send(answer_to(hello, "hi"))
        pasted = await coming
        await terminal.send(answer_to(pasted, "bye"))
        with pytest.raises(StopAsyncIteration):
            await screen.message(envelopes, leaves)
        assert [text_of(terminal, hello), text_of(terminal, pasted)] == ["hello", "two\nlines"]
        assert (desk.out, terminal.failed) == ("hi\nbye\n", False)


async def test_a_file_is_saved_for_a_person(sit: Sit) -> None:
    """At a terminal its path is shown, and only its owner can read it."""
    export = File(name="export.json", content_type="application/json", data=b"line 1")
    seated, screen = sit(output_too=True)
    await seated.send(answer_to(await screen.message(seated.envelopes(), "/export\r"), "All of it.", files=(export,)))
    shown = await screen.sees(f"export.json, {len(export.data)} bytes")
    folder = Path(shown.rpartition("· a file: ")[2])
    saved, mode = await asyncio.to_thread(lambda: ((folder / export.name).read_bytes(), folder.stat().st_mode))
    assert (saved, stat.S_IMODE(mode)) == (export.data, 0o700)
    assert "line 1" not in shown


async def test_an_answer_too_long_for_one_message_is_written_once_and_whole(desk: Desk, sit: Sit) -> None:
    """The file that has all of it stands in the place of the message that begins with the same words."""
    lines = [f"line {number}" for number in range(100)]
    whole = File(name=WHOLE_ANSWER, content_type="text/plain", data="\n".join(lines).encode())
    piped = desk.terminal(once="everything")
    await piped.send(answer_to(await given_by(piped.envelopes()), "line 0 ... (the rest)", files=(whole,)))
    assert desk.out.splitlines() == lines
    seated, screen = sit(output_too=True)
    asked = await screen.message(seated.envelopes(), "everything\r")
    await seated.send(answer_to(asked, "line 0 ... (the rest)", files=(whole,)))
    shown = await screen.sees(f"{lines[-1]}\r\n")
    assert re.findall(r"line \d+", shown) == lines[:-1]
    assert "the rest" not in shown


async def test_a_line_that_says_quit_is_the_end(desk: Desk, sit: Sit) -> None:
    """In a pipe with its slash, for any text may stand there; at a prompt also without, as in a shell."""
    desk.feed("quit\nexit\n/QUIT\nafter\n", last=True)
    assert await texts_of(desk.terminal()) == ["quit", "exit"]
    for word in ("exit", " Quit ", "/bye", "/beenden"):
        terminal, screen = sit()
        with pytest.raises(StopAsyncIteration):
            await screen.message(terminal.envelopes(), f"{word}\r")
        assert not terminal.failed


async def test_what_comes_while_a_person_types_stands_above_the_prompt(sit: Sit) -> None:
    """A late answer does not tear the line apart: it is shown, and what was typed is shown again below it."""
    terminal, screen = sit(output_too=True)
    coming = asyncio.ensure_future(screen.message(terminal.envelopes(), "quest"))
    await screen.sees("quest")
    await terminal.send(Reply(chat=ChatId("direct:default"), content=Styled(text="Your reminder: tea"), answers=()))
    await screen.sees("Your reminder: tea\r\n")
    await screen.prompts()
    await screen.sees("quest")
    screen.types("ion\r")
    assert text_of(terminal, await coming) == "question"


SILENT = """
import asyncio, sys
from bot.events import ChatId, Reply, Styled
from bot.terminal.transport import Terminal

async def main():
    terminal = Terminal(stdin=sys.stdin, stdout=sys.stdout, stderr=sys.stderr)
    reading = asyncio.ensure_future(anext(terminal.envelopes()))
    reply = Reply(chat=ChatId("direct:default"), content=Styled(text="x" * 1_000_000))
    sending = asyncio.ensure_future(terminal.send(reply))
    await asyncio.wait([reading, sending], timeout=0.05)
    assert not reading.done() and not sending.done()

asyncio.run(main())
print("ended", file=sys.stderr)
"""


def test_a_silent_pipe_does_not_keep_the_process() -> None:
    """The process ends at once, cleanly, while a line is still waited for and an answer is stuck in a full pipe."""
    root, pipe = str(Path(__file__).parents[3]), subprocess.PIPE
    command = [sys.executable, "-c", SILENT]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env={"PYTHONPATH": root}) as process:
        assert process.stderr is not None
        status = process.wait(timeout=WAIT_SECONDS)
        assert (status, process.stderr.read()) == (0, b"ended\n")
