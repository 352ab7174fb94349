"""How MCP servers are set: the form that other programs use, as text or in a file; what is wrong is said, not shown."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from bot import app
from bot.errors import ConfigError
from bot.settings import load_settings
from tools.mcp.options import McpOptions

FILES = {"command": "mcp-files", "args": ["/srv"], "env": {"TOKEN": "canary"}}
CRM = {"type": "streamable-http", "url": "https://crm.example/mcp/", "headers": {"Authorization": "Bearer canary"}}


def options(servers: Any) -> McpOptions:
    return McpOptions.model_validate({"servers": servers if isinstance(servers, str) else json.dumps(servers)})


def test_servers_are_read_from_text_and_from_a_file(tmp_path: Path) -> None:
    """In their order, alone or under `mcpServers`; keys, also those in an address, are shown by nothing."""
    servers = {"files": FILES, "crm": CRM | {"timeout": 5, "tools": ["find"], "approve": "all", "private": False}}
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    read = options(servers)
    assert read == options({"mcpServers": servers}) == options(str(path))
    files, crm = read.servers
    assert (files.name, files.command, files.args, files.approve) == ("files", "mcp-files", ("/srv",), "writes")
    assert (crm.name, crm.url, crm.timeout) == ("crm", "https://crm.example/mcp", 5)
    assert (crm.tools, crm.approve, files.private, crm.private) == (("find",), "all", True, False)
    assert crm.headers["Authorization"].get_secret_value() == "Bearer canary"
    assert "canary" not in repr(read) + read.model_dump_json()
    assert read.missing_settings() is None
    assert read.seen_by() == ("files: what it is called with", "crm: what it is called with")
    assert McpOptions().missing_settings() == "SERVERS"
    [crm] = (found := options({"crm": {"url": "https://crm.example/mcp?key=canary%2F1&flat"}})).servers
    assert (crm.url, crm.address) == ("https://crm.example/mcp", "https://crm.example/mcp?key=canary%2F1&flat=")
    assert "canary" not in repr(found) + found.model_dump_json() + str(crm)
    servers = json.dumps({"crm": {"url": "https://crm.example/mcp?key=canary-1234&plain=x"}})
    hidden = app.secrets(load_settings({"TOOLS__MCP__SERVERS": servers}, None))
    assert hidden.cut("It is canary-1234 at https://crm.example/mcp.") == "It is […] at https://crm.example/mcp."


def test_what_is_wrong_is_said_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line that begins with the variable, without a pasted key; without the extra it says what to install."""
    rows: list[tuple[Any, str]] = [
        ("{canary", "must be JSON"),
        ("/nonexistent/canary.json", "file with it that can be read"),
        ({"files": "canary"}, "must be JSON"),
        ({"files": {}}, "either a command or a url"),
        ({"files": FILES | {"url": "https://canary.example"}}, "either a command or a url"),
        ({"files": FILES | {"aprove": "canary"}}, "aprove"),
        ({"files": {"type": "sse", "url": "https://canary.example"}}, "type"),
        ({"crm": CRM | {"url": "https://crm.example/mcp?key=canary#part"}}, "url"),
        ({"": FILES}, "name"),
    ]
    for servers, words in rows:
        text = servers if isinstance(servers, str) else json.dumps(servers)
        with pytest.raises(ConfigError) as caught:
            load_settings({"TOOLS__MCP__SERVERS": text}, None)
        message = str(caught.value)
        assert message.startswith("TOOLS__MCP__SERVERS: ")
        assert words in message
        assert "canary" not in message
    monkeypatch.setitem(sys.modules, "mcp", None)  # as where it is not installed
    assert McpOptions().servers == ()
    with pytest.raises(ConfigError, match=r"TOOLS__MCP__SERVERS: needs the package mcp.*pip install"):
        load_settings({"TOOLS__MCP__SERVERS": json.dumps({"files": FILES})}, None)
