"""What import-linter cannot say by itself: the lists in its contracts are complete, and nothing is hidden from it."""

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from store.repository import Repository
from tools import CATALOG

ROOT = Path(__file__).parent.parent


def listed(contract: str) -> set[str]:
    """The modules that the contract of that id names."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    contracts: list[dict[str, Any]] = settings["contracts"]
    return next(set(entry["modules"]) for entry in contracts if entry["id"] == contract)


def imported(module: str) -> set[str]:
    """The modules that a module imports, by their full names."""
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    plain = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    return plain | {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


MADE = {entry.maker.partition(":")[0] for entry in CATALOG.values() if entry.maker}
TOOLS = MADE | {module for module in imported("tools.catalog") if module.startswith("tools.")} - {"tools.base"}


@pytest.mark.parametrize("tool", sorted(module for module in TOOLS if not module.endswith(".options")))
def test_no_tool_imports_another(tool: str) -> None:
    """A tool stands alone: whoever changes it needs to read no other. Read from the catalogue, so none is forgotten."""
    own = {tool, f"{tool.rpartition('.')[0]}.options"}
    assert imported(tool)
    assert not imported(tool) & (TOOLS - own)


def test_tests_that_hang_are_ended_by_one_constant() -> None:
    """No other number of seconds ends one: what is too short somewhere would be found on that machine only."""
    own_numbers = re.compile(r"asyncio\.timeout\([\d.]|wait_for\([^()]*, [\d.]+\)|\.wait\((timeout=)?[1-9][\d.]*\)")
    tests = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    found = [f"{path.name}: {match[0]}" for path, text in tests.items() for match in own_numbers.finditer(text)]
    assert not found


def test_every_repository_is_under_its_contract() -> None:
    """A new repository must be listed, or nobody checks that it stands alone."""
    assert listed("repositories") == {repository.__module__ for repository in Repository.__subclasses__()}


def test_no_import_is_for_the_type_checker_alone() -> None:
    """Such blocks hide circles."""
    sources = [path for room in ("bot", "tools", "store") for path in (ROOT / room).rglob("*.py")]
    assert sources
    assert not [path.name for path in sources if "TYPE_CHECKING" in path.read_text(encoding="utf-8")]


def test_no_group_is_possessive() -> None:
    """Python before 3.11.5 matches these wrongly where the group holds a choice; an atomic group means the same."""
    sources = [path for room in ("bot", "store", "tools") for path in (ROOT / room).rglob("*.py")]
    assert [path for path in sources if re.search(r"(?<!\()\)[*+?]\+", path.read_text(encoding="utf-8"))] == []
