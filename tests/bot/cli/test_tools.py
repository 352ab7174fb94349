"""The operator's verbs for tools: what is listed, and a call by hand from its arguments to its result and files."""

import json
import os
import sys
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main as cli
from bot.cli import tools as workbench
from bot.cli.tools import WIDTH
from bot.doctor.tools import ToolGroup
from bot.settings import load_settings
from tests.tools.conftest import USER_AGENT
from tests.tools.distributions import found, put
from tools import CATALOG, CatalogEntry, Fetcher, Http, Options, Tool, alone
from tools.calculator.tool import Calculator
from tools.clock import CurrentTime

PAINTER = '''
from decimal import Decimal
from pydantic import Field
from tools import Arguments, Denied, Options, Result, ResultFile, ToolSpec

class PaintOptions(Options):
    """The settings TOOLS__PAINT__<FIELD>."""
    api_key: str | None = None
    """Its key."""

    def missing_settings(self):
        return None if self.api_key else "API_KEY or ANOTHER_KEY"

class PaintArguments(Arguments):
    subject: str = Field(min_length=1)
    colour: str = "red"

class Paint:
    spec = ToolSpec(
        name="paint", description="Paints.", arguments=PaintArguments, effects="once", cost_usd=Decimal("0.04")
    )

    def __init__(self, options: PaintOptions) -> None:
        pass

    async def run(self, arguments, context):
        if arguments.subject == "nobody":
            raise Denied("It must not be painted.\\x1b[2J")
        if arguments.subject == "somebody":
            raise Denied("The painter refuses.", quoted="No\\x1b[2J faces!")
        made = ResultFile(name="../picture.png", content_type="image/png", data=arguments.colour.encode())
        return Result(data={"shown": "caf\\xe9 \\x9b2J\\u202e"}, files=(made,))
'''


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No `.env` of whoever runs the tests is read."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def painter(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """A tool that costs, makes a file, and cannot be taken back, with its key."""
    folder = tmp_path_factory.mktemp("site")
    put(folder, "aldis-paint", {"paint": "aldis_paint:Paint"}, {"aldis_paint": PAINTER})
    monkeypatch.setenv("TOOLS__PAINT__API_KEY", "a-canary-of-a-key")
    with found(folder):
        yield


def left(*arguments: str) -> int | str | None:
    """The status with which `python -m bot tools ...` leaves."""
    with pytest.raises(SystemExit) as exit_:
        cli.main(("tools", *arguments))
    return exit_.value.code


def listed(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    assert left("--json") == 0
    return {row["tool"] or row["group"]: row for row in json.loads(capsys.readouterr().out)}


@contextmanager
def terminal(typed: bytes) -> Generator[None]:
    """A real terminal as standard input, in which somebody has typed this."""
    ours, theirs = os.openpty()
    os.write(ours, typed)
    before = sys.stdin
    with os.fdopen(theirs, encoding="utf-8") as there:
        sys.stdin = there
        try:
            yield
        finally:
            sys.stdin = before
            os.close(ours)


# The list


@pytest.mark.usefixtures("painter")
def test_every_tool_is_listed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line of the catalogue with its state, cost, effects and who sees what is asked."""
    monkeypatch.setenv("TOOLS__WEATHER__ENABLED", "false")
    monkeypatch.setenv("TOOLS__APPROVE", "convert")
    monkeypatch.setenv("BRAVE_API_KEY", "a-canary-of-a-key")
    rows = listed(capsys)
    assert {row["group"] for row in rows.values()} == {*CATALOG, "paint"}
    assert rows["calculate"] == {
        "tool": "calculate",
        "group": "calculator",
        "from": "aldis",
        "state": "on",
        "cost_usd": "0",
        "effects": "none",
        "asks_first": "never",
        "seen_by": [],
        "advice": "",
        "why": "",
    }
    assert (rows["get_weather"]["state"], rows["get_weather"]["advice"]) == ("off", "TOOLS__WEATHER__ENABLED=true")
    assert rows["convert"]["asks_first"] == "always"
    assert rows["remind"]["asks_first"] == "after reading"
    assert rows["web_search"]["seen_by"] == ["Brave Search", "Wikimedia"]
    assert (rows["web_search"]["cost_usd"], rows["verify_news"]["cost_usd"]) == ("0.005", "0.035")
    assert "Tavily with TOOLS__WEB_SEARCH__TAVILY_API_KEY" in rows["web_search"]["advice"]
    assert (rows["paint"]["cost_usd"], rows["paint"]["seen_by"]) == ("0.04", None)
    assert "canary" not in json.dumps(rows)


def test_every_tool_of_aldis_says_who_is_asked_and_what_it_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody has to guess where a question goes, nor what a tool needs that is not offered."""
    rows = listed(capsys)
    assert [name for name, row in rows.items() if row["seen_by"] is None] == []
    lacking = {name: row["advice"] for name, row in rows.items() if row["state"] == "missing"}
    assert {"images", "mcp", "db_query"} <= set(lacking)
    assert all(f"TOOLS__{name.upper()}__" in advice for name, advice in lacking.items())


@pytest.mark.usefixtures("painter")
def test_the_list_fits_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain text, each tool at the beginning of a line; what one lacks stands below it."""
    monkeypatch.setenv("TOOLS__PAINT__API_KEY", "")
    assert left() == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= WIDTH
    [calculate] = [line for line in lines if line.startswith("calculate ")]
    assert calculate.split() == ["calculate", "on", "free", "none", "never", "nobody"]
    place = lines.index("paint              missing")
    assert lines[place + 1].split() == ["->", "of", "aldis-paint", "1.2"]
    assert lines[place + 2].split()[1:] == ["it", "needs", "TOOLS__PAINT__API_KEY", "or", "ANOTHER_KEY"]


def test_all_that_is_off_says_what_would_switch_it_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tools together, one of them besides."""
    monkeypatch.setenv("TOOLS__ENABLED", "false")
    monkeypatch.setenv("TOOLS__WEATHER__ENABLED", "false")
    rows = listed(capsys)
    assert {row["state"] for row in rows.values()} == {"off"}
    assert rows["calculate"]["advice"] == "TOOLS__ENABLED=true"
    assert rows["get_weather"]["advice"] == "TOOLS__ENABLED=true and TOOLS__WEATHER__ENABLED=true"


# A call by hand


def test_a_call_prints_its_result(capsys: pytest.CaptureFixture[str]) -> None:
    """As JSON on standard output, and nothing else."""
    assert left("call", "calculate", '{"expression": "17*23"}') == 0
    out, err = capsys.readouterr()
    assert (json.loads(out)["result"], err) == ("391", "")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("calculat",), "there is no tool 'calculat'; did you mean calculate?"),
        (("xyzzy",), "there is no tool 'xyzzy'; there are calculate, current_time"),
        (("calculator", "{}"), "there is no tool 'calculator'"),
        (("calculate", "17*23"), "the arguments must be a JSON object; calculate takes expression (needed)"),
        (("calculate", "[1]"), "the arguments must be a JSON object"),
        (("calculate", 100_000 * "["), "the arguments must be a JSON object"),
        (("calculate", '{"sum": "SECRET"}'), "calculate takes expression (needed)"),
        (("current_time", '{"zone": "UTC"}'), "current_time takes timezone"),
        (("get_weather", '{"place": "Kiel"}'), "get_weather is off: TOOLS__WEATHER__ENABLED=true switches it on"),
        (("weather", "{}"), "weather is off: TOOLS__WEATHER__ENABLED=true switches it on"),
        (("images", "{}"), "images is missing: it needs TOOLS__IMAGES__API_KEY or TOOLS__IMAGES__BASE_URL"),
    ],
)
def test_a_wrong_call_says_what_would_be_right(
    arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line on standard error and status 2; nothing that was given is repeated but the name."""
    monkeypatch.setenv("TOOLS__WEATHER__ENABLED", "false")
    assert left("call", *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("aldis: tools: ")
    assert told in err
    assert err.count("\n") == 1
    assert "SECRET" not in err


@pytest.mark.usefixtures("painter")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("remind", '{"action": "list"}'), "remind: This works only in a conversation with Aldis."),
        (("paint", '{"subject": "nobody"}', "--yes"), "paint: It must not be painted. [2J"),
        (("paint", '{"subject": "somebody"}', "--yes"), "paint: The painter refuses. It says: No[2J faces!"),
    ],
)
def test_a_tool_that_fails(arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line on standard error and status 1."""
    assert left("call", *arguments) == 1
    assert capsys.readouterr() == ("", f"aldis: tools: {told}\n")


def test_nobody_has_only_what_a_port_may_have() -> None:
    """What looks for private attributes, such as a debugger or a copy, finds none."""
    somebody = alone(Http(USER_AGENT), Fetcher(USER_AGENT)).memory
    assert hasattr(somebody, "all")
    assert not hasattr(somebody, "_all")


@pytest.mark.usefixtures("painter")
def test_a_terminal_is_told_no_orders(capsys: pytest.CaptureFixture[str]) -> None:
    """What a stranger's page might hold is taken out; letters stay letters."""
    assert left("call", "paint", '{"subject": "a lamp"}', "--yes") == 0
    out = capsys.readouterr().out
    assert json.loads(out)["shown"].startswith("café")
    assert "café" in out
    assert all(sign.isprintable() or sign == "\n" for sign in out)


@pytest.mark.usefixtures("painter")
@pytest.mark.parametrize(("typed", "status"), [(b"y\n", 0), (b"YES\n", 0), (b"\n", 1), (b"n\n", 1), (b"\x04", 1)])
def test_what_cannot_be_taken_back_is_asked_for(typed: bytes, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    """On a terminal, with its price; only a yes is a yes."""
    with terminal(typed):
        assert left("call", "paint", '{"subject": "a lamp"}') == status
    out, err = capsys.readouterr()
    assert "cannot be undone and costs 0.04 USD. Run it? [y/N]" in err
    assert bool(out) is (status == 0)


@pytest.mark.usefixtures("painter")
def test_where_nobody_can_be_asked_it_is_not_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what cannot be taken back nor what the operator wants to be asked for."""
    monkeypatch.setenv("TOOLS__APPROVE", "calculate")
    for call, why in (
        (("paint", '{"subject": "a lamp"}'), "paint does something that cannot be undone and costs 0.04 USD"),
        (("calculate", '{"expression": "1"}'), "calculate asks before it runs"),
    ):
        assert left("call", *call) == 2
        assert capsys.readouterr() == ("", f"aldis: tools: {why}; run it with --yes\n")


# Tools that are known only when they are asked for


class Servers:
    """A source of tools of which one part works and another does not."""

    def __init__(self, *tools: Tool) -> None:
        self._given = tools
        self.absent = {"crm": "it went away"}
        self.unfit = {"lamps": ("odd", "broken")}
        self.is_closed = False

    async def tools(self) -> tuple[Tool, ...]:
        assert not self.is_closed
        return self._given

    async def aclose(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("given", [(Calculator(),), ()])
async def test_what_gives_tools_is_started_and_ended(given: tuple[Tool, ...]) -> None:
    """It is asked for its tools only where it is on; what gives none is broken, by the name that the operator knows."""
    servers = Servers(*given)
    names: list[Collection[str]] = []

    def source(_: Options, taken: Collection[str]) -> Servers:
        names.append(taken)
        return servers

    catalog = {"mcp": CatalogEntry(Options, source=source)}
    settings = load_settings({}, env_file=None)
    groups = [
        ToolGroup(name="clock", state="on", tools=(CurrentTime(),)),
        ToolGroup(name="mcp", state="on", seen_by=("the server lamps",)),
    ]
    async with workbench._running(settings, groups, catalog) as whole:
        assert not servers.is_closed
    assert servers.is_closed
    assert names == [{"current_time"}]
    assert [group.why for group in whole[-2:]] == [
        "it gives no tools at the moment (it went away)",
        "tools that cannot be offered: odd, broken",
    ]
    told = [(group.name, group.state, [tool.spec.name for tool in group.tools]) for group in whole]
    working = [("mcp", "on", ["calculate"])] if given else []
    broken = [("crm", "failed", []), ("lamps", "failed", [])]
    assert told == [("clock", "on", ["current_time"]), *working, *broken]
    off = [ToolGroup(name="mcp", state="off")]
    async with workbench._running(settings, off, catalog) as whole:
        assert whole == off
