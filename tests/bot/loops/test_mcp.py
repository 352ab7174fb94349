"""Tools of MCP servers in a conversation: offered, approved by a person, run, and their pictures handed on."""

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot import app
from bot.clock import SetClock
from bot.commands import phrases
from bot.i18n.catalogues import say
from bot.settings import load_settings
from store import Store
from tests.bot.chat.turn_helpers import Echo, calls, contents, says
from tests.bot.commands.test_commands import ask
from tests.bot.loops.app_harness import FIRST, app_harness
from tests.bot.loops.fake_transport import FakeTransport
from tests.servers import mcp_bad_server
from tests.servers.envelopes import message, reaction
from tools.mcp.options import McpOptions
from tools.mcp.servers import McpServers, ServerTimeouts


def bulleted(phrase: str) -> str:
    return phrase.replace("- ", "• ", 1)


@asynccontextmanager
async def club(where: Path, *, command: str = sys.executable) -> AsyncGenerator[McpServers]:
    servers = {"club": {"command": command, "args": [mcp_bad_server.__file__, "plain", str(where)]}}
    options = McpOptions.model_validate({"servers": json.dumps(servers)})
    source = McpServers(
        options, timeouts=ServerTimeouts(wait_seconds=60, first_pause_seconds=0.01, max_pause_seconds=0.02)
    )
    try:
        yield source
    finally:
        await source.aclose()


async def test_a_tool_of_a_server_is_asked_for_and_its_picture_is_sent(
    store: Store, clock: SetClock, tmp_path: Path
) -> None:
    """It can be switched off; what is not marked as only reading waits for a thumb, and then happens once."""
    async with club(tmp_path / "pid") as source, app_harness(store, clock, tools=(Echo(),), sources=(source,)) as aldis:
        listed = await ask(aldis, "/tools")
        assert listed.splitlines() == [
            bulleted(say(phrases.LIST_ON, name=name))
            for name in ("echo", "club_echo", "club_die", "club_hold", "club_post")
        ]
        assert await ask(aldis, "/tools off club_die") == "Switched off here: club_die."
        aldis.model.script = [
            calls(("club_echo", {"text": "what is new?"})),
            calls(("club_post", {"text": 7})),
            calls(("club_post", {"text": "We sail on Sunday."})),
            says("It is posted."),
        ]
        await aldis.deliver(message("Tell the club when we sail."))
        question = (await aldis.answered(3))[2].content.text
        assert "text: “We sail on Sunday.”" in question
        assert "club_post" in question
        read, wrong = contents(aldis.model.requests[-1])
        assert json.loads(read)["untrusted_data"] == {"text": '{"text": "what is new?"}'}
        assert json.loads(wrong)["error"] == "invalid_arguments"  # nobody was asked about that one
        await aldis.deliver(reaction("👍", FIRST + 3))
        answer = (await aldis.answered(4))[3]
        await aldis.quiet()
        assert answer.content.text == "It is posted."
        assert [(file.name, file.content_type) for file in answer.files] == [("club_post-1.png", "image/png")]
        posted = json.loads(contents(aldis.model.requests[-1])[-1])
        assert posted["untrusted_data"] == {"text": "Posted: We sail on Sunday."}
        offered = [[offer.name for offer in request.tools] for request in aldis.model.requests]
        assert offered == [["echo", "club_echo", "club_hold", "club_post", "use_tool"]] * len(offered)


async def test_a_server_that_is_down_is_named_and_its_tools_stay_switched_off(
    store: Store, clock: SetClock, tmp_path: Path
) -> None:
    """Questions are answered all the same, and what was switched off when it was there can be switched on again."""
    async with club(tmp_path / "pid") as source, app_harness(store, clock, sources=(source,)) as aldis:
        await ask(aldis, "/tools off club_post")
    absent = club(tmp_path / "pid", command="/nonexistent/mcp")
    async with absent as source, app_harness(store, clock, sources=(source,)) as aldis:
        assert (await ask(aldis, "/tools")).endswith(bulleted(say(phrases.LIST_ABSENT, name="club")))
        assert await ask(aldis, "Hello") == "re: Hello"
        assert aldis.model.requests[-1].tools == ()
        assert await ask(aldis, "/tools on club_post") == "Switched on here: club_post."


async def test_aldis_starts_the_servers_with_the_first_question_and_ends_them_with_itself(tmp_path: Path) -> None:
    """Put together from its settings: no process before it is asked for, none afterwards."""
    where = tmp_path / "pid"
    club = {"command": sys.executable, "args": [mcp_bad_server.__file__, "plain", str(where)]}
    environ = {"TOOLS__MCP__SERVERS": json.dumps({"club": club}), "STORE__PATH": str(tmp_path / "aldis.db")}
    async with app.build_service(load_settings(environ, None), FakeTransport(), realm="signal") as aldis:
        assert not where.exists()
        offers = await aldis.worker.agent.toolbox.offers()
        assert [offer.name for offer in offers][-5:-1] == ["club_echo", "club_die", "club_hold", "club_post"]
        pid = int(where.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
