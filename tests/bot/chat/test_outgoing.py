"""What goes to a person besides words."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from bot.chat.journal import Outcome
from bot.chat.outgoing import MAX_BYTES, MAX_FILES, enclosed_files, files_of, find_mentions, with_enclosures
from bot.chat.steps import ToolRun
from bot.events import ChatId, File, NamedPerson, PersonId, Reply, Style, Styled, StyleRange
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


def test_files_are_in_the_last_part_and_a_voice_note_in_its_own() -> None:
    """After everything that is said about them; phones show a voice note with words as a file."""
    assert [part.files for part in made(files=(FILE,))] == [(), (FILE,)]
    assert made() == PARTS
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


def test_a_name_is_a_name_alone() -> None:
    """No folder, nothing that cannot be seen."""
    for name, bare in (
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\a.txt", "a.txt"),
        ("a\u202egnp.exe\n", "agnp.exe"),
        ("..", "file"),
        ("", "file"),
        ("x" * 200, "x" * 80),
    ):
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


def people(*names: str) -> tuple[NamedPerson, ...]:
    return tuple(NamedPerson(name=name, person=PersonId(f"id of {name}")) for name in names)


def named(text: str, *names: str) -> list[str]:
    """The words that are mentions, after checking whom they mean."""
    units = text.encode("utf-16-le")
    words: list[str] = []
    for one in find_mentions(Styled(text=text), people(*names)):
        word = units[2 * one.start : 2 * (one.start + one.length)].decode("utf-16-le")
        assert one.person == f"id of {word[1:]}"
        words.append(word)
    return words


def test_a_name_is_exact_and_the_longest() -> None:
    """With the sign before it, as the person chose it; letters around it make it another word."""
    for text, names, mentioned in (
        ("Ask @Anna.", ["Anna"], ["@Anna"]),
        ("Ask Anna.", ["Anna"], []),
        ("Ask @anna.", ["Anna"], []),
        ("Ask @Annabel.", ["Anna"], []),
        ("Ask @Anna Maria!", ["Anna", "Anna Maria"], ["@Anna Maria"]),
        ("mail@Anna", ["Anna"], []),
        ("@@Anna", ["Anna"], []),
        ("👩‍👩‍👧 @Zoë and @Zoë", ["Zoë"], ["@Zoë", "@Zoë"]),
        ("(@J.R. (Bob))", ["J.R. (Bob)"], ["@J.R. (Bob)"]),
        ("@Anna", [], []),
    ):
        assert named(text, *names) == mentioned, text


def test_whom_a_name_means() -> None:
    """A name of two people mentions neither, one in code is code; what cannot stand in brackets is left out there."""
    one, other = NamedPerson(name="Alex", person=PersonId("1")), NamedPerson(name="Alex", person=PersonId("2"))
    assert find_mentions(Styled(text="@Alex"), (one, other)) == ()
    assert len(find_mentions(Styled(text="@Alex"), (one, one))) == 1
    code = StyleRange(start=0, length=5, style=Style.MONOSPACE)
    [found] = find_mentions(Styled(text="@Anna @Anna", styles=(code,)), people("Anna"))
    assert found.start == 6
    [found] = find_mentions(Styled(text="Hi @Anna x"), (NamedPerson(name="[Anna] x", person=PersonId("1")),))
    assert (found.start, found.length, found.person) == (3, 7, "1")
