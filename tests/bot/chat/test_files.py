"""What goes to a person besides words."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from bot.chat.journal import Outcome
from bot.chat.outgoing import MAX_BYTES, MAX_FILES, enclosed_files, files_of, with_enclosures
from bot.chat.steps import ToolRun
from bot.events import ChatId, File, Reply, Styled
from bot.messages import CallId, ToolAnswer
from tools import ResultFile

CHART = ResultFile(name="chart.png", content_type="image/png", data=b"png")
FILE = File(name="chart.png", content_type="image/png", data=b"png")
VOICE = File(name="answer.aac", content_type="audio/aac", data=b"aac")


def reply(text: str, *, last: bool) -> Reply:
    return Reply(chat=ChatId("direct:alice"), content=Styled(text=text), last=last)


PARTS = [reply("one", last=False), reply("two", last=True)]


def made(**changes: Any) -> list[Reply]:
    return with_enclosures(PARTS, Outcome(text="one two", ok=True, **changes))


def test_files_are_in_the_last_part() -> None:
    """After everything that is said about them."""
    assert [part.files for part in made(files=(FILE,))] == [(), (FILE,)]
    assert made() == PARTS


def test_a_voice_note_is_alone_in_its_message() -> None:
    """Otherwise phones show it as a file; it is the end of the answer."""
    parts = made(files=(FILE,), voice=VOICE)
    assert [(part.content.text, part.files, part.is_voice_note, part.last) for part in parts] == [
        ("one", (), False, False),
        ("two", (FILE,), False, False),
        ("", (VOICE,), True, True),
    ]


def test_too_many_and_too_large_ones_are_left_out_and_told() -> None:
    """The model knows what the person gets."""
    large = ResultFile(name="big.bin", content_type="application/x", data=bytes(MAX_BYTES + 1))
    files, told = files_of([large, CHART])
    assert files == (FILE,)
    assert told == ["a file big.bin was too much to be attached", "a file chart.png was attached for the person"]
    half = replace(large, data=bytes(MAX_BYTES // 2))
    assert [len(file.data) for file in files_of([half, half, CHART])[0]] == [MAX_BYTES // 2] * 2
    assert [len(file.data) for file in files_of([half, CHART, half])[0]] == [MAX_BYTES // 2, len(CHART.data)]
    files, told = files_of([CHART] * (MAX_FILES + 2))
    assert (len(files), len(told)) == (MAX_FILES, MAX_FILES + 2)


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\a.txt", "a.txt"),
        ("a\u202egnp.exe\n", "agnp.exe"),
        ("..", "file"),
        ("", "file"),
        ("x" * 200, "x" * 80),
    ],
)
def test_a_name_is_a_name_alone(name: str, bare: str) -> None:
    """No folder, nothing that cannot be seen."""
    [file], _ = files_of([ResultFile(name=name, content_type="text/plain", data=b"x")])
    assert file.name == bare


def run_with(*files: File) -> ToolRun:
    answer = ToolAnswer(call_id=CallId("c"), name="draw", content="{}", ok=True)
    return ToolRun(
        answer=answer, arguments={}, outcome="ok", latency_seconds=0, cost_usd=Decimal(0), tool="draw", files=files
    )


def test_the_files_of_a_turn_are_the_last_ones_each_once() -> None:
    """A tool that was called twice for the same chart has made one."""
    others = [File(name=f"{number}.png", content_type="image/png", data=b"png") for number in range(MAX_FILES)]
    assert enclosed_files([run_with(FILE), run_with(FILE)]) == (FILE,)
    assert enclosed_files([run_with(FILE), run_with(*others)]) == tuple(others)
