"""The doctor: every finding over real servers and a real store, the right exit status, and no key in what it prints."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web

from bot import app
from bot.app import models
from bot.app.tools import idle_features
from bot.clock import Clock, SetClock
from bot.doctor import checkup
from bot.doctor.findings import Finding, format_findings
from bot.doctor.machine import check_cell_level, check_disk, check_store, secret_of
from bot.doctor.tools import check_tools
from bot.errors import ConfigError
from bot.media.confinement import Level
from bot.media.sandbox import Sandbox
from bot.settings import load_settings
from store import open_store
from tests.cells import sandbox
from tests.servers.anthropic import AnthropicServer
from tests.servers.base import Seen, Server
from tests.servers.envelopes import ACCOUNT, ALICE, BOB, CAROL, GROUP, message
from tests.servers.script import say
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_rest_api import SignalRestApi
from tools import Fetcher, ToolDeps
from tools.http import Http

OTHER_ACCOUNT = "+15550109999"


async def examined(
    folder: Path,
    given: Mapping[str, str],
    *,
    is_contained: bool = False,
    asks_models: bool = False,
    clock: Clock | None = None,
) -> tuple[Finding, ...]:
    usual = {"SIGNAL__URL": "http://127.0.0.1:9", "STORE__PATH": str(folder / "aldis.db"), "WEB__PORT": "0"}
    wanted = load_settings({**usual, **given}, env_file=None)
    tool_deps = ToolDeps(http=Http("Aldis-test"), fetcher=Fetcher("Aldis-test"), features=idle_features())
    deps = replace(app.doctor_deps(wanted), is_contained=is_contained, tool_deps=tool_deps, sandbox=sandbox)
    return await checkup.examine(wanted, deps, clock or Clock(), asks_models=asks_models)


@dataclass
class Practice:
    signal: SignalCli
    model: AnthropicServer
    path: Path
    given: dict[str, str] = field(default_factory=dict[str, str])

    async def examine(self, clock: Clock | None = None, *, asks_models: bool = False) -> tuple[Finding, ...]:
        usual = {
            "SIGNAL__URL": self.signal.url,
            "ACCESS__ALLOWED": ALICE.uuid,
            "ANTHROPIC_API_KEY": self.model.key or "",
            "LLM__ANTHROPIC__BASE_URL": self.model.url,
        }
        return await examined(self.path.parent, {**usual, **self.given}, clock=clock, asks_models=asks_models)


@pytest.fixture
async def practice(path: Path) -> AsyncGenerator[Practice]:
    async with SignalCli() as signal, AnthropicServer() as model:
        yield Practice(signal, model, path)


def about(findings: tuple[Finding, ...], *words: str) -> Finding:
    [found] = [finding for finding in findings if all(word in finding.what for word in words)]
    return found


async def test_everything_is_well(practice: Practice) -> None:
    """Status 0, and no store is made by it. No key is printed, nothing is sent, and no model is asked."""
    practice.given = {
        "ACCESS__GROUPS": GROUP,
        "ACCESS__ADMINS": BOB.number or "",
        "TOOLS__WEATHER__API_KEY": "key-canary",
    }
    found = await practice.examine()
    shown = format_findings(found)
    assert practice.model.key
    assert not [key for key in ("canary", practice.model.key) if key in shown]
    assert [seen.body for seen in practice.model.looks if seen.body] == practice.model.requests == []
    assert (practice.signal.sent, practice.signal.read, practice.signal.streams_opened) == ([], [], 0)
    assert [
        finding.what
        for finding in found
        if finding.level in {"warning", "problem"} and not re.search("SQLite|HTTP", finding.what)
    ] == []
    assert "problem" not in {one.level for one in found}
    for words in (
        ("ACCESS__ALLOWED", ALICE.uuid, "Alice", ALICE.number or ""),
        ("ACCESS__ADMINS", BOB.number or "", "Bob", BOB.uuid),
        ("ACCESS__GROUPS", GROUP),
        ("cells: strangers' files and pages",),
        (f"bridge: signal-cli answers at {practice.signal.url}",),
        ("bridge: it is signal-cli 0.99.0",),
        (f"account: {ACCOUNT} is linked",),
        ("created at the first start",),
    ):
        assert about(found, *words).level == "ok"
    assert not practice.path.parent.exists()


async def test_what_a_machine_lacks_is_said(practice: Practice) -> None:
    """A clock from 1970, as machines without a battery have; layers of the cells; little room."""
    found = await practice.examine(SetClock(datetime(1970, 1, 2, tzinfo=UTC)))
    assert about(found, "clock: it is off").level == "problem"
    for landlock, seccomp, verdict in ((7, True, "ok"), (0, True, "ok"), (5, False, "warning"), (0, False, "warning")):
        cells = check_cell_level(Level(landlock=landlock, seccomp=seccomp))
        assert cells.level == verdict
        assert (f"Landlock {landlock}" in cells.what) == bool(landlock)
        assert ("no seccomp" in cells.what) == (not seccomp)
        assert ("run_code cannot be offered" in cells.what) == (not (landlock and seccomp))
    assert [check_disk(free_bytes).level for free_bytes in (10**9, 10**8, 10**7)] == ["ok", "warning", "problem"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Whatever is in its place; one that has still to be made is looked at where it would be."""
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    for place, level in (("new/deeper", "ok"), ("file", "problem"), ("/proc/1", "problem")):
        settings = load_settings({"STORE__PATH": str(tmp_path / place / "aldis.db")}, None)
        [found] = asyncio.run(check_store(settings))
        assert (found.level, "cannot write to" in found.what) == (level, level == "problem")
        assert ("STORE__PATH" in found.advice) == (level == "problem")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


async def test_a_store_that_opens_or_not(practice: Practice) -> None:
    """With its size; one that a running Aldis holds is left alone."""
    async with open_store(practice.path, realm="signal"):
        practice.given = {"WEB__PORT": "9"}
        found = await practice.examine()
        assert about(found, "in use by a running Aldis").level == "ok"
    found = await practice.examine()
    assert about(found, "store:", "opens with its key").level == "ok"
    assert about(found, "not running, or not here").level == "ok"
    practice.given = {"STORE__KEY": "00" * 32}
    found = await practice.examine()
    assert about(found, "store: the master key").level == "problem"


async def test_no_bridge(practice: Practice) -> None:
    """What needs it is not looked up, and the rest is looked at all the same; it is asked for no message before."""
    await practice.signal.deliver(message("wait for Aldis"))
    for way in ("unix", "tcp"):
        practice.signal.way = way
        assert about(await practice.examine(), "bridge: it is signal-cli").level == "ok"
    assert (practice.signal.streams_opened, practice.signal.lost, practice.signal.waiting) == (0, [], 1)
    await practice.signal.stop()
    found = await practice.examine()
    assert about(found, "nothing answers at SIGNAL__URL yet (nothing listens there): is").level == "problem"
    assert not [one for one in found if ALICE.uuid in one.what]
    assert about(found, "models: anthropic", "accepts the key").level == "ok"


async def test_what_is_known_of_a_bridge(practice: Practice) -> None:
    """An old one costs messages or the account itself, signal-cli-rest-api drops some: said while there is time."""
    for version, level in (("0.14.0", "problem"), ("0.14.3", "problem"), ("", "warning")):
        practice.signal.version = version
        [found] = [one for one in await practice.examine() if one.what.startswith("bridge: signal-cli") and one.advice]
        assert found.level == level
    async with SignalRestApi() as signal:
        practice.given = {"SIGNAL__URL": signal.url, "ACCESS__GROUPS": GROUP}
        found = await practice.examine()
        signal.mode = "native"
        assert about(await practice.examine(), "start it with MODE=json-rpc").advice == ""
    assert about(found, "bridge: it is signal-cli-rest-api 0.999").level == "ok"
    assert about(found, "drops what comes while").level == "warning"
    assert about(found, GROUP).level == "ok"


async def test_no_account_to_answer_for(practice: Practice) -> None:
    """None, another one, or too many: what to do stands beside it."""
    for accounts, wanted, words in (
        ([], "", "no account is linked"),
        ([ACCOUNT], OTHER_ACCOUNT, "has another account"),
        ([ACCOUNT], ALICE.uuid, "has another account"),
        ([ACCOUNT, OTHER_ACCOUNT], "", "has several accounts"),
    ):
        practice.signal.accounts = accounts
        practice.given = {"SIGNAL__ACCOUNT": wanted}
        found = about(await practice.examine(), words)
        assert found.level == "problem"
        assert "link" in found.what + found.advice


async def test_who_may_write_is_looked_up(practice: Practice) -> None:
    """A typing error shows; that no one may write is a mistake."""
    wrong = GROUP.swapcase()
    practice.given = {"ACCESS__ALLOWED": f"+15550108888,{CAROL.uuid}", "ACCESS__GROUPS": wrong}
    found = await practice.examine()
    assert about(found, "+15550108888", "is not known").level == "warning"
    assert about(found, CAROL.uuid, "Carol", "hides their number").level == "ok"
    assert about(found, wrong, "is not known").level == "warning"
    practice.given = {"ACCESS__ALLOWED": "", "ACCESS__STRANGERS": "pair"}
    found = await practice.examine()
    assert about(found, "no one may write").level == "problem"
    assert about(found, "there is no admin").level == "warning"


async def test_a_model_is_asked_where_that_is_wanted(practice: Practice) -> None:
    """A very small question, with what it cost."""
    practice.model.scripted(say("Yes."))
    found = about(await practice.examine(asks_models=True), "answered as")
    assert found.level == "ok"
    assert "USD" in found.what
    assert len(practice.model.requests) == 1


async def test_tools_and_what_would_switch_them_on(practice: Practice) -> None:
    """Each by name; what is off or could have a key says which variable."""
    practice.given = {"TOOLS__CALCULATOR__ENABLED": "false"}
    found = await practice.examine()
    assert about(found, "tools: calculator is off").advice == "TOOLS__CALCULATOR__ENABLED=true switches it on"
    assert "Brave Search with TOOLS__WEB_SEARCH__API_KEY," in about(found, "tools: web_search is on").advice
    assert about(found, "tools: weather is on").advice == ""
    images = about(found, "tools: images is not offered")
    assert (images.level, images.advice) == ("hint", "it needs TOOLS__IMAGES__API_KEY or TOOLS__IMAGES__BASE_URL")
    assert about(found, "tools: mcp is not offered").advice == "it needs TOOLS__MCP__SERVERS"
    practice.given = {"TOOLS__MCP__SERVERS": '{"none": {"command": "/nonexistent/mcp"}}'}
    assert about(await practice.examine(), "tools: mcp is on").level == "hint"
    shop = {"shop": {"address": "sqlite:///nonexistent/my%20shop.db", "tables": {"orders": ["day"]}}}
    practice.given = {"TOOLS__DB_QUERY__DATABASES": json.dumps(shop)}
    absent = about(await practice.examine(), "tools: db_query: there is no file /nonexistent/my shop.db")
    assert (absent.level, "TOOLS__DB_QUERY__DATABASES" in absent.advice) == ("problem", True)
    practice.given = {"TOOLS__OPEN_DATA__KINDS": "all", "TOOLS__CONTACT": "https://lamps.example"}
    assert "TOOLS__CONTACT" in about(await practice.examine(), "tools: the SEC wants to know").advice
    practice.given |= {"TOOLS__CONTACT": "keeper@lamps.example"}
    assert not any("SEC" in one.what for one in await practice.examine())
    practice.given = {"TOOLS__ENABLED": "false"}
    assert about(await practice.examine(), "tools: all are switched off").advice


class Uncontained(Sandbox):
    """One of a machine on which no program can be contained."""

    async def run_program(self, text: str, *call: str, timeout_seconds: float, person: str = "") -> str:
        return ""


async def test_programs_are_not_offered_where_they_are_not_contained() -> None:
    """The doctor tries, and says so in place of their being on."""
    settings = load_settings({"TOOLS__CODE__ENABLED": "true"}, env_file=None)
    for cells, level, words in ((Uncontained, "warning", "code is not offered"), (sandbox, "ok", "code is on")):
        deps = replace(app.doctor_deps(settings), sandbox=cells)
        found = tuple([finding async for finding in check_tools(settings, deps)])
        reached = await sandbox().level()
        if cells is Uncontained or (reached.seccomp and reached.landlock):
            assert about(found, "tools: code is ").level == level
            assert words in about(found, "tools: code is ").words


@dataclass
class Page(Server):
    answer: web.Response = field(default_factory=web.Response)

    def respond(self, seen: Seen, request: web.Request) -> web.Response:
        return self.answer if seen.path == "/healthz" else web.Response(status=404)


async def test_a_running_aldis_is_asked_how_it_is(practice: Practice) -> None:
    """Its problems and findings, and why it has not answered; what is found here as well is said once."""
    reasons = {"undecryptable": 3, "too_many": 0, "not_addressed": 5, "later on": 2}
    counts = {"envelopes_message": 9, **{f"unanswered_{reason}": count for reason, count in reasons.items()}}
    key = {"level": "problem", "what": "models: anthropic refuses the key", "advice": "look at it"}
    disk = {"level": "warning", "what": "disk: little is left", "advice": ""}
    async with Page() as page:
        practice.given = {"WEB__PORT": str(page.port)}
        page.answer = web.json_response({"ok": True, "problems": [], "counts": counts})
        well = await practice.examine()
        practice.given["ANTHROPIC_API_KEY"] = "no"
        page.answer = web.json_response({"ok": True, "problems": [], "counts": {}, "findings": [key, disk]})
        found = await practice.examine()
        page.answer = web.json_response({"ok": False, "problems": ["deaf"], "counts": {}}, status=503)
        ill = await practice.examine()
        page.answer = web.Response(text="<html>")
        other = await practice.examine()
    assert about(well, "Aldis is well").level == "ok"
    assert about(well, "could not be decrypted", "3").level == "ok"
    assert about(found, "anthropic refuses the key").advice != key["advice"]  # found here as well, and said once
    assert about(found, "disk: little is left").level == "warning"
    assert about(well, "not answered", "5", "no mention").level == "ok"
    assert not [finding for finding in well if "too much" in finding.what or "later" in finding.what]
    assert about(ill, "running: deaf").level == "problem"
    assert about(other, "not running, or not here").level == "ok"


async def test_who_understands_voice_notes(practice: Practice) -> None:
    """That no one listens where the address was left out, or is wrong."""
    for given, level, words in (
        ({}, "hint", "voice notes are not understood"),
        ({"AUDIO__SPEAK": "true"}, "warning", "voice notes are not understood"),
        ({"AUDIO__BASE_URL": "https://api.openai.com/v1"}, "problem", "requires a key"),
        ({"AUDIO__BASE_URL": "http://127.0.0.1:9/v1", "AUDIO__SPEAK": "true"}, "problem", "does not answer"),
    ):
        practice.given = given
        assert about(await practice.examine(), "audio", words).level == level


def test_a_budget_counts_speech_and_pictures() -> None:
    """Where nobody has said what they cost, it is refused at the start; zero can be said, too."""
    budget, speech = {"BUDGET__ALL_DAY_USD": "5"}, {"AUDIO__BASE_URL": "http://w/v1"}
    for used, missing in (
        (speech, "AUDIO__PRICE"),
        ({**speech, "AUDIO__PRICE": "0", "AUDIO__SPEAK": "yes"}, "AUDIO__SPEECH_PRICE"),
        ({"TOOLS__IMAGES__API_KEY": "k"}, "TOOLS__IMAGES__COST_USD"),
        ({"TOOLS__RECALL__MODEL": "embedder", "TOOLS__RECALL__API_KEY": "k"}, "TOOLS__RECALL__PRICE"),
    ):
        with pytest.raises(ConfigError, match=f"^{missing}: must be set where a budget is"):
            models.budgets(load_settings({**budget, **used}, env_file=None))
        models.budgets(load_settings({**budget, **used, missing: "0"}, env_file=None))
        models.budgets(load_settings(used, env_file=None))


async def test_a_check_that_takes_too_long_is_a_finding() -> None:
    """And keeps nobody else waiting."""
    [found] = await checkup._in_time("models", asyncio.Event().wait(), 0.01)  # pyright: ignore[reportArgumentType]
    assert (found.level, "models: not finished" in found.what) == ("warning", True)


SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
PUBLIC = {"WEB__ADMIN_URL": "https://aldis.example.org"}


def test_who_reaches_the_pages() -> None:
    """Others without a second factor are refused at the start; this machine alone, or a container's own, is well."""
    port = {"WEB__ADMIN_PORT": "8789"}
    for given, words in (
        (PUBLIC, "WEB__ADMIN_URL publishes the pages"),
        *(({"WEB__ADMIN_HOST": host}, "WEB__ADMIN_HOST publishes") for host in ("192.168.1.5", "fd00::5", "aldis.lan")),
        ({"WEB__ADMIN_TOTP": "not!base32"}, "base32"),
        ({"WEB__ADMIN_TOTP": SECRET[:16]}, "must be longer"),
    ):
        with pytest.raises(ConfigError, match=words):
            app.check_settings(load_settings({**port, **given}, None))
    for given in (
        *({}, {"WEB__ADMIN_HOST": "::1"}, {"WEB__ADMIN_HOST": "localhost"}),
        {"WEB__ADMIN_URL": "http://localhost:8789"},
        {**PUBLIC, "WEB__ADMIN_TOTP": SECRET},
        {**PUBLIC, "WEB__ADMIN_PORT": "0"},
    ):
        app.check_settings(load_settings({**port, **given}, None))
    for host in ("0.0.0.0", "::", "::0", "0:0:0:0:0:0:0:0"):
        everywhere = load_settings({"WEB__ADMIN_HOST": host}, None)
        assert secret_of(everywhere, is_contained=True) is None
        with pytest.raises(ConfigError, match="WEB__ADMIN_HOST publishes the pages"):
            secret_of(everywhere)
