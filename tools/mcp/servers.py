"""MCP servers and their tools: each server is started when first needed, listed, called, and restarted when it ends.

    idle --start--> starting --listed--> up --gone, or no longer answering--> (pause) --> starting ...
                       '--failed or too slow--> down --(pause)--> starting ...
    any --end--> ended: the connection closed, the command no more

One task per server owns the connection: it opens and closes it, reads the tools again every few minutes, and opens it
again after growing pauses. Calls come from the tasks of the turns. `tools.mcp.session` has the SDK, which takes a
second and 57 MB, and is imported with the first start.

A command is greeted with the old handshake first: many, such as all of rmcp before 3, exit when they get anything else
before `initialize`, and others ignore it. After a failed start the other way is tried.

Source: github.com/0xMassi/webclaw, issue 107, and github.com/dmtrKovalenko/fff, pull request 798; read 2026-11-24.
"""

import asyncio
import hashlib
import importlib
import logging
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, Protocol, cast

import anyio

from tools.base import Approval, Arguments, Effects, Result, Tool, ToolContext, ToolSpec
from tools.errors import Unavailable, UnknownOutcome
from tools.mcp.options import Approve, McpOptions, ServerOptions

_log = logging.getLogger(__name__)

MAX_TOOLS = 96
"""The limit for all servers together; OpenAI's API takes 128 tools in all.

Source: its reference of chat completions, 2026-11-21.
"""
MAX_NAME_CHARS = 64
_MARK_CHARS = 6
_UNFIT = re.compile(r"[^a-z0-9]+")
_CALM_SECONDS = 60.0
"""A server that was up for this long is restarted as if for the first time."""
_END_SECONDS = 2.5

Greeting = Literal["legacy", "auto"]
"""How a connection begins: `legacy` with `initialize`; `auto` with `server/discover`, and `initialize` where the server
answers that it does not know it. Names of the SDK."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerTimeouts:
    """The time limits of a server."""

    wait_seconds: float = 10.0
    """How long a question waits for all starting servers together, and a call for a server that is being restarted."""
    start_seconds: float = 60.0
    """The time limit of a start; a command that downloads itself first may need it."""
    first_pause_seconds: float = 0.5
    max_pause_seconds: float = 120.0
    relist_seconds: float = 300.0
    """After how long its tools are read again, which also shows whether it still answers."""
    answer_seconds: float = 120.0
    """The time limit for reading them; it may be busy with a call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedTool:
    """A tool as a server lists it, made fit to be offered."""

    name: str
    """The server's own name for it."""
    description: str
    schema: Mapping[str, Any]
    """What models see of its arguments."""
    arguments: type[Arguments] = field(compare=False)
    effects: Effects
    reaches_out: bool = False
    """Whether it says that others than the server notice a call: it opens an address, or searches the web."""
    deletes: bool = False
    """Whether it says that a call may destroy something."""


@dataclass(kw_only=True, slots=True)
class ConnectionState:
    """The state of a connection below the SDK, which does not report it."""

    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the server has gone or is no longer read."""
    why: str = ""
    """Why it is no longer read, for the operator."""
    status: int | None = None
    """The status of the last HTTP answer, if it is an error."""

    def end(self, why: str) -> None:
        """Stops reading."""
        self.why = self.why or why
        self.ended.set()


class McpSession(Protocol):
    """An open connection."""

    async def listing(self, wanted: tuple[str, ...] | None) -> tuple[tuple[ListedTool, ...], Sequence[str]]:
        """Returns the tools that the operator wants (None: all) in the server's order, and the names of those of them
        that cannot be offered.
        """
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any], *, shown_as: str) -> Result:
        """Returns the result of a call; `shown_as` is the tool's name here. The caller limits the time.

        Raises:
            UnknownOutcome: the connection ended before or in the call, or the answer cannot be read.
            ToolError: the server refuses the call, or says that it failed.
        """
        ...


_Open = Callable[[ServerOptions, ConnectionState, Greeting], AbstractAsyncContextManager[McpSession]]


class McpServer:
    """A server; nothing runs before `start`."""

    def __init__(
        self, options: ServerOptions, timeouts: ServerTimeouts, names: Callable[[Sequence[str]], Mapping[str, str]]
    ) -> None:
        """`names` returns the server's own names of its tools, by those they have here."""
        self.options = options
        self.tools: tuple[McpTool, ...] = ()
        """The tools it offered when it was last up; empty if it was never up."""
        self.why_down = "it has not come up yet"
        """Why it is down, for the operator."""
        self.unfit: tuple[str, ...] = ()
        """The names of tools that cannot be offered, for the operator."""
        self.settled = asyncio.Event()
        """Set while nothing is under way: it is up, or the last start has failed."""
        self._timeouts = timeouts
        self._names = names
        self._listed: tuple[ListedTool, ...] = ()
        self._greeting: Greeting = "auto" if options.command is None else "legacy"
        self._session: McpSession | None = None
        self._scope = anyio.CancelScope()
        self._owner: asyncio.Task[None] | None = None

    @property
    def is_up(self) -> bool:
        """Whether it takes calls now."""
        return self._session is not None

    def start(self) -> None:
        """Starts it, unless it is running or has been ended."""
        if self._owner is None and not self._scope.cancel_called:
            self._owner = asyncio.create_task(self._live(), name=f"mcp server {self.options.name}")

    async def call(self, tool: str, arguments: Mapping[str, Any], *, shown_as: str) -> Result:
        """Returns the result of a call, see `McpSession`; raises `Unavailable` also where the server is down."""
        if not self._scope.cancel_called:
            # Bounded here: who gives up waiting for the call itself cannot tell whether it has happened.
            with anyio.move_on_after(self._timeouts.wait_seconds):
                await self.settled.wait()
        if self._session is None:
            raise Unavailable(f"the server {self.options.name} does not answer; it is tried again later")
        return await self._session.call(tool, arguments, shown_as=shown_as)

    async def aclose(self) -> None:
        """Ends it and waits until it has ended."""
        # Not the task: what ends a command may be under way already, and must not be interrupted itself.
        self._scope.cancel()
        if self._owner is not None:
            await asyncio.wait([self._owner], timeout=_END_SECONDS)

    async def _live(self) -> None:
        """Starts it, and restarts it whenever it ends."""
        pause = self._timeouts.first_pause_seconds
        with self._scope:
            while True:
                if await self._life() >= _CALM_SECONDS:
                    pause = self._timeouts.first_pause_seconds
                await asyncio.sleep(pause)
                pause = min(2 * pause, self._timeouts.max_pause_seconds)

    async def _life(self) -> float:
        """Runs one connection from start to end; returns for how many seconds it was up."""
        now = asyncio.get_running_loop().time
        up_at: float | None = None
        state = ConnectionState()
        why = "it did not come up in time"
        try:
            open_session = await import_sdk()
            with anyio.CancelScope(deadline=now() + self._timeouts.start_seconds) as start:
                async with open_session(self.options, state, self._greeting) as session:
                    await self._take_up(session)
                    up_at, start.deadline, why = now(), math.inf, "it went away"
                    await self._until_gone(session, state)
                    # Who calls it now waits for the next start, not for what it takes to end it.
                    self._session, self.why_down = None, state.why or why
                    self.settled.clear()
        except Exception as error:  # noqa: BLE001 - no list of what a server, or a damaged SDK, can cause exists
            why = ", ".join(dict.fromkeys(_kinds(error)))
        finally:
            self._session = None
        self.why_down = state.why or (f"HTTP {state.status}" if state.status else why)
        _log.warning("the MCP server %s is down (%s); it is started again", self.options.name, self.why_down)
        if up_at is not None:
            # Its tools stay on offer: it is back in a moment, and a list that changes costs every prompt's cache.
            self.settled.clear()
            return now() - up_at
        self.tools = self._listed = ()
        self.settled.set()
        # It may not know how it was greeted.
        self._greeting = "auto" if self._greeting == "legacy" else "legacy"
        return 0.0

    async def _until_gone(self, session: McpSession, state: ConnectionState) -> None:
        """Waits for its end, and reads its tools again now and then."""
        while not state.ended.is_set():
            with anyio.move_on_after(self._timeouts.relist_seconds):
                await state.ended.wait()
                return
            with anyio.move_on_after(self._timeouts.answer_seconds) as patience:
                await self._take_up(session)
            if patience.cancelled_caught:
                state.end("it answers no more")

    async def _take_up(self, session: McpSession) -> None:
        listed, raw_unfit = await session.listing(self.options.tools)
        unfit = tuple(map(spell_name, raw_unfit))
        if unfit and unfit != self.unfit:
            _log.warning("the MCP server %s: tools that cannot be offered: %s", self.options.name, ", ".join(unfit))
        if self._session is None:
            _log.info("the MCP server %s is up with %d tools", self.options.name, len(listed))
        self._session, self.unfit = session, unfit
        if listed != self._listed:
            by_name = {tool.name: tool for tool in reversed(listed)}
            names = self._names([tool.name for tool in listed])
            self.tools = tuple(McpTool(name=here, server=self, listed=by_name[raw]) for here, raw in names.items())
            self._listed = listed
        self.settled.set()


def _kinds(error: BaseException) -> list[str]:
    """Returns the kinds of error, which quote nothing of what a server said."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [kind for part in group.exceptions for kind in _kinds(part)]
    return [type(error).__name__]


async def import_sdk() -> _Open:
    """Returns the function that opens connections; imports the SDK off the event loop."""
    return (await asyncio.to_thread(importlib.import_module, "tools.mcp.session")).open_session


@dataclass(frozen=True, kw_only=True)
class McpTool:
    """A tool of a server."""

    name: str
    """Its name here."""
    server: McpServer
    listed: ListedTool

    @property
    def spec(self) -> ToolSpec:
        """Its specification, as far as the operator trusts the server."""
        return self._spec

    @cached_property
    def _spec(self) -> ToolSpec:
        options, listed = self.server.options, self.listed
        writes = listed.effects != "none"
        # What a server that is not public is asked stays with it, unless it says otherwise.
        label = "public" if not options.private else "private_open" if writes or listed.reaches_out else "private"
        said = listed.description.replace("“", '"').replace("”", '"')
        return ToolSpec(
            name=self.name,
            # A stranger's words: quoted, and attributed to the server.
            description=f"A tool of the server {options.name}, which says of it: “{said}”",
            arguments=listed.arguments,
            server=options.name,
            effects=listed.effects,
            label=label,
            approval=_approval(options.approve, listed),
            timeout_seconds=options.timeout,
        )

    async def run(self, arguments: Any, context: ToolContext) -> Result:  # noqa: ARG002  (servers learn nothing of who asks)
        """Returns the server's result. `arguments` has the JSON object of the call as `given`."""
        try:
            return await self.server.call(self.listed.name, arguments.given, shown_as=self.name)
        except UnknownOutcome as error:
            if self.listed.effects == "once":
                raise UnknownOutcome(f"{error}; it may have happened, so do not repeat it unasked") from error
            raise Unavailable(f"{error}; try once more") from error


def _approval(approve: Approve, listed: ListedTool) -> Approval:
    """Returns when a call of the tool asks first: as the operator says, and more often if it says that it deletes."""
    if approve == "all":
        return "always"
    if approve == "writes" and listed.effects != "none":
        return "unless_named"
    return "each_by_labels" if listed.deletes else "by_labels"


class McpServers:
    """The servers that are set; a `ToolSource`."""

    def __init__(
        self, options: McpOptions, *, taken: Collection[str] = (), timeouts: ServerTimeouts | None = None
    ) -> None:
        """`taken` are the names of the tools that are always there."""
        self._timeouts = timeouts or ServerTimeouts()
        on = [server for server in options.servers if not server.disabled]
        every = [server.name for server in on]
        self._servers = [
            McpServer(server, self._timeouts, partial(names_of, server.name, servers=every, taken=taken))
            for server in on
        ]
        self._patient_until: float | None = None

    async def tools(self) -> Sequence[Tool]:
        """Returns the tools of the servers that are up or being restarted, in the order of the settings.

        Waits for the servers, but only once for slow ones: later questions do not wait for them.
        """
        for server in self._servers:
            server.start()
        if self._servers and self._patient_until is None:
            # On a small machine the SDK takes several seconds, for which no server is to blame.
            with suppress(Exception):  # each server says so
                await import_sdk()
            self._patient_until = anyio.current_time() + self._timeouts.wait_seconds
        with anyio.CancelScope(deadline=self._patient_until or 0):
            for server in self._servers:
                await server.settled.wait()
        return [tool for server in self._servers for tool in server.tools][:MAX_TOOLS]

    @property
    def absent(self) -> Mapping[str, str]:
        """The servers that are down or not yet started, and why."""
        return {server.options.name: server.why_down for server in self._servers if not server.is_up}

    @property
    def unfit(self) -> Mapping[str, tuple[str, ...]]:
        """See `tools.base.ToolSource`."""
        return {server.options.name: server.unfit for server in self._servers if server.unfit}

    async def aclose(self) -> None:
        """Ends all servers."""
        await asyncio.gather(*(server.aclose() for server in self._servers))


def spell_name(name: str) -> str:
    """Returns the name in lower-case letters, digits and single underscores; `x` if nothing is left of it."""
    return _UNFIT.sub("_", name.lower()[:MAX_NAME_CHARS]).strip("_") or "x"


def prefix_of(server: str) -> str:
    """Returns the prefix of the names of a server's tools, which begins with a letter."""
    prefix = spell_name(server)
    return f"{prefix}_" if prefix[0].isalpha() else f"mcp_{prefix}_"


def names_of(
    server: str, tools: Sequence[str], *, servers: Collection[str], taken: Collection[str]
) -> Mapping[str, str]:
    """Returns the tools of a server by their names here, `server_tool`, in the server's order.

    `servers` are the names of all servers, `taken` those of the tools that are always there. A name that is too long,
    or that something else has or may have, ends in a mark made of what it stands for. So the same tool always has the
    same name, whichever servers are up: an interrupted turn must not call another by it. A tool listed twice is one.
    """
    prefix = prefix_of(server)
    plain = {tool: prefix + spell_name(tool) for tool in tools}
    others = [prefix_of(other) for other in servers if other != server]
    count = Counter(plain.values())

    def is_free(name: str) -> bool:
        is_ours = not any(name.startswith(other) and len(other) >= len(prefix) for other in others)
        return is_ours and len(name) <= MAX_NAME_CHARS and count[name] == 1 and name not in taken

    named: dict[str, str] = {}
    for tool, name in plain.items():
        mark = hashlib.sha256(f"{server}\0{tool}".encode(errors="replace")).hexdigest()[:_MARK_CHARS]
        named.setdefault(name if is_free(name) else f"{name[: MAX_NAME_CHARS - _MARK_CHARS - 1]}_{mark}", tool)
    return named
