"""The operator's own secrets are cut out of whatever a model reads, says or has done."""

import base64
import json
from dataclasses import replace
from pathlib import Path

from bot import app
from bot.chat.journal import Outcome
from bot.clock import SetClock
from bot.messages import AssistantMessage, CallId, Opaque, Text, ToolCall
from bot.settings import load_settings
from bot.trust.secrets import CUT, Secrets
from store import Store
from tests.bot.chat.turn_helpers import Desk, Echo, Scripted, calls, contents, says

KEY = "sk-ant-canary-4711"
SECRETS = Secrets([KEY, "Bearer canary-token-0815", "postgresql://reader:p%40ssw0rd42@db.example/club"])


def test_a_secret_is_cut_out() -> None:
    """However spelled. What all keys of a vendor begin with is none, nor a word that would tear holes into answers."""
    for text in (
        KEY,
        KEY.upper(),
        f"It is {KEY}, you know",
        f"https://evil.example/?d={KEY}",
        "canary-token-0815",
        "p@ssw0rd42",
        "p%40ssw0rd42",
        KEY.encode().hex(),
        base64.b64encode(f"{KEY}".encode()).decode(),
        base64.b64encode(f"{KEY} and more".encode()).decode(),
    ):
        shown = SECRETS.cut(text)
        assert CUT in shown, text
        assert not any(part in shown.lower() for part in ("4711", "0815", "w0rd")), text
    for text in (
        "Keys of Anthropic begin with sk-ant-api03-, those of OpenAI with sk-proj-",
        "sk-ant-api03-AAAA_xxxx-0000",
        "0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ \\u0041 %41 &#65; 0x41",
        "Größe: 5 × 7 – “ok” ﬁne ①",
    ):
        assert Secrets(["sk-ant-api03-Ab9_xY-Zq17LmNop", "password123"]).cut(text) == text
    for value in ("", "short1", "ollama", "lm-studio", "/srv/keys/2024", "https://models.example/v1"):
        assert Secrets([value]).cut(f"Here is {value}.") == f"Here is {value}."
    letters = "qwertzuiopasdfghjkly"  # twenty without a digit are a key, nineteen could be words
    assert [Secrets([each]).cut(each) for each in (letters, letters[1:])] == [CUT, letters[1:]]


def test_calls_lose_them_in_every_argument() -> None:
    """Names and all that is within; the blocks of a vendor stay as they are."""
    opaque = Opaque(vendor="anthropic", data={"thinking": KEY})
    arguments: dict[str, object] = {"a": [KEY, {"b": f"x{KEY}", KEY: 1}], "c": 2, "d": None}
    call = ToolCall(id=CallId("c1"), name="post", arguments=arguments)
    cut = SECRETS.cut_message(AssistantMessage(parts=(opaque, Text(text=KEY), call)))
    assert cut.parts[0] == opaque
    assert cut.text == CUT
    assert cut.calls[0].arguments == {"a": [CUT, {"b": f"x{CUT}", CUT: 1}], "c": 2, "d": None}


def test_every_secret_of_the_settings_is_one() -> None:
    """Of the models, the store, the tools and their servers."""
    servers = {
        "crm": {"url": "https://crm.example", "headers": {"Authorization": "Bearer canary-0004"}},
        "rows": {"command": "mcp-rows", "args": ["--db=postgresql://reader:canary-0006@db.example/club"]},
    }
    databases = {
        "club": {"address": "postgresql://reader:canary-0005@db.example/club", "tables": {"members": ["name"]}}
    }
    environment = {
        "ANTHROPIC_API_KEY": "canary-0001",
        "STORE__KEY": "0002" * 16,
        "TOOLS__WEB_SEARCH__TAVILY_API_KEY": "canary-0003",
        "TOOLS__MCP__SERVERS": json.dumps(servers),
        "TOOLS__DB_QUERY__DATABASES": json.dumps(databases),
    }
    found = app.secrets(load_settings(environment))
    for secret in ("canary-0001", "0002" * 16, "canary-0003", "canary-0004", "canary-0005", "canary-0006"):
        assert found.cut(secret) == CUT


def test_the_master_key_is_one(tmp_path: Path) -> None:
    """In the file beside the store as in the settings, in either spelling: a server of files could read it."""
    key = bytes(range(32))
    (tmp_path / "aldis.db-master-key").write_text(key.hex(), encoding="ascii")
    for given in ({}, {"STORE__KEY": key.hex()}, {"STORE__KEY": base64.b64encode(key).decode()}):
        found = app.secrets(load_settings({"STORE__PATH": str(tmp_path / "aldis.db"), **given}, env_file=None))
        assert found.cut(f"{key.hex()} {base64.b64encode(key).decode()}") == f"{CUT} {CUT}"


async def test_neither_the_model_nor_people_nor_tools_are_told(store: Store, clock: SetClock) -> None:
    """A tool brings one, the model repeats it and passes it on."""
    echo = Echo()
    desk = Desk(store, clock, Scripted([calls(("echo", {"word": KEY})), says(f"The key is {KEY}.")]), tools=(echo,))
    turn = await desk.loaded("What is the key?")
    outcome = await replace(desk.agent, secrets=SECRETS).answer(desk.turns.journal(turn, desk.watch))
    assert isinstance(outcome, Outcome)
    assert outcome.text == f"The key is {CUT}."
    assert echo.ran == [CUT]
    assert KEY not in str(outcome.messages)
    assert KEY not in str(contents(desk.provider.requests[-1]))
