"""What docs/tools.md shows works as it stands there: the tool, its test, the catalogue's line."""

import ast
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bot.app.tools import idle_features
from tests.bot.web.admin.conftest import visited
from tests.conftest import NOON
from tests.test_names import TREES
from tests.tools.conftest import USER_AGENT
from tools import CATALOG, CatalogEntry, Fetcher, Http, ToolContext, ToolDeps, ToolSpec

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")


def block(before: str) -> str:
    [code] = re.findall(rf"{re.escape(before)}\n+```\w*\n(.*?)```", PAGE, re.DOTALL)
    return code


LINE = block("Its line in the catalogue:")
TOOL, TEST = block("<!-- the tool -->"), block("<!-- the test -->").replace("tools.gauge", "gauge")


def test_the_example_is_short() -> None:
    """Thirty lines, without those that are empty or only import or explain; its classes have names of their own."""
    lines = [line.strip() for line in TOOL.splitlines()]
    assert len([line for line in lines if line and not line.startswith(("from ", '"""'))]) <= 30
    taken = {node.name for tree in TREES.values() for node in tree.body if isinstance(node, ast.ClassDef)}
    assert taken.isdisjoint(re.findall(r"^class (\w+)", TOOL, re.MULTILINE))


async def test_the_test_of_the_example_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every one of them, as pytest would call it."""
    (tmp_path / "gauge.py").write_text(TOOL)
    names: dict[str, Any] = {"__name__": "test_gauge"}
    context = ToolContext(now=NOON, timezone="UTC")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "gauge", raising=False)
    async with Http(USER_AGENT) as http:
        exec(compile(TEST, "test_gauge.py", "exec"), names)
        await names["test_the_level_is_told"](http, context)
        nonsense = names["test_nonsense_is_an_error"]
        [mark] = nonsense.pytestmark
        assert len(mark.args[1]) > 3
        for answer in mark.args[1]:
            await nonsense(answer, http, context)
        with pytest.raises(pytest.fail.Exception):
            await nonsense('{"metres": 1}', http, context)


def test_the_example_keeps_the_start_light(tmp_path: Path) -> None:
    """Its options are read at every start, which loads no HTTP client then."""
    (tmp_path / "gauge.py").write_text(TOOL)
    code = "import sys, gauge; sys.exit('httpx' in sys.modules)"
    path = {"PYTHONPATH": f"{tmp_path}:{ROOT}"}
    subprocess.run([sys.executable, "-c", code], check=True, env=path)


async def test_the_line_of_the_catalogue_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gives the tool, and none where the address is missing; the page of tools has its row, with what it does."""
    module = ModuleType("gauge")
    monkeypatch.setitem(sys.modules, "tools.gauge", module)
    exec(compile(TOOL, "gauge.py", "exec"), module.__dict__)
    lines: dict[str, CatalogEntry] = eval(f"{{{LINE}}}", {**module.__dict__, "CatalogEntry": CatalogEntry})
    deps = ToolDeps(http=Http(USER_AGENT), fetcher=Fetcher(USER_AGENT), features=idle_features())
    around = {field.name: getattr(deps, field.name) for field in fields(deps)}
    assert lines["gauge"].build(module.WaterLevelOptions(), around) == ()
    (tool,) = lines["gauge"].build(module.WaterLevelOptions(**lines["gauge"].example), around)
    assert tool.spec.name == "water_level"
    assert isinstance(CATALOG, dict)
    monkeypatch.setitem(CATALOG, "gauge", lines["gauge"])
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        assert "Reads the gauge." in (await visitor.get("/setup/tools")).text


def test_what_a_tool_says_is_explained() -> None:
    """Whatever stands in its spec."""
    assert [field.name for field in fields(ToolSpec) if not re.search(rf"\b{field.name}\b", PAGE)] == []
