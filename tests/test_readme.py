"""The README is true where a machine can tell: its table of settings is the settings, its example of a tool works."""

import re
from pathlib import Path
from typing import Any

from bot import settings
from tests.conftest import NOON
from tools import Result, ToolContext

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def between(mark: str) -> str:
    """What stands in the README between `<!-- mark -->` and `<!-- /mark -->`."""
    found = re.search(rf"<!-- {mark} -->\n(.*?)<!-- /{mark} -->", README, re.DOTALL)
    assert found, mark
    return found[1].strip()


def test_the_table_of_settings_is_the_settings() -> None:
    """After a change of a setting: put the output of `python -m bot settings` between the marks."""
    assert between("settings") == settings.table().strip()


async def test_the_example_of_a_tool_is_a_tool() -> None:
    """Thirty lines, as they stand there, make a tool with options, a schema and an answer."""
    [example] = re.findall(r'```python\n("""The tool `roll_dice`.*?)```', README, re.DOTALL)
    assert len(example.splitlines()) <= 33
    names: dict[str, Any] = {}
    exec(compile(example, "README.md", "exec"), names)
    options, arguments, dice = names["DiceOptions"], names["DiceArguments"], names["Dice"]
    tool = dice(options(most=3))
    result = await tool.run(arguments(count=9), ToolContext(now=NOON, timezone="UTC"))
    assert isinstance(result, Result)
    assert len(result.data["dice"]) == 3
    assert tool.spec.parameters["properties"]["count"]["minimum"] == 1


def test_every_file_and_target_it_names_is_there() -> None:
    """No link and no make target of the README leads nowhere."""
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`?make ([a-z]+)`?", README):
        if target != "and":
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for path in re.findall(r"-f (docker/\S+)", README):
        assert (ROOT / path).exists(), path
