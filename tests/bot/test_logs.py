"""The log: one line an event whatever is in it, and never an exception's message, which may quote what people wrote."""

import asyncio
import gc
import json
import logging
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from io import StringIO
from typing import Literal

import pytest

from bot.logs import set_up
from bot.web.health import serve
from tests.bot.web.test_health import LOOPBACK
from tests.ports import free_port
from tests.waiting import WAIT_SECONDS

SECRET = "my-secret-words"
Form = Literal["text", "json"]
FORMS: tuple[Form, ...] = ("text", "json")


def logged(form: Form, log: Callable[[logging.Logger], None], level: str = "INFO", name: str = "bot.chat") -> str:
    stream = StringIO()
    set_up(level, form, stream)
    log(logging.getLogger(name))
    return stream.getvalue()


def message(form: Form, line: str) -> str:
    assert line.endswith("\n")
    assert line.count("\n") == 1
    return json.loads(line)["message"] if form == "json" else line[:-1].partition(": ")[2]


async def test_malformed_requests_do_not_fill_the_log() -> None:
    """Each sender of one could write a line with it; each is refused, one is logged."""
    stream, port = StringIO(), free_port()
    set_up("INFO", "text", stream)
    async with serve(lambda: "starting", LOOPBACK, port):
        for _ in range(20):
            reader, writer = await asyncio.open_connection(LOOPBACK, port)
            writer.write(b"GET / HTTP/1.1\r\nno header\r\n\r\n")
            async with asyncio.timeout(WAIT_SECONDS):
                assert b" 400 " in await reader.readline()
            writer.close()
    assert "Error handling request" not in stream.getvalue()


def fail() -> None:
    raise ValueError(SECRET)


def fail_on_top() -> None:
    try:
        fail()
    except ValueError as error:
        raise KeyError(SECRET) from error


def log_failure(log: logging.Logger) -> None:
    try:
        fail_on_top()
    except KeyError:
        log.exception("turn %d failed", 7)


def test_a_line_has_time_level_and_place() -> None:
    """In UTC, to the second, with the module that says it; in JSON the same in fields, an object each line."""
    line = logged("text", lambda log: log.warning("%d messages wait", 3))
    at, level, rest = line.split(maxsplit=2)
    assert datetime.fromisoformat(at).utcoffset() == timedelta(0)
    assert (level, rest) == ("WARNING", "bot.chat: 3 messages wait\n")
    line = json.loads(logged("json", lambda log: log.warning("%d messages wait", 3)))
    assert datetime.fromisoformat(line.pop("at")).utcoffset() == timedelta(0)
    assert line == {"level": "warning", "logger": "bot.chat", "message": "3 messages wait"}


@pytest.mark.parametrize("form", FORMS)
def test_an_exception_is_told_without_its_message(form: Form) -> None:
    """Its type, the types it came from and the places in the code; no word of it, and no traceback."""
    told = logged(form, log_failure)
    assert SECRET not in told
    said = message(form, told)
    assert said.startswith("turn 7 failed (KeyError from ValueError at fail_on_top:")
    assert " < log_failure:" in said


def test_a_bug_that_ends_the_process_is_told_without_its_message() -> None:
    """Each one, where there are several."""

    def end(_: logging.Logger) -> None:
        try:
            fail_on_top()
        except KeyError as error:
            several = ExceptionGroup(SECRET, [error, ExceptionGroup(SECRET, [ArithmeticError(SECRET)])])
            sys.excepthook(type(several), several, None)

    told = logged("text", end)
    assert SECRET not in told
    assert "a bug ends Aldis: KeyError from ValueError at fail_on_top:" in told
    assert "a bug ends Aldis: ArithmeticError at " in told


def test_whatever_is_said_stays_one_line() -> None:
    """Nothing that is logged can begin a line of its own, steer a terminal, or break the encoding."""
    for said, shown in (
        ("a\r\nb", r"a\r\nb"),
        ("2026-11-21T12:00:00Z INFO fake: line\x0b\x0c", r"2026-11-21T12:00:00Z INFO fake: line\x0b\x0c"),
        ("\x85\u2028\u2029", r"\x85\u2028\u2029"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("half a pair \ud800", r"half a pair \ud800"),
        ("Zürich 日本 👋", "Zürich 日本 👋"),
    ):
        for form in FORMS:
            line = logged(form, lambda log, said=said: log.info("%s", said))
            assert len(line.splitlines()) == 1
            assert line.encode()
            assert message(form, line) == (said if form == "json" else shown)


@pytest.mark.parametrize("form", FORMS)
async def test_a_task_that_nobody_awaited_is_told_without_its_message(form: Form) -> None:
    """Asyncio's own report shows the task with its exception: only its first line is kept."""

    async def failing() -> None:
        fail()

    stream = StringIO()
    set_up("INFO", form, stream)
    task = asyncio.create_task(failing())
    await asyncio.wait([task])
    del task
    gc.collect()
    assert SECRET not in stream.getvalue()
    assert message(form, stream.getvalue()).startswith("Task exception was never retrieved (ValueError at fail:")


def test_only_our_own_lines_follow_the_level() -> None:
    """Libraries log contents and addresses with keys below a warning: nobody gets those by asking for more."""

    def log(logger: logging.Logger) -> None:
        for each in ("debug", "info", "warning", "error"):
            logger.log(logging.getLevelNamesMapping()[each.upper()], each)

    for level, name, shown in (
        ("DEBUG", "bot.chat.agent", ["debug", "info", "warning", "error"]),
        ("INFO", "tools.weather", ["info", "warning", "error"]),
        ("ERROR", "store.database", ["error"]),
        ("DEBUG", "anthropic._base_client", ["warning", "error"]),
        ("DEBUG", "bottle", ["warning", "error"]),
    ):
        lines = logged("json", log, level, name).splitlines()
        assert [json.loads(line)["message"] for line in lines] == shown
