"""An MCP server over its whole life: started when first needed, listed, called, restarted when it ends.

    idle --start--> starting --listed--> up --gone--> (pause) --> starting ...
                       '--failed or too slow--> down --(pause)--> starting ...
    up --a call given up, then no answer to anything--> gone
    any --end--> ended: the connection closed, the command no more

One task owns the connection: it opens and closes it, and opens it again after growing pauses. Calls come from the
tasks of the turns.

A command is greeted with the old handshake first: many, such as all of rmcp before 3, exit when they get anything else
before `initialize`, and others ignore it. After a failed start the other way is tried.

Source: github.com/0xMassi/webclaw, issue 107, and github.com/dmtrKovalenko/fff, pull request 798; read 2026-11-24.
"""

import asyncio
import importlib
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from tools.base import Result
from tools.errors import Unavailable
from tools.mcp.base import ConnectionState, Greeting, ListedTool, McpSession, Opened, SessionFailed
from tools.mcp.options import ServerOptions

_log = logging.getLogger(__name__)

_GONE = "it went away"


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerTimeouts:
    """The time limits of a server."""

    wait_seconds: float = 10.0
    """How long a question waits for all starting servers together, and a call for a server that is being restarted."""
    start_seconds: float = 60.0
    """The time limit of a start; a command that downloads itself first may need it."""
    first_pause_seconds: float = 0.5
    max_pause_seconds: float = 120.0
    calm_seconds: float = 60.0
    """A server that was up for this long is restarted as if for the first time."""
    end_seconds: float = 2.5
    """The time limit for closing."""
    first_relist_seconds: float = 1.0
    """The delay before a server's changed tools are read again: it may announce each of several changes."""
    max_relist_seconds: float = 3600.0
    """The longest such delay, for a server that announces changes again and again; after as long without any it starts
    anew."""
    doubt_seconds: float = 120.0
    """How long a server that missed the deadline of a call may take to list its tools: it may still be busy with that
    call."""


class McpServer:
    """A server; nothing runs before `start`."""

    def __init__(self, options: ServerOptions, timeouts: ServerTimeouts) -> None:
        self.options = options
        self.tools: tuple[ListedTool, ...] = ()
        """The tools it offered when it was last up; empty if it was never up."""
        self.why_down = "it has not come up yet"
        """Why it is down, for the operator."""
        self.unfit: tuple[str, ...] = ()
        """The names of tools that cannot be offered, for the operator."""
        self._timeouts = timeouts
        self._greeting: Greeting = "auto" if options.command is None else "legacy"
        self._session: McpSession | None = None
        self._settled = asyncio.Event()  # nothing is under way: it is up, or the last start has failed
        self._doubted = asyncio.Event()  # a call was given up
        self._scope: anyio.CancelScope | None = None
        self._owner: asyncio.Task[None] | None = None
        self._is_over = False
        self._told_down = False

    @property
    def is_up(self) -> bool:
        """Whether it takes calls now."""
        return self._session is not None

    def start(self) -> None:
        """Starts it, unless it is running."""
        if not self._is_over and (self._owner is None or self._owner.done()):
            self._owner = asyncio.create_task(self._live(), name=f"mcp server {self.options.name}")

    async def wait_settled(self) -> None:
        """Waits until it is up or cannot be started for now."""
        await self._settled.wait()

    async def call(self, tool: str, arguments: Mapping[str, Any], *, shown_as: str) -> Result:
        """Returns the result of a call. The caller limits the time.

        Raises:
            AnswerLost: the connection ended before or in the call, or the answer cannot be read.
            ToolError: it is down, it refuses the call, or it says that it failed.
        """
        if not self._is_over:
            # Bounded here: who gives up waiting for the call itself cannot tell whether it has happened.
            with anyio.move_on_after(self._timeouts.wait_seconds):
                await self._settled.wait()
        if self._session is None:
            raise Unavailable(f"the server {self.options.name} does not answer; it is tried again later")
        try:
            return await self._session.call(tool, arguments, shown_as=shown_as)
        except asyncio.CancelledError:
            self._doubted.set()
            raise

    async def aclose(self) -> None:
        """Ends it and waits until it has ended."""
        self._is_over = True
        if self._owner is None:
            return
        if self._scope is None:
            self._owner.cancel()
        else:
            # Not the task: what ends a command may be under way already, and must not be interrupted itself.
            self._scope.cancel()
        await asyncio.wait([self._owner], timeout=self._timeouts.end_seconds)

    async def _live(self) -> None:
        """Starts it, and restarts it whenever it ends."""
        pause = self._timeouts.first_pause_seconds
        with anyio.CancelScope() as self._scope:
            while True:
                if await self._life() >= self._timeouts.calm_seconds:
                    pause = self._timeouts.first_pause_seconds
                await asyncio.sleep(pause)
                pause = min(2 * pause, self._timeouts.max_pause_seconds)

    async def _life(self) -> float:
        """Runs one connection from start to end; returns for how many seconds it was up."""
        now = asyncio.get_running_loop().time
        up_at: float | None = None
        state = ConnectionState()
        try:
            opened = await import_way_in()
            with anyio.CancelScope(deadline=now() + self._timeouts.start_seconds) as start:
                async with opened(self.options, state, self._greeting) as session:
                    await self._take_up(session)
                    up_at, start.deadline = now(), math.inf
                    await self._until_gone(session, state)
                    # Who calls it now waits for the next start, not for what it takes to end it.
                    self._session, self.why_down = None, state.complaint or _GONE
                    self._settled.clear()
            why = "it did not come up in time" if up_at is None else _GONE
        except SessionFailed as error:
            why = str(error)
        finally:
            self._session = None
        if up_at is None and not state.is_unreachable:
            # It may not know how it was greeted.
            self._greeting = "auto" if self._greeting == "legacy" else "legacy"
        self._on_gone(was_up=up_at is not None, why=state.complaint or why)
        return 0.0 if up_at is None else now() - up_at

    async def _until_gone(self, session: McpSession, state: ConnectionState) -> None:
        """Waits until it is gone, or answers nothing after a call that was given up."""
        self._doubted.clear()
        async with anyio.create_task_group() as group:
            group.start_soon(self._look_after, session, state)
            group.start_soon(self._keep_listing, session, state)
            await state.ended.wait()
            group.cancel_scope.cancel()

    async def _look_after(self, session: McpSession, state: ConnectionState) -> None:
        answered = True
        while answered:
            await self._doubted.wait()
            self._doubted.clear()
            with anyio.move_on_after(self._timeouts.doubt_seconds) as patience:
                await session.listing(())
            answered = not patience.cancelled_caught
        state.end("it answers no more")

    async def _keep_listing(self, session: McpSession, state: ConnectionState) -> None:
        """Reads its tools again when it announces a change, less often the more often it does."""
        now = asyncio.get_running_loop().time
        pause = self._timeouts.first_relist_seconds
        while True:
            calm_since = now()
            await state.changed.wait()
            if now() - calm_since > self._timeouts.max_relist_seconds:
                pause = self._timeouts.first_relist_seconds
            await asyncio.sleep(pause)
            pause = min(2 * pause, self._timeouts.max_relist_seconds)
            state.changed.clear()
            with anyio.move_on_after(self._timeouts.doubt_seconds) as patience:
                await self._take_up(session)
            if patience.cancelled_caught:
                state.end("it answers no more")

    def _on_gone(self, *, was_up: bool, why: str) -> None:
        self.why_down = why
        if was_up:
            # Its tools stay on offer: it is back in a moment, and a list that changes costs every prompt's cache.
            self._settled.clear()
        else:
            self.tools = ()
            self._settled.set()
        level = logging.INFO if self._told_down and not was_up else logging.WARNING
        _log.log(level, "the MCP server %s is down (%s); it is started again", self.options.name, why)
        self._told_down = True

    async def _take_up(self, session: McpSession) -> None:
        listing = await session.listing(self.options.tools)
        if listing.unfit and listing.unfit != self.unfit:
            names = ", ".join(listing.unfit)
            _log.warning("the MCP server %s: tools that cannot be offered: %s", self.options.name, names)
        if listing.surplus:
            _log.warning("the MCP server %s: %d tools more than can be offered", self.options.name, listing.surplus)
        self._session, self._told_down, self.unfit = session, False, listing.unfit
        # The same ones stay the same objects: a list that changes costs every prompt's cache.
        if [*map(_said_of, self.tools)] != [*map(_said_of, listing.tools)]:
            self.tools = listing.tools
        self._settled.set()
        _log.info("the MCP server %s is up with %d tools", self.options.name, len(self.tools))


def _said_of(tool: ListedTool) -> tuple[object, ...]:
    """Returns everything that a server says about a tool."""
    return tool.name, tool.description, tool.arguments.json_schema(), tool.effects, tool.reaches_out, tool.deletes


async def import_way_in() -> Opened:
    """Imports and returns the function that opens connections, off the event loop: the SDK takes a second and 57 MB.

    Raises:
        SessionFailed: the SDK is damaged, or one that we do not know.
    """
    try:
        return (await asyncio.to_thread(importlib.import_module, "tools.mcp.session")).open_session
    except Exception as error:  # a damaged file, or packages that do not fit each other, fail in any way
        raise SessionFailed(f"the SDK cannot be loaded: {type(error).__name__}") from error
