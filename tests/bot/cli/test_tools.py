"""The list of the tools: which are on, what the others lack, what each costs and who sees what is asked."""

import json
import sys
from pathlib import Path

import pytest

from bot.cli import look
from bot.cli import main as cli
from bot.settings import load_settings
from tests.servers import mcp_bad_server
from tests.tools.distributions import found, put
from tests.tools.mcp.test_servers import is_alive

PAINTER = '''
from decimal import Decimal
from tools import Arguments, Options, Result, ToolSpec

class PaintOptions(Options):
    """The settings TOOLS__PAINT__<FIELD>."""
    api_key: str | None = None
    """Its key."""

    def missing_settings(self):
        return None if self.api_key else "API_KEY or ANOTHER_KEY"

class Paint:
    spec = ToolSpec(name="paint", description="Paints.", arguments=Arguments, effects="once", cost_usd=Decimal("0.04"))

    def __init__(self, options: PaintOptions) -> None:
        pass

    async def run(self, arguments, context):
        return Result(data={})
'''


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No `.env` of the person who runs the tests is read."""
    monkeypatch.chdir(tmp_path)


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What `aldis tools` prints."""
    with pytest.raises(SystemExit) as exit_:
        cli.main(("tools",))
    assert exit_.value.code == 0
    return capsys.readouterr().out.splitlines()


def test_every_tool_is_listed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each at the beginning of a line, with its state, cost, effects and who sees what is asked; advice below it."""
    monkeypatch.setenv("TOOLS__WEATHER__ENABLED", "false")
    monkeypatch.setenv("TOOLS__APPROVE", "convert")
    monkeypatch.setenv("BRAVE_API_KEY", "a-canary-of-a-key")
    folder = tmp_path_factory.mktemp("site")
    put(folder, "aldis-paint", {"paint": "aldis_paint:Paint"}, {"aldis_paint": PAINTER})
    with found(folder):
        missing = lines(capsys)
        monkeypatch.setenv("TOOLS__PAINT__API_KEY", "a-canary-of-a-key")
        said = lines(capsys)
    rows = {line.split()[0]: line.split() for line in said if line[:1].isalpha()}
    assert max(map(len, said)) <= look.WIDTH
    assert rows["calculate"] == ["calculate", "on", "free", "none", "never", "nobody"]
    assert rows["paint"][:7] == ["paint", "on", "0.04", "once", "after", "reading", "it"]
    assert rows["convert"][4] == "always"
    assert rows["remind"][4:6] == ["after", "reading"]
    assert rows["web_search"][2:] == ["0.005", "none", "never", "Brave", "Search,", "Wikimedia"]
    text = " ".join(" ".join(said).split())
    assert "get_weather off" in text
    assert "-> TOOLS__WEATHER__ENABLED=true switches it on" in text
    assert "Tavily with TOOLS__WEB_SEARCH__TAVILY_API_KEY" in text
    assert "canary" not in text
    place = missing.index("paint              missing")
    assert missing[place + 1].split() == ["->", "of", "aldis-paint", "1.2"]
    assert missing[place + 2].split()[1:] == ["it", "needs", "TOOLS__PAINT__API_KEY", "or", "ANOTHER_KEY"]


def test_all_that_is_off_says_what_would_switch_it_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tools together, one of them besides."""
    monkeypatch.setenv("TOOLS__ENABLED", "false")
    monkeypatch.setenv("TOOLS__WEATHER__ENABLED", "false")
    text = " ".join(lines(capsys))
    assert " on " not in text.replace(" it on", "")
    assert "TOOLS__ENABLED=true and TOOLS__WEATHER__ENABLED=true switches it on" in " ".join(text.split())


async def test_what_gives_tools_is_started_and_ended(tmp_path: Path) -> None:
    """What a server offers stands in the list, and so does each server that is away or describes its tools badly."""
    pids = {name: tmp_path / name for name in ("plain", "hostile")}
    servers = {
        name: {"command": sys.executable, "args": [mcp_bad_server.__file__, name, str(pid)]}
        for name, pid in pids.items()
    }
    given = load_settings({"TOOLS__MCP__SERVERS": json.dumps({**servers, "away": {"command": "/nowhere"}})}, None)
    groups = {group.name: group for group in await look._groups(given)}
    assert "plain_echo" in [tool.spec.name for tool in groups["mcp"].tools]
    assert (groups["away"].state, groups["away"].origin) == ("failed", "mcp")
    assert "nowhere" in groups["hostile"].why
    assert not any(is_alive(int(pid.read_text())) for pid in pids.values())
