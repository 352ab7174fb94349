"""What is written for people is true where a machine can tell: the table of settings is the settings, the tables of
commands and tools are those of Aldis, and every file, target, verb and variable that is named is there.
"""

import ast
import re
import runpy
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bot.app.tools import idle_features
from bot.clock import SetClock
from bot.metrics import ALL_DAY, REASONS
from bot.settings.load import NAMES
from store import Store
from tests.bot.loops.app_harness import app_harness
from tests.servers.envelopes import ALICE, GROUP, message
from tests.test_names import TREES
from tests.tools.conftest import USER_AGENT
from tests.tools.test_catalog import READY
from tools import Fetcher, Http, ToolDeps, build

ROOT = Path(__file__).parent.parent
DOCS = tuple(sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
NAME = re.compile(r"`([a-z_]+)`")
PAPERS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", *DOCS]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", ["settings.md", "commands.md", "tools.md", "coverage.md"])
def test_the_tables_are_written_from_the_code(name: str) -> None:
    """After a change of a setting, a command, a tool or what shows a capability: `make pages`."""
    page = runpy.run_path(str(ROOT / ".ci" / "pages.py"))["page"]
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == page(name)


def test_the_readme_is_short() -> None:
    """A stranger reads it in three minutes."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 700


def test_the_picture_shows_what_was_really_said() -> None:
    """Word by word, the first conversation of docs/signal.md."""
    page = (ROOT / "docs/signal.md").read_text(encoding="utf-8").split("<pre>\n<b>Alice and Aldis</b>\n")[1]
    said = re.sub(r"</?(b|i|s|code)>", "", page.split("</pre>")[0]).split()
    texts = list(ET.parse(ROOT / "docs/exchange.svg").iter(f"{SVG}text"))
    shown = " ".join("".join(text.itertext()) for text in texts[2:] if text.get("class") != "small").split()
    assert shown == [word for word in said if word not in {"Alice", "Aldis"}]


@pytest.mark.parametrize("name", PAPERS)
def test_what_a_page_names_is_there(name: str) -> None:
    """Classes, in the code or in an example of its own; relative links, compose files, modules and tests; targets of
    make with the variables that they take; and every `GROUP__NAME` is a setting.
    """
    text = (ROOT / name).read_text(encoding="utf-8")
    classes = {node.name for tree in TREES.values() for node in tree.body if isinstance(node, ast.ClassDef)}
    classes |= set(re.findall(r"^ *class (\w+)", text, re.MULTILINE))
    assert set(re.findall(r"(?<!`)`((?:[A-Z][a-z]+){2,})\b", text)) - classes == set()
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / name).parent.joinpath(target).exists(), target
    for path in re.findall(r"(?:-f |`)((?:docker|tests|bot|store|tools)/[\w./-]+)", text):
        assert (ROOT / path).exists(), path
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target, more in re.findall(r"(?:^ *|`)make ([a-z-]+)((?: [A-Z]+=[^` ]+)*)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
        assert all(f"$({variable})" in makefile for variable in re.findall(r"[A-Z]+", more))
    known = {*NAMES, "TOOLS__GAUGE__ENABLED", "TOOLS__GAUGE__BASE_URL", "INTAKE__BREW_MINUTES"}
    for variable in re.findall(r"[A-Z]+__[A-Z_]+", text):
        assert any(one.startswith(variable) for one in known), variable


def test_what_aldis_is_quoted_as_saying_is_what_it_says() -> None:
    """In the table of the doctor's findings, apart from what `...` stands for."""
    nodes = [node for tree in TREES.values() for node in ast.walk(tree)]
    said = "\n".join(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    page = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    rows = [row for table in page.split("| it says |")[1:] for row in table.split("\n\n")[0].splitlines()]
    quotes = [quote for row in rows for quote in re.findall(r"`([^`]+)`", row.split(" | ")[0])]
    assert len(quotes) >= 10
    for quote in quotes:
        for part in re.sub(r"^\w+: ", "", quote).split("..."):
            assert part.strip(" :;?,") in said, quote


def test_every_reason_not_to_answer_is_explained() -> None:
    """Each once, and no other; those for the debug log are marked."""
    section = (ROOT / "docs/operating.md").read_text(encoding="utf-8").split("## Why does it not answer me?")[1]
    cells = [row.split(" | ")[0] for row in section.split("\n## ")[0].splitlines() if row.startswith("| `")]
    told = [(name, bool(mark)) for cell in cells for name, mark in re.findall(r"`([a-z_]+)`( \*)?", cell)]
    assert sorted(told) == sorted([*((name, False) for name in REASONS), *((name, True) for name in ALL_DAY)])


async def test_the_commands_are_those_of_aldis(store: Store, clock: SetClock) -> None:
    """Each that an admin is shown by `/help`, directly or in a group, and no other."""
    table = (ROOT / "docs/commands.md").read_text(encoding="utf-8").split("\n\nWhat they do")[0]
    told = {word for row in table.splitlines() if row.startswith("| `/") for word in re.findall(r"`(/[a-z]+)", row)}
    async with app_harness(store, clock, admins=frozenset({ALICE.uuid})) as aldis:
        await aldis.deliver(message("/help"))
        await aldis.deliver(message("/help", group=GROUP))
        helps = [reply.content.text for reply in await aldis.answered(2)]
        shown = re.findall(r" (/[a-z]+)\b(?! remind)", "\n".join(helps))
    assert len(shown) > 5
    assert told == set(shown)


def test_the_tools_are_those_of_the_catalogue() -> None:
    """Each once by the name that models see, in the first column; and no other."""
    page = (ROOT / "docs/tools.md").read_text(encoding="utf-8")
    table = page.split("## What it can look up")[1].split("\n\nSearch services")[0]
    told = [name for row in table.splitlines() if row.startswith("| `") for name in NAME.findall(row.split(" | ")[0])]
    tools = build(READY, ToolDeps(http=Http(USER_AGENT), fetcher=Fetcher(USER_AGENT), features=idle_features()))
    assert sorted(told) == sorted(tool.spec.name for tool in tools)
