"""MCP servers as real processes: what they find becomes a result, and whatever they do, Aldis goes on."""

import asyncio
import dataclasses
import json
import logging
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.ports import free_port
from tests.servers import mcp_bad_server, mcp_server
from tests.waiting import DEADLINE_SECONDS, WAIT_SECONDS, eventually
from tools import Result, Tool, ToolContext, Unavailable, UnknownOutcome
from tools.mcp.options import McpOptions
from tools.mcp.servers import McpServers, ServerTimeouts

LAMPS, ROUGH = mcp_server.__file__, mcp_bad_server.__file__
QUICK = ServerTimeouts(wait_seconds=DEADLINE_SECONDS, first_pause_seconds=0.01, max_pause_seconds=0.02)


def command(script: str, *arguments: str, **more: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": [script, *arguments], **more}


@asynccontextmanager
async def running(servers: Mapping[str, Any], timeouts: ServerTimeouts = QUICK) -> AsyncGenerator[McpServers]:
    async with AsyncExitStack() as stack:
        source = McpServers(
            McpOptions.model_validate({"servers": json.dumps(servers)}), taken={"h_more1"}, timeouts=timeouts
        )
        stack.push_async_callback(source.aclose)
        yield source


async def by_name(source: McpServers) -> Mapping[str, Tool]:
    return {tool.spec.name: tool for tool in await source.tools()}


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def called(tool: Tool, context: ToolContext, **arguments: Any) -> Result:
    return await tool.run(tool.spec.arguments.model_validate(arguments), context)


async def test_a_command_of_the_sdk(tmp_path: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results and failures come back, a call is called off, the environment has no setting, and the end is one."""
    monkeypatch.setenv("LLM__ANTHROPIC__API_KEY", "canary")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    async with running({"The Lamps": command(LAMPS, env={"MODE": "own"})}) as source:
        tools = await by_name(source)
        assert not source.absent
        assert (await called(tools["the_lamps_add"], context, a=2, b=3)).data == {"structured": {"result": 5}}
        drawn = await called(tools["the_lamps_picture"], context)
        assert drawn.data == {"text": "Here it is.", "left_out": "1 parts that cannot be passed on"}
        assert [(file.name, file.content_type, file.data) for file in drawn.files] == [
            ("the_lamps_picture-1.png", "image/png", mcp_server.PNG)
        ]
        with pytest.raises(Unavailable) as failed:
            await called(tools["the_lamps_boom"], context)
        assert "boom" in (failed.value.quoted or "")
        assert "boom" not in str(failed.value)
        long = await called(tools["the_lamps_big"], context, n=3_000_000)
        assert 200_000 < len(long.data.get("text", "")) < 201_000
        path = tmp_path / "told"
        giving_up = asyncio.create_task(called(tools["the_lamps_slow"], context, path=str(path)))
        await eventually(path.exists)
        giving_up.cancel()
        await eventually(lambda: path.read_text() == "called off")
        found = (await called(tools["the_lamps_environment"], context)).data["structured"]
        assert (found["MODE"], found["TZ"], found["PATH"]) == ("own", "Europe/Berlin", os.environ["PATH"])
        assert not any("LLM" in name or "canary" in value for name, value in found.items())
        specs = {name.removeprefix("the_lamps_"): tool.spec for name, tool in tools.items()}
        told = [(specs[name].effects, specs[name].approval) for name in ("add", "light_up", "die")]
        assert told == [("none", "by_labels"), ("repeatable", "unless_named"), ("once", "unless_named")]
        assert [specs[name].is_disclosing for name in ("add", "shine", "light_up", "die")] == [False, *([True] * 3)]
        assert [specs[name].is_private for name in ("add", "light_up")] == [True, True]
        pid = int(found["pid"])
        assert is_alive(pid)
        assert os.readlink(f"/proc/{pid}/fd/2") == os.devnull  # noqa: PTH115  (where its standard error goes)
    assert not is_alive(pid)


@asynccontextmanager
async def lamps(port: int, *arguments: str) -> AsyncGenerator[None]:
    command = (sys.executable, LAMPS, str(port), *arguments)
    process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_server_of_the_sdk_over_http(context: ToolContext) -> None:
    """One that comes up later, or gets a tool later, is found without a restart; one that dies in a call is absent."""
    port, headers = free_port(), {"X-Badge": "keeper 7"}
    far = {"type": "http", "url": f"http://127.0.0.1:{port}/mcp", "headers": headers, "approve": "all"}
    async with running({"far": far}, dataclasses.replace(QUICK, relist_seconds=0.05)) as source:
        assert (await source.tools(), list(source.absent)) == ([], ["far"])
        async with lamps(port):
            await eventually(lambda: not source.absent)
            tools = await by_name(source)
            assert tools["far_add"].spec.approval == "always"
            assert (await called(tools["far_badge"], context)).data == {"structured": {"result": "keeper 7"}}
            await called(tools["far_grow"], context)
            async with asyncio.timeout(WAIT_SECONDS):
                while "far_grown" not in await by_name(source):
                    await asyncio.sleep(0.01)
            with pytest.raises(UnknownOutcome, match="may have happened"):
                await called(tools["far_die"], context)
        await eventually(lambda: list(source.absent) == ["far"])
        with pytest.raises(Unavailable):
            await called(tools["far_add"], context, a=1, b=2)


async def test_a_server_that_dies_is_started_again(tmp_path: Path, context: ToolContext) -> None:
    """Its tools stay on offer meanwhile, the same ones; a call that died with it is told, the next one is answered."""
    where = tmp_path / "pid"
    rough = command(ROUGH, "plain", str(where), approve="never", timeout=59)
    async with running({"rough": rough}, dataclasses.replace(QUICK, relist_seconds=0.5)) as source:
        tools = await by_name(source)
        echo = tools["rough_echo"]
        assert (await called(echo, context, text="hi")).data == {"text": '{"text": "hi"}'}
        assert (echo.spec.timeout_seconds, tools["rough_hold"].spec.approval) == (59, "by_labels")
        first = int(where.read_text())
        with pytest.raises(Unavailable, match="failed meanwhile"):
            await called(tools["rough_die"], context, text="")
        assert await by_name(source) == tools
        await eventually(lambda: where.read_text() not in {"", str(first)} and not source.absent)
        assert (await called(echo, context, text="again")).data == {"text": '{"text": "again"}'}
        assert (await by_name(source))["rough_hold"] is tools["rough_hold"]
        assert not is_alive(first)
        os.kill(int(where.read_text()), 9)
        await eventually(lambda: list(source.absent) == ["rough"])
        assert (await called(echo, context, text="waits")).data == {"text": '{"text": "waits"}'}


async def test_a_call_ends_with_the_server(tmp_path: Path, context: ToolContext) -> None:
    """Who waits for an answer when Aldis ends does not wait for ever; afterwards nothing is started again."""
    where = tmp_path / "pid"
    async with running({"rough": command(ROUGH, "plain", str(where))}) as source:
        tools = await by_name(source)
        waiting = asyncio.create_task(called(tools["rough_hold"], context, text=""))
        await asyncio.sleep(0)
    with pytest.raises((UnknownOutcome, Unavailable)):
        await waiting
    with pytest.raises(Unavailable):
        await called(tools["rough_hold"], context, text="")
    await source.tools()
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("mcp server")]
    assert not is_alive(int(where.read_text()))


async def test_a_silent_server_is_left_out_and_ended_with_all_that_it_started(tmp_path: Path) -> None:
    """It costs one question the patience that is set, later ones nothing, and the others are offered meanwhile."""
    silent, plain = tmp_path / "silent", tmp_path / "plain"
    servers = {"mute": command(ROUGH, "silent", str(silent)), "rough": command(ROUGH, "plain", str(plain))}
    async with running(servers, ServerTimeouts(wait_seconds=0.01)) as source:
        await source.tools()
        await eventually(lambda: list(source.absent) == ["mute"] and silent.exists() and " " in silent.read_text())
        assert [tool.spec.name[6:] for tool in await source.tools()] == ["echo", "die", "hold", "post"]
        pids = [int(pid) for pid in silent.read_text().split()]
        assert [is_alive(pid) for pid in pids] == [True, True]
    await eventually(lambda: not any(map(is_alive, pids)))


async def test_tools_are_made_fit_or_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Names of the common alphabet, each once, and short texts; lines that are no messages are passed over."""
    caplog.set_level(logging.DEBUG)
    async with running({name: command(ROUGH, "odd", str(tmp_path / "pid")) for name in ("h", "H!")}) as source:
        tools, _ = await by_name(source), await by_name(source)
    assert caplog.text.count("the MCP servers h and H! both have h_ignore_all_rm_rf; the first one's is offered") == 1
    assert len(tools) == 32
    assert [*tools][:5] == ["h_ignore_all_rm_rf", "h_same_name", f"h_{'l' * 62}", "h_more0", "h_more2"]
    first = tools["h_ignore_all_rm_rf"].spec.description
    assert first.startswith("A tool of the server h, which says of it: “A tool xxx")
    assert len(first) < 900
    assert first.isprintable()
    assert "tools that cannot be offered: same_name, huge, far, names, more1, more30" in caplog.text
    assert not any(words in caplog.text for words in ("rm -rf", "Alice"))


async def test_a_server_that_knows_one_greeting_alone_is_up(tmp_path: Path, context: ToolContext) -> None:
    """Whichever it is. A tool that wants to ask something, as the protocol of 2026-07-28 lets it, has done nothing."""
    for how in ("old", "asks"):
        async with running({"rough": command(ROUGH, how, str(tmp_path / "pid"))}) as source:
            await source.tools()
            await eventually(lambda source=source: not source.absent)
            assert len(await source.tools()) == 4
            if how == "asks":
                with pytest.raises(Unavailable, match=r"wants to ask something.* nothing happened"):
                    await called((await by_name(source))["rough_post"], context, text="")
                assert not source.absent


async def test_a_server_that_hears_nothing_any_more_is_started_again(
    tmp_path: Path, context: ToolContext, caplog: pytest.LogCaptureFixture
) -> None:
    """Seen when its tools are read again after a call that was given up: it would be asked in vain for ever."""
    where = tmp_path / "pid"
    timeouts = dataclasses.replace(QUICK, answer_seconds=0.3, relist_seconds=3600)
    async with running({"rough": command(ROUGH, "stuck", str(where))}, timeouts) as source:
        tools = await by_name(source)
        pid = where.read_text()
        call = asyncio.create_task(called(tools["rough_die"], context, text=""))
        await eventually(Path(f"{where}.held").exists)
        call.cancel()
        await eventually(lambda: where.read_text() not in {"", pid} and not source.absent)
        assert "the MCP server rough is down (no answer in time)" in caplog.text


async def test_servers_that_cannot_be_started_keep_nobody_waiting(caplog: pytest.LogCaptureFixture) -> None:
    """No such command, nobody at the address: told without what was set, and left out."""
    caplog.set_level(logging.WARNING)
    servers = {
        "none": {"command": "/nonexistent/mcp", "env": {"KEY": "canary"}},
        "closed": {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer canary"}},
        "off": {"command": "/nonexistent/mcp", "disabled": True},
    }
    async with running(servers) as source:
        assert await source.tools() == []
        assert list(source.absent) == ["none", "closed"]
    assert "none is down (there is no such file or socket)" in caplog.text
    assert "closed is down (nothing listens there)" in caplog.text
    assert "canary" not in caplog.text
