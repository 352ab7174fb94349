"""The command line without its loops: arguments, exit statuses, and one line for what is wrong."""

import asyncio
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web

from bot.cli import main as cli
from bot.errors import ConfigError, Disconnected
from store import StoreInUse
from tests.servers.base import Seen, Server


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def left(*arguments: str) -> int | str | None:
    with pytest.raises(SystemExit) as exit_:
        cli.main(arguments)
    return exit_.value.code


def test_what_cannot_be_begun(capsys: pytest.CaptureFixture[str]) -> None:
    """Status 2 and a line with what may have been meant; once asks nothing that it cannot hear the answer to."""
    for arguments, refusal in (
        ((), "usage: "),
        (("chat", "hello"), "usage: "),
        (("chat", "--once"), "usage: "),
        (("link", "--once", "hi"), "usage: "),
        (("docter",), "invalid choice: 'docter'; did you mean doctor?"),
        (("chat", "--onec", "hi"), "unrecognized arguments: --onec hi; did you mean --once?"),
        (("dance",), "(choose from"),
        (("chat", "--once", "  "), "the message is empty"),
        (("chat", "--once", "/forget all"), "add yes: "),
    ):
        assert left(*arguments) == 2
        out, err = capsys.readouterr()
        assert (out, refusal in err) == ("", True), arguments
    assert list(Path().iterdir()) == []


def test_each_verb_stands_in_one_group_of_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """With its purpose; `help` is a verb as well, alone and of another verb."""
    assert left("help") == 0
    shown = re.findall(r"^    ([a-z-]+) +\S", capsys.readouterr().out, re.MULTILINE)
    assert sorted(shown) == sorted(name for verbs in cli.VERBS.values() for name in verbs)
    assert left("help", "chat") == 0
    assert "--once TEXT" in capsys.readouterr().out


def test_the_shell_completes_verbs_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    """In bash, by what the verb prints."""
    assert left("completion") == 0
    asked = 'COMP_WORDS=(aldis {}); COMP_CWORD={}; _aldis; echo "${{COMPREPLY[@]}}"\n'
    script = "\n".join([capsys.readouterr().out, asked.format("upg", 1), asked.format("doctor --m", 2)])
    shell = subprocess.run(["bash"], input=script, capture_output=True, text=True, check=True)
    assert shell.stdout.splitlines() == ["upgrade-check", "--model"]


def test_what_is_set_is_shown_with_its_origin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line each; of a secret, and of JSON that may hold some, only that it is set, of an address no password."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-hidden")
    monkeypatch.setenv("TOOLS__MCP__SERVERS", '{"crm": {"url": "https://crm.example/mcp?key=hidden"}}')
    monkeypatch.setenv("OPENAI_BASE_URL", "http://somebody:hidden@gpu:8000/v1")
    Path(".env").write_text("TZ=Europe/Berlin\nSIGNAL__NAME=Lamp\n")
    Path("data").mkdir()
    Path("data/settings.env").write_text(f"STORE__KEY={'ab' * 32}\nWEB__PORT=1\n")
    assert left("settings") == 0
    assert capsys.readouterr().out.splitlines() == [
        "ANTHROPIC_API_KEY=(set)  # the environment",
        "OPENAI_BASE_URL=http://***@gpu:8000/v1  # the environment",
        "SIGNAL__NAME=Lamp  # .env",
        "STORE__KEY=(set)  # settings.env",
        "TOOLS__MCP__SERVERS=(set)  # the environment",
        "TZ=Europe/Berlin  # .env",
        "WEB__PORT=1  # settings.env",
    ]


def test_a_bad_setting_spoils_every_verb(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One line that names it, in a verb that needs it or not."""
    monkeypatch.setenv("STORE__PAHT", "/data")
    for verb in ("chat", "run", "link", "health", "settings"):
        assert left(verb) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("aldis: STORE__PAHT: there is no such setting; did you mean STORE__PATH?")
        assert err.count("\n") == 1


def test_output_that_is_not_taken_is_no_bug(tmp_path: Path) -> None:
    """Status 1, and nothing on standard error where the reader has gone, a line where the disk is full."""
    source = {"PYTHONPATH": str(Path(cli.__file__).parents[2]), "PATH": "/usr/bin:/bin"}
    full = "aldis: standard output cannot be written: No space left on device\n"
    # The pipe has no reader any more when the verb starts.
    for opened, words in (('exec 3> >(:); wait "$!"', ""), ("exec 3>/dev/full", full)):
        verb = f'{opened}; "{sys.executable}" -m bot help >&3; echo "$?"'
        ran = subprocess.run(["bash", "-c", verb], cwd=tmp_path, env=source, capture_output=True, text=True, check=True)
        assert (ran.stdout, ran.stderr) == ("1\n", words)


def test_where_no_aldis_runs_its_verbs_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    """In a line, with status 2."""
    for arguments in (("restart",), ("admin",), ("captcha", "signalcaptcha://token")):
        assert left(*arguments) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)


def failing(failure: Exception) -> Callable[[], int]:
    def fail() -> int:
        raise failure

    return fail


def test_what_the_operator_has_to_mend_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """However deep in groups of tasks it was raised; status 2. A bug comes out with its trace, also beside such."""
    inner = ExceptionGroup("inner", [ConfigError("WEB__PORT: is taken"), Disconnected("two")])
    failure = ExceptionGroup("loops", [inner, StoreInUse("another one has it open")])
    assert cli.report_failures(failing(failure)) == 2
    lines = ["aldis: WEB__PORT: is taken", "aldis: two", "aldis: another one has it open"]
    assert sorted(capsys.readouterr().err.splitlines()) == sorted(lines)
    with pytest.raises(ExceptionGroup) as bugs:
        cli.report_failures(failing(ExceptionGroup("loops", [ConfigError("one"), ZeroDivisionError()])))
    assert bugs.group_contains(ZeroDivisionError)
    assert not bugs.group_contains(ConfigError)


@dataclass
class Page(Server):
    text: str = ""
    status: int = 200

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        return web.Response(text=self.text if seen.path == "/healthz" else "", status=self.status)


async def health(port: int, monkeypatch: pytest.MonkeyPatch, host: str = "127.0.0.1") -> int | str | None:
    monkeypatch.setenv("WEB__PORT", str(port))
    monkeypatch.setenv("WEB__HOST", host)
    return await asyncio.to_thread(left, "health")


async def test_the_health_of_a_running_aldis(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page's JSON without the machine's proxy; what is wrong and what to do, status 1; switched off, status 2."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    for state, http_status, exit_status in (({"ok": True}, 200, 0), ({"ok": False}, 503, 1), ({}, 200, 1)):
        async with Page(text=json.dumps(state), status=http_status) as page:
            assert await health(page.port, monkeypatch) == exit_status
        assert json.loads(capsys.readouterr().out) == state
    async with Page(text="<h1>It works!</h1>") as page:
        port = page.port
        assert await health(port, monkeypatch) == 1
    assert await health(port, monkeypatch, host="::1") == 1
    assert await health(0, monkeypatch) == 2
    out, err = capsys.readouterr()
    no_json = "it answers with something that cannot be read as JSON"
    do = "aldis: `aldis run` starts Aldis, `aldis doctor` says what is wrong"
    assert (out, err.splitlines()) == (
        "",
        [
            f"aldis: no answer from the health page at 127.0.0.1:{port}: {no_json}",
            do,
            f"aldis: no answer from the health page at [::1]:{port}: it cannot be reached: nothing listens there",
            do,
            "aldis: the health page is turned off (WEB__PORT=0)",
        ],
    )


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    """It stands in the project file alone."""
    project = tomllib.loads((Path(cli.__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert left("--version") == 0
    assert re.fullmatch(rf"Aldis {project['version']} \(source [0-9a-f]{{16}}\)\n", capsys.readouterr().out)
