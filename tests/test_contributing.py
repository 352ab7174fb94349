"""CONTRIBUTING.md: its rule for `make quick` holds, and its recipes work as they stand there.

The recipe for a tool is in docs/tools.md: tests/test_tools_page.py.
"""

import asyncio
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from textwrap import dedent, indent
from typing import Any, cast

import pytest
from pydantic import ValidationError, create_model

from bot import app, settings
from bot.clock import SetClock
from bot.commands import phrases
from bot.commands.base import CommandContext, CommandGroup
from bot.i18n import catalogues, language, locale
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import Sentence, say
from bot.messages import UserMessage
from bot.models.base import Provider, Request, Stop
from store import Store
from store.migrations import migrate
from tests.bot.i18n.sentences import ENGLISH
from tests.bot.loops.app_harness import app_harness
from tests.conftest import is_quick
from tests.servers.envelopes import message
from tests.variables import table

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")


def block(mark: str) -> str:
    [code] = re.findall(rf"<!-- {mark} -->\n+ *```\w+\n(.*?)\n *```", PAGE, re.DOTALL)
    return dedent(code)


def made(code: str, **names: Any) -> dict[str, Any]:
    exec(compile(code, "recipe.py", "exec"), names)
    return names


def test_what_waits_for_nothing_is_quick() -> None:
    """Tables of examples over pure functions; not what waits for a loop, a process, a server, or belongs to no room."""
    quick = ("bot/access/test_access.py", "bot/formatting/test_markdown.py", "test_contracts.py")
    slow = ("bot/chat/test_turns.py", "bot/media/test_sandbox.py", "flows/test_chat.py", "test_docker.py")
    assert [is_quick(TESTS / name) for name in (*quick, *slow)] == [True] * len(quick) + [False] * len(slow)


async def test_the_recipe_for_a_command(store: Store, clock: SetClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """People give it, and `/help` shows it."""
    # The recipe says to write them into that module, and so they stand there for this test.
    for name, sentence in made(block("its sentences"), Sentence=Sentence).items():
        if name.isupper():
            monkeypatch.setattr(phrases, name, sentence, raising=False)
    dice = made(block("the command"), __name__="dice")["DiceCommands"]

    def commands(context: CommandContext) -> list[CommandGroup]:
        return [dice(context)]

    # Here the command does not stand in `bot/app/__init__.py`.
    story = block("its story").replace("(store, clock)", "(store, clock, commands=commands)")
    await made(story, commands=commands)["test_a_die_is_thrown"](store, clock)
    async with app_harness(store, clock, commands=commands) as aldis:
        await aldis.deliver(message("/help"))
        await aldis.answered(1)
        await aldis.deliver(message("/help dice"))
        await aldis.answered(2)
    listed, explained = (reply.content.text for reply in aldis.transport.sent)
    assert " /dice" in listed
    assert explained == "/dice: throws a die."


def test_the_recipe_for_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has its variable, its bounds, and its row in the table."""
    head = "from pydantic import Field\nfrom bot.settings.groups import IntakeSettings\n\n\nclass Intake("
    code = f'{head}IntakeSettings):\n    """What is taken in."""\n\n{indent(block("the setting"), "    ")}\n'
    (tmp_path / "recipe_of_a_setting.py").write_text(code, encoding="utf-8")  # its docstrings are read from the file
    monkeypatch.syspath_prepend(tmp_path)
    group = import_module("recipe_of_a_setting").Intake
    model = create_model("More", __base__=settings.Settings, intake=(group, group()))
    row = "| `INTAKE__BREW_MINUTES` | `4` | How many minutes the tea is left to draw. |"
    assert row in table(model)
    assert group(brew_minutes=10).brew_minutes == 10
    with pytest.raises(ValidationError):
        group(brew_minutes=11)


def test_the_recipe_for_a_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its catalogue is begun with every sentence; what a translator has filled in is said, the rest is in English."""
    assert "`make translations ARGS=it`" in PAGE
    shutil.copytree(TESTS.parent / ".ci", tmp_path / ".ci")
    shutil.copytree(TESTS.parent / "bot", tmp_path / "bot", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run((sys.executable, tmp_path / ".ci" / "translations.py", "it"), check=True, capture_output=True)
    begun = tmp_path / "bot" / "i18n" / "locales" / "it" / "LC_MESSAGES" / "aldis.po"
    text = begun.read_text(encoding="utf-8")
    assert text.count("msgctxt") == len(ENGLISH)
    empty = 'msgctxt "STOPPED"\nmsgid "Stopped."\nmsgstr '
    begun.write_text(text.replace(f'{empty}""', f'{empty}"Fermato."'), encoding="utf-8")
    monkeypatch.setattr(catalogues, "FOLDER", tmp_path / "bot" / "i18n" / "locales")
    italian: Any = "it"  # which `Language` does not name here
    monkeypatch.setitem(cast("dict[Any, str]", locale._LOCALES), italian, "it")
    with language.use_language(italian):
        assert say(common_phrases.STOPPED) == "Fermato."
        assert say(phrases.NOTHING_TO_STOP) == phrases.NOTHING_TO_STOP.text
        assert locale.weekday(0) == "lunedì"


def test_the_recipe_for_a_language_names_every_place() -> None:
    """Where words of several languages stand outside of the catalogues."""
    recipe = PAGE.partition("### A language")[2].partition("###")[0]
    letters = {"split.py", "pages.py"}  # which know the letters, not the languages
    files = [path for room in ("bot", "tools") for path in (TESTS.parent / room).rglob("*.py")]
    speaking = [
        file
        for file in files
        if re.search(r'[äöüéèêñáíóúç]|^\s*"fr": ', file.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert len(speaking) >= 8
    named = set(re.findall(r"[`/](\w+\.py)`", recipe))
    assert {file.name for file in speaking} - letters - named == set()


async def test_the_recipe_for_a_provider() -> None:
    """It answers, and is a provider."""
    provider: Provider = made(block("the provider"), __name__="parrot")["Parrot"]()
    request = Request(
        system="",
        messages=(UserMessage(text="Polly?"),),
        tools=(),
        may_call_tools=False,
        max_output_tokens=10,
        timeout_seconds=1,
        conversation="one",
    )
    completion = await provider.complete(request)
    assert completion.message is not None
    assert (completion.message.text, completion.stop, completion.cost_usd) == ("Polly?", Stop.END, Decimal(0))
    await provider.aclose()


async def test_the_recipe_for_a_transport(tmp_path: Path) -> None:
    """The whole of Aldis answers over it, and stops when it is told to."""
    radio: Any = made(block("the transport"), __name__="radio")["Radio"]()
    given = settings.load_settings({"STORE__PATH": str(tmp_path / "aldis.db"), "WEB__PORT": "0"}, env_file=None)
    stop = asyncio.Event()
    async with app.build_service(given, radio, realm="terminal") as aldis, asyncio.TaskGroup() as group:
        group.create_task(aldis.chat(stop, asyncio.Event()))
        radio.heard.put_nowait("What is 17*23?")
        assert "391" in await radio.said.get()
        radio.heard.put_nowait("/help")
        assert "/remind" in await radio.said.get()
        stop.set()
    assert not radio.stream.is_open


def test_the_recipe_for_the_schema() -> None:
    """What it makes goes with its conversation."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        migrate(connection)
        connection.executescript(block("the migration"))
        connection.execute("INSERT INTO conversations (id, realm, handle, created_at) VALUES (1, 'signal', x'00', 0)")
        connection.execute("INSERT INTO teas VALUES (1, 4)")
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute("INSERT INTO teas VALUES (2, 'four')")
        connection.execute("DELETE FROM conversations")
        assert connection.execute("SELECT count(*) FROM teas").fetchone() == (0,)


CHANGES = re.findall(r"^\| [^|]+ \| `([a-z0-9_./]+\.py)` \| `(\w+)` \|$", PAGE, re.MULTILINE)


def test_a_change_begins_where_the_page_says() -> None:
    """The file has that name at its top, so that a reader who looks for it there finds it at once."""
    assert len(CHANGES) >= 10
    for file, name in CHANGES:
        text = (TESTS.parent / file).read_text(encoding="utf-8")
        assert re.search(rf"^(?:def |async def |class )?{name}\b", text, re.MULTILINE), (file, name)
