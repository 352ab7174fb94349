"""Settings that are misspelt or wrong: a real start refuses them, or a real doctor names them. None is silently taken.

Slips and values are in `tests/bot/test_settings.py` by the dozen; here are the dearest ones, all at once.
"""

import re
import socket
from pathlib import Path

from tests.flows.processes import run_to_end
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import ALICE
from tests.servers.searches import Brave
from tests.servers.signal_cli import SignalCli

REFUSED = (
    ("BUDGET_ALL_DAY_USD", "5", "there is no such setting; did you mean BUDGET__ALL_DAY_USD?"),
    ("ACCES__ALLOWED", ALICE.uuid, "there is no such setting; did you mean ACCESS__ALLOWED?"),
    ("BUDGET__ALL_DAY_USD", "1,50", "should be a valid decimal"),
    ("ACCESS__ALLOWED", "0170 1234567", "must be * for everybody, or a comma-separated list of phone numbers"),
    ("STORE__KEY_FILE", "/nowhere/key", "the file that it names cannot be read"),
    ("LLM__PROVIDERS", "claude", "should be 'anthropic', 'openai' or 'offline'"),
    ("TOOLS__MCP__SERVERS", "{files: mcp-files}", "must"),
    ("TOOLS__DB_QUERY__DATABASES", "shop", "must"),
    ("TOOLS__NEWS__FEEDS", "example.org/feed", "must"),
)
"""What is set, and how the refusal goes on after the name of the variable."""


async def test_a_start_refuses_everything_at_once(tmp_path: Path) -> None:
    """All that is wrong, in a line each; the bridge is not asked, no database is made."""
    (tmp_path / ".env").write_text("MY_PASSWORD=x\n", encoding="utf-8")
    settings = {name: value for name, value, _ in REFUSED}
    refused = await run_to_end("run", settings={"SIGNAL__URL": "http://127.0.0.1:9", **settings}, folder=tmp_path)
    assert (refused.status, refused.stdout) == (2, "")
    lines = refused.stderr.splitlines()
    wanted = [("MY_PASSWORD", "there is no such setting (it is set in .env)")]
    wanted += [(name, words) for name, _, words in REFUSED]
    assert [
        name for name, words in wanted if not any(line.startswith(f"aldis: {name}: {words}") for line in lines)
    ] == []
    assert len(lines) == len(wanted)
    assert not (tmp_path / "aldis.db").exists()


async def test_all_that_is_found_out_late_is_told_at_once(tmp_path: Path) -> None:
    """A line each, by the start and by the doctor, which finds nothing of it well."""
    settings = {
        "SIGNAL__URL": "http://127.0.0.1:9",
        "BUDGET__ALL_DAY_USD": "5",
        "ANTHROPIC_API_KEY": "k",
        "LLM__ANTHROPIC__BASE_URL": "http://127.0.0.1:9",
        "LLM__ANTHROPIC__MODEL": "claude-of-next-year",
        "TOOLS__APPROVE": "rememeber",
        "WEB__ADMIN_PORT": "8789",
        "WEB__ADMIN_URL": "https://aldis.example.org",
    }
    names = ["BUDGET__ALL_DAY_USD", "TOOLS__APPROVE", "WEB__ADMIN_TOTP"]
    refused = await run_to_end("run", settings=settings, folder=tmp_path)
    lines = refused.stderr.splitlines()
    assert (refused.status, [re.findall(r"[A-Z_]{9,}", line)[0] for line in lines]) == (2, names), refused.stderr
    found = await run_to_end("doctor", settings=settings, folder=tmp_path)
    assert re.findall(r"^problem  settings: ([A-Z_]+)", found.stdout, re.MULTILINE) == names
    assert "ok       budgets" not in found.stdout


async def test_a_start_refuses_a_port_that_is_taken(tmp_path: Path) -> None:
    """With the variable that says another."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = await run_to_end("run", settings={"WEB__PORT": str(taken.getsockname()[1])}, folder=tmp_path)
    assert (refused.status, refused.stderr.startswith("aldis: WEB__PORT: ")) == (2, True)


async def test_a_start_refuses_a_store_before_it_waits_for_the_bridge(tmp_path: Path) -> None:
    """Which may never come: nothing would say that even then nobody is answered."""
    (tmp_path / "aldis.db").write_bytes(b"no database" * 1000)
    refused = await run_to_end("run", settings={"SIGNAL__URL": "http://127.0.0.1:9"}, folder=tmp_path)
    assert (refused.status, refused.stderr.startswith("aldis: the file is not a database")) == (2, True)


async def test_the_doctor_names_each_slip_where_a_start_would_not(tmp_path: Path) -> None:
    """On a line that is no `ok`, or the one below it; no key is shown, no model asked; without them all is well."""
    async with SignalCli() as signal, AnthropicServer() as model, Brave() as search:
        well = {
            "SIGNAL__URL": signal.url,
            "ACCESS__ALLOWED": ALICE.uuid,
            "ANTHROPIC_API_KEY": model.key or "",
            "LLM__ANTHROPIC__BASE_URL": model.url,
        }
        found = await run_to_end("doctor", settings=well, folder=tmp_path)
        assert (found.status, "problem" in found.stdout) == (0, False), found.stdout
        slips = {
            "LLM__ANTHROPIC__MODEL": "claude-hiaku-5-5",
            "LLM__OPENAI__MODEL": "gpt-6-sol",
            "TOOLS__IMAGES__MODEL": "gpt-image-2",
            "BRAVE_API_KEY": "wrong-canary",
            "TOOLS__WEB_SEARCH__BASE_URL": f"{search.url}/res/v1",
            "TOOLS__WEB_SEARCH__PROVIDERS": "brave,tavily,wikipedia",
            "TOOLS__APPROVE": "rememeber",
            "STORE__PATH": "/proc/1/aldis.db",
            "ACCESS__ALLOWED": "+12025550123",
        }
        found = await run_to_end("doctor", settings={**well, **slips}, folder=tmp_path)
        assert model.requests == []
    told = re.findall(r"^(?:warning|problem) .*(?:\n +->.*)?", found.stdout, re.MULTILINE)
    for words in (
        "did you mean claude-haiku-5-5?",
        "LLM__OPENAI__MODEL has no effect",
        "TOOLS__IMAGES__API_KEY",
        "BRAVE_API_KEY",
        "TOOLS__WEB_SEARCH__TAVILY_API_KEY",
        "did you mean remember?",
        "set STORE__PATH",
        "ACCESS__ALLOWED: +12025550123 is not known",
    ):
        assert any(words in line for line in told), (words, found.stdout)
    assert (found.status, "canary" in found.stdout + found.stderr) == (1, False)
