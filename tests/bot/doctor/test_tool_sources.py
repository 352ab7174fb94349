"""The doctor starts the servers that give tools, counts what they give, and ends them."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.doctor.tools import check_tool_sources
from bot.settings import Settings, load_settings
from tests.servers import mcp_bad_server


def given(servers: Mapping[str, object], **more: str) -> Settings:
    return load_settings({"TOOLS__MCP__SERVERS": json.dumps(servers), **more}, None)


async def test_servers_are_looked_at(tmp_path: Path) -> None:
    """Those that answer are counted, each that does not is named with what to do; afterwards none runs."""
    where = tmp_path / "pid"
    rough = {"command": sys.executable, "args": [mcp_bad_server.__file__, "plain", str(where)]}
    found = await check_tool_sources(given({"club": rough, "none": {"command": "/nonexistent/mcp"}}))
    assert [(finding.level, finding.what) for finding in found] == [
        ("ok", "tools: the MCP servers offer 4 tools"),
        ("problem", "tools: the MCP server none does not answer (FileNotFoundError)"),
    ]
    assert found[1].advice == "check it in TOOLS__MCP__SERVERS"
    with pytest.raises(ProcessLookupError):
        os.kill(int(where.read_text()), 0)
