"""Personas and skills: chosen for a chat or once, read when wanted, refused where a file is not as it should be."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.app import check_settings
from bot.chat.offers import line_of
from bot.clock import SetClock
from bot.errors import ConfigError
from bot.features import personas
from bot.features.personas import Skills
from bot.i18n import phrases as common_phrases
from bot.settings import load_settings
from store import Store
from tests.bot.chat.turn_helpers import Echo, calls, contents, says
from tests.bot.commands.test_commands import ask, plain
from tests.bot.loops.app_harness import Harness, app_harness
from tests.conftest import NOON
from tests.servers.envelopes import BOB, GROUP, attachment, delete, edit, message
from tools import NotFound, ToolContext

COOK = """\
---
description: short recipes
model: other/model-2
tools: [echo]
language: fr
temperature: 0.4
---
You are a cook.
"""
SET = plain(personas.PERSONA_SET.text)
KEPT = f"{SET} I've kept “Dad” for this chat; /persona Dad off deletes it."
CONTEXT = ToolContext(now=NOON, timezone="UTC")
NO_SUCH = plain(common_phrases.NO_SUCH_PERSONA.text)


def folder_of(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


@pytest.fixture
def llm(tmp_path: Path) -> dict[str, Any]:
    """The settings with the operator's persona `cook`, and one of words alone."""
    return {"personas": folder_of(tmp_path / "personas", {"cook.md": COOK, "Coach.md": "Be strict.", "README.md": "?"})}


def asked_as(aldis: Harness) -> tuple[str, str | None, list[str], float | None]:
    """As whom, by which model, with which tools and how freely the last question was asked."""
    request = aldis.model.requests[-1]
    words = request.persona.rpartition("\n")[2]
    return words, request.model, [offer.name for offer in request.tools], request.temperature


AS_COOK = ("You are a cook.", "other/model-2", ["echo"], 0.4)
PLAINLY = ("", None, ["echo", "other"], None)


async def test_one_question_as_a_persona(store: Store, clock: SetClock, llm: dict[str, Any]) -> None:
    """That alone, in a group too, with its files; asked again or in new words it is still that persona's."""
    async with app_harness(store, clock, tools=(Echo(), Echo(name="other")), settings={"llm": llm}) as aldis:
        for text in ("/as cook how long does rice take?", "/AS Cook, how long does rice take?", "/als cook: how long"):
            assert (await ask(aldis, text)).startswith("re: how long")
            assert asked_as(aldis) == AS_COOK
        await aldis.process(message("/retry"))
        assert asked_as(aldis) == AS_COOK
        sent_at = await aldis.process(message("/as cook and beans?"))
        await aldis.process(edit("/as coach and lentils?", sent_at))
        assert (aldis.model.asked[-1][-12:], asked_as(aldis)[0]) == ("and lentils?", "Be strict.")
        assert aldis.transport.sent[-1].edits is not None
        await aldis.process(edit("and peas?", sent_at))
        assert ("peas" in aldis.model.asked[-1], asked_as(aldis)) == (True, PLAINLY)
        assert await ask(aldis, "/as cook how long?", group=GROUP) == "re: how long?"
        assert asked_as(aldis) == AS_COOK
        assert "/as NAME TEXT" in await ask(aldis, "/as cook")
        await aldis.process(message("/as cook", attachments=[attachment()]))
        assert ("garden.jpg" in aldis.model.asked[-1], asked_as(aldis)) == (True, AS_COOK)
        count = len(aldis.model.asked)
        assert await ask(aldis, "/as cok how long does rice take?") == NO_SUCH
        assert len(aldis.model.asked) == count
        assert await ask(aldis, "And plainly?") == "re: And plainly?"
        assert asked_as(aldis) == PLAINLY


async def test_it_is_not_taken_together_with_others(store: Store, clock: SetClock, llm: dict[str, Any]) -> None:
    """The persona answers its question, and none that waits beside it."""
    async with app_harness(store, clock, settings={"llm": llm}) as aldis:
        gate = await aldis.held("slow")
        for text in ("one", "/as cook two", "three"):
            await aldis.deliver(message(text))
        await aldis.until(lambda: not aldis.worker.urgent_items.lanes)
        gate.set()
        await aldis.quiet()
        asked = zip(aldis.model.asked, aldis.model.requests, strict=True)
        assert [("two" in text, "three" in text) for text, request in asked if request.persona] == [(True, False)]


async def test_a_chosen_persona_stays_over_a_kill(store: Store, clock: SetClock, llm: dict[str, Any]) -> None:
    """The turn goes on as it began, whatever has become of the file; the next question has what is there then."""
    slow = Echo(work=lambda _: asyncio.Event().wait())
    given: dict[str, Any] = {"tools": (slow, Echo(name="other")), "settings": {"llm": llm}}
    async with app_harness(store, clock, **given) as aldis:
        assert await ask(aldis, "/persona COOK") == SET
        for which in ("1", "default"):  # the persona has its own
            assert await ask(aldis, f"/model {which}") == "model-2 answers here."
        aldis.model.script += [calls(("echo", {"word": "rice"}))]
        await aldis.deliver(message("A question"))
        await aldis.until(lambda: slow.ran == ["rice"])
    slow.work = None
    (llm["personas"] / "cook.md").write_text("You are a baker.")
    async with app_harness(store, clock, **given) as aldis:
        await aldis.answered(1)
        assert (asked_as(aldis), len(contents(aldis.model.requests[-1]))) == (AS_COOK, 1)
        await aldis.process(message("And now?"))
        assert asked_as(aldis) == ("You are a baker.", None, ["echo", "other"], None)
        (llm["personas"] / "cook.md").unlink()
    async with app_harness(store, clock, **given) as aldis:
        await aldis.process(message("And now?"))
        assert asked_as(aldis) == PLAINLY


async def test_a_persona_has_no_tool_but_its_own(store: Store, clock: SetClock, llm: dict[str, Any]) -> None:
    """None outside its list is offered, nor run if a model calls it all the same; nor one that the chat has switched
    off. `off` ends it.
    """
    other = Echo(name="other")
    async with app_harness(store, clock, tools=(Echo(), other), settings={"llm": llm}) as aldis:
        await ask(aldis, "/persona cook")
        aldis.model.script += [calls(("other", {"word": "rice"})), says("So?")]
        await aldis.process(message("How long?"))
        assert ('"error": "disabled"' in contents(aldis.model.requests[-1])[0], other.ran) == (True, [])
        await ask(aldis, "/tools off echo")
        await aldis.process(message("How long?"))
        assert asked_as(aldis)[2] == []
        await ask(aldis, "/tools on echo")
        assert await ask(aldis, "/persona off") == personas.PERSONA_OFF.text
        await aldis.process(message("How long?"))
        assert asked_as(aldis) == PLAINLY
    many = tuple(Echo(name=f"tool_{number}") for number in range(9))
    async with app_harness(store, clock, tools=(Echo(), *many), settings={"llm": llm}) as aldis:
        await aldis.process(message("/as cook how long?"))
        assert asked_as(aldis)[2] == ["echo", "use_tool"]  # as a list, and by what models call those of it


async def test_people_keep_personas_of_their_own(store: Store, clock: SetClock, llm: dict[str, Any]) -> None:
    """By a name, beside the operator's, whose name they may take; each goes with its message, or by its name."""
    async with app_harness(store, clock, settings={"llm": llm}) as aldis:
        assert await ask(aldis, "/persona") == (
            "No persona is set here. /persona TEXT sets one.\n\n"
            "To choose from with /persona NAME, or /as NAME QUESTION just once:\n• Coach\n• cook: short recipes"
        )
        assert await ask(aldis, "/persona Dad: Make a pun.") == KEPT
        await aldis.process(message("Hello"))
        assert asked_as(aldis)[0] == "Make a pun."
        sent_at = await aldis.process(message("/persona cook: You are my aunt.", author=BOB, group=GROUP))
        await aldis.process(message("Aldis, hello", group=GROUP))
        assert asked_as(aldis)[:2] == ("You are my aunt.", None)
        await aldis.process(delete(sent_at, author=BOB, group=GROUP))
        assert "• cook: short recipes" in await ask(aldis, "/persona", group=GROUP)
        await aldis.process(message("Aldis, hello", group=GROUP))
        assert asked_as(aldis)[0] == ""
        for text, reply in (
            ("/persona Be a pirate.", SET),
            ("/persona dad", SET),
            ("/persona dda", NO_SUCH),
            ("/persona dda off", NO_SUCH),
            ("/persona cook off", personas.PERSONA_OFF.text),
            ("/persona Off: no jokes.", SET),
            ("/persona Dad: Make two.", KEPT),
        ):
            assert await ask(aldis, text) == reply
        assert await ask(aldis, "/as dad hello") == "re: hello"
        assert asked_as(aldis)[0] == "Make two."
        assert "My persona here: Dad\n\n" in await ask(aldis, "/persona")
        assert await ask(aldis, "/persona dad off") == "I've deleted “Dad”."
        assert await ask(aldis, "/persona dad") == NO_SUCH
        assert "too long" in await ask(aldis, f"/persona x: {'x' * 2001}")
        assert "until your message disappears" in await ask(aldis, "/persona soon: Hurry.", expires_in_seconds=60)
        heard = [await ask(aldis, f"/persona a{number}: Be brief.") for number in range(20)]
        assert heard[-1] == "There are 20 here already; /persona NAME off deletes one."
        clock.move(61)
        assert "soon" not in await ask(aldis, "/persona")
        await aldis.maintenance.expire()
        assert (await ask(aldis, "/persona last: Be last.")).startswith(SET)
        await ask(aldis, "/forget yes")
        assert "a1" not in await ask(aldis, "/persona")


async def test_auto_is_cooler_once_tools_have_run(store: Store, clock: SetClock, llm: dict[str, Any]) -> None:
    """A persona's own temperature comes first, a number of the settings holds always."""
    given = {"llm": {**llm, "temperature": "auto"}}
    async with app_harness(store, clock, tools=(Echo(),), settings=given) as aldis:
        for text in ("Look it up.", "/as cook look it up"):
            aldis.model.script += [calls(("echo", {"word": "rice"})), says("There.")]
            await aldis.process(message(text))
        await aldis.process(message("Thanks!"))
        assert [request.temperature for request in aldis.model.requests] == [0.7, 0.2, 0.4, 0.4, 0.7]
    async with app_harness(store, clock, settings={"llm": {"temperature": "0.3"}}) as aldis:
        await aldis.process(message("Thanks!"))
        assert aldis.model.requests[-1].temperature == 0.3


BAD: tuple[tuple[str | bytes, str], ...] = (
    ("---\nmodel: openai/a\n\ntemprature: 1\n---\n", "line 4: temprature is not known; there are description, lang"),
    ("---\ntemperature: 7\n---\n", "line 2: temperature should be less than or equal to 1"),
    ("---\ntools:\n---\n", "line 2: tools should be a valid tuple"),
    ("---\nlanguage: it\n---\n", "line 2: language should be 'en', 'de', 'fr' or 'es'"),
    ("---\na: b\nc: [\n---\n", "line 4: must be YAML"),
    ("---\n- a\n---\n", "line 2: must be YAML"),
    ("---\ndescription: a: b\n---\n", "line 2: must be YAML with a value for each key, with : in quotes"),
    ("---\nmodel: a\n", "line 1: the front matter must end"),
    ("---\nmodel: openai/gpt-9\n---\n", "model openai/gpt-9 is none of offline"),
    ("---\ntools: web_serch, calculate\n---\n", "no tool .* called web_serch; did you mean web_search"),
    (b"\xff\xfe", "cannot be read, or is no text in UTF-8"),
    ("x" * 32_001, "has more than 32,000 bytes"),
)


def test_a_file_that_is_not_as_it_should_be_is_refused(tmp_path: Path) -> None:
    """At the start and by the doctor, with the file, the line and what to do."""
    for number, (text, said) in enumerate(BAD):
        folder = folder_of(tmp_path / f"{number}", {"cook.md": text})
        with pytest.raises(ConfigError, match=f"^LLM__PERSONAS: .*cook.md: {said}"):
            check_settings(load_settings({"LLM__PERSONAS": str(folder)}, None))
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "cook.md").symlink_to(tmp_path / "6" / "cook.md")
    for given, said in (
        ({"LLM__PERSONAS": str(tmp_path / "links")}, "is no file of this folder"),
        ({"LLM__PERSONAS": str(tmp_path / "none")}, "there is no folder"),
        (
            {"LLM__PERSONAS": str(folder_of(tmp_path / "n", {"my cook.md": "Cook."}))},
            "cook.md: must be called by letters",
        ),
        ({"LLM__PERSONAS": str(folder_of(tmp_path / "o", {"off.md": "Be off."}))}, "off.md: .* and not off"),
        (
            {"LLM__PERSONAS": str(folder_of(tmp_path / "c", {"Cook.md": "", "cook.md": ""}))},
            "/cook.md: has the name of .*/Cook.md",
        ),
        ({"LLM__SKILLS": str(folder_of(tmp_path / "s", {"rice/SKILL.md": "---\nname: rice\n---\n"}))}, "description"),
    ):
        with pytest.raises(ConfigError, match=said):
            check_settings(load_settings(given, None))
    good = {"a.md": "---\ntools: read_skill, calculate\n---\nBe.", "b.md": "", "._b.md": b"\xff"}
    check_settings(load_settings({"LLM__PERSONAS": str(folder_of(tmp_path / "good", good))}, None))


SKILLS: Mapping[str, str | bytes] = {
    "tea.md": "---\ndescription: how tea is made here\n---\nTwo minutes.",
    "rice/SKILL.md": "---\nname: rice\ndescription: Cooks rice for as many people as there are at the table\n"
    "license: MIT\n---\nFollow table.md.\n",
    "rice/table.md": "Four people: 300 g.",
    "rice/far/more.txt": "More.",
    "rice/picture.png": b"\x89PNG\r\n\x1a\n\xff",
    "rice/big.txt": "x" * 1_000_000,
    "secret.txt": "The safe opens with 4711.",
}


async def test_a_skill_is_read_and_used(store: Store, clock: SetClock, tmp_path: Path) -> None:
    """Models see the names and a few words; what they read is the operator's, so an effect after it needs no yes."""
    skills = Skills(folder_of(tmp_path / "skills", SKILLS))
    post = Echo(name="post", effects="once", label="sent")
    async with app_harness(store, clock, tools=(post,), sources=(skills,)) as aldis:
        aldis.model.script += [
            calls(("read_skill", {"name": "rice"})),
            calls(("read_skill", {"name": "Rice", "file": "table.md"}), ("read_skill", {"name": "tea"})),
            calls(("post", {"word": "300 g"})),
            says("300 g."),
        ]
        assert await ask(aldis, "How much rice for four?") == "300 g."
        assert post.ran == ["300 g"]
        [offer] = [offer for offer in aldis.model.requests[0].tools if offer.name == "read_skill"]
        about = "rice (Cooks rice for as many people as…); tea (how tea is made here)"
        assert (about in offer.description, about in line_of(skills.spec).line) == (True, True)
        assert contents(aldis.model.requests[-1])[:3] == [
            '{"ok":true,"operator_says":{"skill":"rice","text":"Follow table.md."}}',
            '{"ok":true,"operator_says":{"skill":"rice","file":"table.md","text":"Four people: 300 g."}}',
            '{"ok":true,"operator_says":{"skill":"tea","text":"Two minutes."}}',
        ]


async def test_nothing_but_the_texts_of_a_skill_is_read(tmp_path: Path) -> None:
    """The model reads why not."""
    folder = folder_of(tmp_path / "skills", SKILLS)
    (folder / "rice" / "link.txt").symlink_to(folder / "secret.txt")
    (folder / "rice" / "ring.txt").symlink_to(folder / "rice" / "ring.txt")
    skills = Skills(folder)
    for given, said in (
        ({"name": "beans"}, "there is no such skill; there are: rice, tea"),
        *(({"name": "rice", "file": file}, "is no file of this folder") for file in (
            "none.md", "far", "../secret.txt", str(folder / "secret.txt"), "link.txt",
        )),
        *(({"name": "rice", "file": file}, "cannot be read") for file in ("picture.png", "ring.txt", "é" * 200)),
        ({"name": "rice", "file": "big.txt"}, "has more than 32,000 bytes"),
        ({"name": "rice", "file": "a\0b"}, "null"),
    ):  # fmt: skip
        with pytest.raises(NotFound, match=said):
            await skills.run(personas.ReadSkillArguments.model_validate(given), CONTEXT)
    found = await skills.run(personas.ReadSkillArguments(name="rice", file="far/more.txt"), CONTEXT)
    assert found.data["text"] == "More."
    assert await Skills(None).tools() == ()
