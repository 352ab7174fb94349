"""A finding is a value: whoever reads it reads it in a language of their own, with everything that belongs into it."""

import ast
import string
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from bot.doctor import phrases
from bot.doctor.findings import as_json, format_findings, ok, problem
from bot.doctor.machine import check_cell_level, words_of_level, words_of_tampering
from bot.doctor.running import RunningState, check_running, without_repeats
from bot.i18n.catalogues import Sentence
from bot.i18n.language import LANGUAGES, Language, use_language
from bot.i18n.statements import WordList, either, fill, text_of
from bot.i18n.statements import english as in_english
from bot.media.confinement import Level
from bot.settings import load_settings
from bot.transports import phrases as hearing
from bot.unanswered import REASONS
from bot.unanswered import phrases as unanswered
from bot.web import phrases as health
from store import Tampering
from tests.bot.doctor.practice import examined
from tests.bot.i18n.sentences import ROOT

SENTENCES = {
    name: one
    for module in (phrases, hearing, health, unanswered)
    for name, one in vars(module).items()
    if isinstance(one, Sentence)
}
MAKERS = frozenset({"ok", "hint", "warning", "problem", "tell"})


def filled(sentence: Sentence) -> tuple[str, dict[str, str]]:
    """A sentence with a mark in each of its places, as it is said now."""
    names = {name for _, name, _, _ in string.Formatter().parse(sentence.text) if name}
    marks: dict[str, str] = {name: f"<{name}>" for name in names - {"count"}}
    counted = {"count": 7} if "count" in names else {}
    return text_of(fill(sentence, **marks, **counted)), {
        **marks,
        **{name: str(count) for name, count in counted.items()},
    }


@pytest.mark.parametrize("name", SENTENCES)
def test_a_finding_is_said_in_every_language(name: str) -> None:
    """Each with all its values; none is left as it is in English, but for a word that two languages share."""
    heard: dict[Language, str] = {}
    for language in LANGUAGES:
        with use_language(language):
            heard[language], marks = filled(SENTENCES[name])
        assert all(mark in heard[language] for mark in marks.values())
    shared = {other for other in LANGUAGES[1:] if heard[other] == heard["en"]}
    words = heard["en"].replace("=", " ").split()
    assert not shared or len(words) <= 2 or (len(shared) == 1 and len(words) <= 4)


def calls() -> Iterator[tuple[Path, ast.Call]]:
    for path in sorted((ROOT / "bot").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "bot.doctor" in text or "doctor" in path.parts:
            yield from ((path, node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))


def test_what_is_filled_in_has_a_place() -> None:
    """Each value that the code hands to a sentence, and no place is left empty: it would fail where it is read."""
    looked_at = 0
    for path, call in calls():
        if not (isinstance(call.func, ast.Name) and call.func.id == "fill" and isinstance(call.args[0], ast.Attribute)):
            continue
        sentence = SENTENCES.get(call.args[0].attr)
        names = {keyword.arg for keyword in call.keywords}
        if sentence is None or None in names:  # of a table, or with values of several sentences
            continue
        looked_at += 1
        places = {name for _, name, _, _ in string.Formatter().parse(sentence.text) if name}
        assert names == places | ({"count"} if sentence.plural else set()), (path.name, call.lineno)
    assert looked_at > 90


def is_command(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "command_line"


def test_no_words_of_a_finding_stand_in_the_code() -> None:
    """What is found is a sentence of the catalogue, or what somebody else says; no English that nobody translates."""
    made = [(path, call) for path, call in calls() if isinstance(call.func, ast.Name) and call.func.id in MAKERS]
    assert len(made) > 80
    for path, call in made:
        for words in call.args[1:]:
            typed = [node for node in ast.walk(words) if isinstance(node, ast.Call) and is_command(node)]
            commands = {id(part) for node in typed for part in node.args}
            constants = [
                node for node in ast.walk(words) if isinstance(node, ast.Constant) and id(node) not in commands
            ]
            prose = [node.value for node in constants if isinstance(node.value, str) and " " in node.value.strip()]
            assert not prose, (path.name, call.lineno, prose)


async def test_the_doctor_is_read_in_the_language_of_the_reader(tmp_path: Path) -> None:
    """The same findings: here in German, there in French, and programs read them in English."""
    found = await examined(tmp_path, {"ACCESS__ALLOWED": "*"})
    with use_language("de"):
        german = format_findings(found)
        assert as_json(found)[-1]["level"] == "warning"
        page = str(as_json(found))
    with use_language("fr"):
        french = format_findings(found)
    english = format_findings(found)
    assert "ACCESS__ALLOWED: jeder darf schreiben, auf deine Kosten" in german
    assert "Brücke: " in german
    assert "passerelle : " in french
    for line in ("anybody may write, at your expense", "no key is set", "will be created at the first start"):
        assert line in english
        assert line not in german + french
    assert "anybody may write, at your expense" in page


def test_values_are_written_as_the_reader_writes_them() -> None:
    """Numbers, days, lists, and sentences within sentences."""
    disk = ok(phrases.AREA_DISK, fill(phrases.FOUND_DISK_FREE, free=Decimal(1234567)))
    asked = fill(phrases.FOUND_CORRECT, name=either(["A", "B", fill(phrases.FOUND_OR_NAME, name="C", other="D")]))
    since = fill(phrases.FOUND_NUMBER_REFUSED, day=date(2026, 12, 24), number="+1")
    with use_language("de"):
        assert disk.what == "Festplatte: 1.234.567 MB sind frei, wo der Speicher liegt"
        assert text_of(asked) == "berichtige A, B oder C oder D"
        assert text_of(since).startswith("am 24.12.2026 kam")
    assert disk.what == "disk: 1,234,567 MB are free where the store is"
    assert text_of(asked) == "correct A, B or C or D"
    assert text_of(WordList(())) == ""


async def test_what_the_aldis_of_the_same_process_found_is_a_value_as_well() -> None:
    """Its page, which speaks English, is not read for it."""
    refused = problem(phrases.AREA_MODELS, fill(phrases.FOUND_KEY_REFUSED, server="openai"), phrases.FOUND_LATER)
    state = RunningState(problems=(), findings=(refused, ok("", "well")), counts={"turns_given_up": 3})
    found = await check_running(load_settings({"WEB__PORT": "0"}, None), is_expected=True, state=state)
    with use_language("de"):
        assert [finding.what for finding in found] == [
            "Betrieb: Aldis geht es gut",
            "Betrieb: Modelle: openai lehnt den Schlüssel ab",
            "Betrieb: Antworten, die aufgegeben wurden: 3 seit dem Start",
        ]
        assert found[1].advice == "versuch es später noch einmal"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_running_aldis_found_as_well_is_said_once(language: Language) -> None:
    """Its page speaks English, whoever reads what the doctor finds."""
    own = problem(phrases.AREA_MODELS, fill(phrases.FOUND_KEY_REFUSED, server="openai"))
    told = problem(phrases.AREA_RUNNING, "models: openai refuses the key")
    other = problem(phrases.AREA_RUNNING, "models: anthropic refuses the key")
    with use_language(language):
        assert without_repeats([own, told, other]) == (own, other)


@pytest.mark.parametrize("count", [1, 2])
def test_signs_of_tampering_are_those_of_the_store_in_every_language(count: int) -> None:
    """What the shell and the log say of them, word for word; each table that is guarded has words of its own."""
    tables = ("people", "pins", "identities", "spent", "grants", "quotas", "tool_shapes")
    tampering = Tampering(forged=dict.fromkeys(tables, count), is_incomplete=True, is_older=True, intruders=count)
    told = words_of_tampering(tampering)
    assert tuple(map(in_english, told)) == tampering.sentences
    with use_language("de"):
        assert not {*map(text_of, told)} & {*tampering.sentences}
    assert words_of_tampering(Tampering()) == ()


def test_the_layers_that_hold_strangers_files_are_said_in_every_language() -> None:
    """With the version of Landlock, where there is one."""
    levels = [Level(landlock=landlock, seccomp=seccomp) for landlock in (7, 0) for seccomp in (True, False)]
    assert [in_english(words_of_level(level)) for level in levels] == [
        "Landlock 7 and seccomp",
        "Landlock 7 but no seccomp",
        "no Landlock but seccomp",
        "no Landlock and no seccomp",
    ]
    with use_language("de"):
        assert check_cell_level(levels[0]).what.endswith("(Landlock 7 und seccomp)")


async def test_what_was_counted_as_unanswered_is_said_in_the_language_of_the_reader() -> None:
    """With its reason and what can be done."""
    state = RunningState(problems=(), findings=(), counts={"unanswered_paused": 3})
    *_, found = await check_running(load_settings({}, None), is_expected=True, state=state)
    with use_language("de"):
        assert found.what == (
            "Betrieb: 3 seit dem Start nicht beantwortet: "
            "Aldis ist in dieser Unterhaltung angehalten, oder ein Admin hat sie übernommen"
        )
        assert found.advice == "`/resume` dort"


def test_why_messages_were_not_answered_is_said_in_the_language_of_the_reader() -> None:
    """With what can be done about it; the names of settings and commands stay."""
    for reason in REASONS.values():
        with use_language("de"):
            words, advice = text_of(reason.words), text_of(reason.advice)
        assert words != in_english(reason.words)
        assert not advice or "LIMITS__" in advice or advice != in_english(reason.advice)
