"""MCP servers and their tools: each server is started when first needed, listed, called, and restarted when it ends.

    idle --start--> starting --listed--> up --gone, or no longer answering--> (pause) --> starting ...
                       '--failed or too slow--> down --(pause)--> starting ...
    any --end--> ended: the connection closed, the command no more

One task per server owns the connection: it opens and closes it, reads the tools again every minute and when a call has
failed or was given up, and opens it again after growing pauses. Calls come from the tasks of the turns. This is the
home of the SDK, which takes a second and 57 MB, and is imported only where servers are set.

A command sees PATH, HOME, LANG, TZ, the user's name and shell, and what the operator gives it; its standard error is
discarded. It is greeted with the old handshake first, as many exit when they get anything else before `initialize`, and
the other way after a failed start.

Source: github.com/0xMassi/webclaw, issue 107; github.com/dmtrKovalenko/fff, pull request 798 (2026-11-24). mcp 2.3.0:
`call_tool` refuses answers that do not fit the server's own schema; the level below does not. Its client for commands
has no bound for a line, and takes the square of the length: 5 MB 1 s, 12 MB 4 s, in pieces of at most 0.2 s (measured
2026-11-29). So a command is bounded in seconds alone.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import httpx2
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import TypeAdapter

from tools.base import Approval, Effects, Result, Tool, ToolContext, ToolSource, ToolSpec
from tools.connections import trusted_certificates, why_unreachable
from tools.errors import BadArguments, ToolError, Unavailable, UnknownOutcome
from tools.mcp.contents import GivenArguments, UnfitSchema, arguments_of, failure_of, quotable, result_of
from tools.mcp.options import McpOptions, ServerOptions, prefix_of, spell_name
from tools.text import clean_line, shorten

_log = logging.getLogger(__name__)

MAX_ANSWER_BYTES = 12_000_000
"""Per answer over HTTP: the largest picture, in base64."""
MAX_TOOLS = 96
"""The limit for all servers; OpenAI's API takes 128 in all. Source: its chat completions reference, 2026-11-21."""
MAX_TOOLS_OF_ONE = 32
"""The limit per server; every question pays for each."""
MAX_NAME_CHARS = 64
_MAX_NAMED = 10
_MAX_DESCRIPTION_CHARS = 800
_CALM_SECONDS = 60.0
"""A server that was up for this long is restarted as if for the first time."""
_END_SECONDS = 2.8
"""For a command to end: after two, the SDK ends it with all that it has started. A stop has three for each part."""
_HTTP_TIMEOUT = httpx2.Timeout(10, read=600)  # no call may take longer
_REFUSALS = frozenset({401, 403, 429})
"""HTTP statuses that mean that the call did not happen."""
_UNKNOWN = frozenset({types.INTERNAL_ERROR, types.PARSE_ERROR, types.CONNECTION_CLOSED})
"""Errors that do not say whether it did; many servers use the last one for any failure."""

_ANSWER: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)
"""Source: Model Context Protocol 2026-07-28, `tools/call`; read 2026-11-27."""

# The SDK logs whatever it cannot read of what servers send: people's words, and more.
for _name in ("mcp", "client", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerTimeouts:
    """The time limits of a server."""

    wait_seconds: float = 10.0
    """How long a question waits for all starting servers together, and a call for a server that is being restarted."""
    start_seconds: float = 60.0
    """The time limit of a start; a command that downloads itself first may need it."""
    first_pause_seconds: float = 0.5
    max_pause_seconds: float = 120.0
    relist_seconds: float = 60.0
    """After how long its tools are read again, which also shows whether it still answers."""
    answer_seconds: float = 60.0
    """The time limit for reading them; it may be busy with a call."""


class McpServer:
    """A server; nothing runs before `start`."""

    def __init__(self, options: ServerOptions, timeouts: ServerTimeouts, *, taken: Collection[str]) -> None:
        """`taken` are the names of the tools that are always there."""
        self.options = options
        self.tools: tuple[McpTool, ...] = ()
        """The tools it offered when it was last up; empty if it was never up."""
        self.settled = asyncio.Event()
        """Set while nothing is under way: it is up, or the last start has failed."""
        self._timeouts, self._taken = timeouts, taken
        self._listed: list[types.Tool] = []
        self._greeting: Literal["legacy", "auto"] = "auto" if options.command is None else "legacy"
        self._client: Client | None = None
        self._status: int | None = None
        """The status of the last HTTP answer, if it is an error."""
        self._doubt = asyncio.Event()
        """Set when it may have gone, or hear nothing any more: a call has failed or was given up."""
        self._scope = anyio.CancelScope()
        self._owner: asyncio.Task[None] | None = None

    @property
    def is_up(self) -> bool:
        """Whether it takes calls now."""
        return self._client is not None

    def start(self) -> None:
        """Starts it, unless it is running or has been ended."""
        if self._owner is None and not self._scope.cancel_called:
            self._owner = asyncio.create_task(self._live(), name=f"mcp server {self.options.name}")

    async def aclose(self) -> None:
        """Ends it and waits until it has ended."""
        # Not the task: what ends a command may be under way already, and must not be interrupted itself.
        self._scope.cancel()
        if self._owner is not None:
            await asyncio.wait([self._owner], timeout=_END_SECONDS)

    async def call(self, tool: str, arguments: Mapping[str, Any], *, shown_as: str) -> Result:
        """Returns the result of a call of the tool `shown_as` here, or raises `UnknownOutcome` or a `ToolError`."""
        if not self._scope.cancel_called:
            # Bounded here: who gives up waiting for the call itself cannot tell whether it has happened.
            with anyio.move_on_after(self._timeouts.wait_seconds):
                await self.settled.wait()
        if self._client is None:
            raise Unavailable(f"the server {self.options.name} does not answer; it is tried again later")
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        try:
            answer = await self._client.session.send_request(types.CallToolRequest(params=params), _ANSWER)
        except asyncio.CancelledError:
            self._doubt.set()
            raise
        except (MCPError, ValueError, RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            # The next calls wait until it has answered again, or was restarted.
            self.settled.clear()
            self._doubt.set()
            raise self._translate(error) from error
        if isinstance(answer, types.InputRequiredResult):
            raise Unavailable("it wants to ask something, which is not possible here; nothing happened")
        if answer.is_error:
            raise Unavailable("the tool says that it failed; what it says is quoted", quoted=failure_of(answer))
        return result_of(answer, tool=shown_as)

    def _translate(self, error: Exception) -> ToolError:
        if not isinstance(error, MCPError):
            return UnknownOutcome("the server's answer cannot be read")
        code = error.error.code
        if code == types.INTERNAL_ERROR and self._status in _REFUSALS:
            return Unavailable(f"the server refuses the call (HTTP {self._status})")
        if code in _UNKNOWN:
            return UnknownOutcome("the server failed meanwhile")
        refused = BadArguments if code == types.INVALID_PARAMS else Unavailable
        return refused("the server refuses the call", quoted=quotable(error.error.message))

    async def _live(self) -> None:
        """Starts it, and restarts it whenever it ends, after growing pauses."""
        pause = self._timeouts.first_pause_seconds
        with self._scope:
            while True:
                if await self._connect() >= _CALM_SECONDS:
                    pause = self._timeouts.first_pause_seconds
                await asyncio.sleep(pause)
                pause = min(2 * pause, self._timeouts.max_pause_seconds)
        self.settled.set()

    async def _connect(self) -> float:
        """Runs one connection from start to end; returns for how many seconds it was up."""
        now = asyncio.get_running_loop().time
        up_at: float | None = None
        self._status, why = None, "it went away"
        self._doubt.clear()
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self._timeouts.start_seconds):
                    client = await self._open(stack)
                    await self._list(client)
                up_at = now()
                await self._keep(client)
        except Exception as error:  # noqa: BLE001 - no list of what a server, or a damaged SDK, can cause exists
            why = why_unreachable(error)
        finally:
            self._client = None
        why = f"HTTP {self._status}" if self._status else why
        _log.warning("the MCP server %s is down (%s); it is started again", self.options.name, why)
        if up_at is not None:
            # Its tools stay on offer: it is back in a moment, and a list that changes costs every prompt's cache.
            return now() - up_at
        self.tools, self._listed = (), []
        self.settled.set()
        # It may not know how it was greeted.
        self._greeting = "auto" if self._greeting == "legacy" else "legacy"
        return 0.0

    async def _keep(self, client: Client) -> None:
        """Reads its tools again now and then, and when in doubt, until it no longer answers."""
        try:
            while True:
                with anyio.move_on_after(self._timeouts.relist_seconds):
                    await self._doubt.wait()
                self._doubt.clear()
                async with asyncio.timeout(self._timeouts.answer_seconds):
                    await self._list(client)
        except MCPError:
            return  # it went away
        finally:
            # Who calls it now waits for the next start, not for what it takes to end it.
            self._client = None
            self.settled.clear()

    async def _list(self, client: Client) -> None:
        page = await client.list_tools()
        found = page.tools
        while page.next_cursor is not None:
            page = await client.list_tools(cursor=page.next_cursor)
            found += page.tools
        if found != self._listed:
            _log.info("the MCP server %s has %d tools", self.options.name, len(found))
            self._listed = found
            self._offer([tool for tool in found if self.options.tools is None or tool.name in self.options.tools])
        self._client = client
        if not self._doubt.is_set():
            self.settled.set()

    def _offer(self, wanted: Sequence[types.Tool]) -> None:
        """Makes those that models can be offered its `tools`, and logs which are left out."""
        offered: dict[str, McpTool] = {}
        left_out: list[str] = []
        for tool in wanted:
            name = (prefix_of(self.options.name) + spell_name(tool.name))[:MAX_NAME_CHARS]
            try:
                arguments = arguments_of(tool.input_schema)
            except UnfitSchema:
                arguments = None
            if arguments is None or len(offered) == MAX_TOOLS_OF_ONE or name in offered or name in self._taken:
                left_out.append(spell_name(tool.name))
            else:
                offered[name] = McpTool(name, self, tool, arguments)
        self.tools = tuple(offered.values())
        if left_out:
            text = ", ".join(left_out[:_MAX_NAMED])
            _log.warning("the MCP server %s: tools that cannot be offered: %s", self.options.name, text)

    async def _open(self, stack: AsyncExitStack) -> Client:
        """Opens a connection, which ends with the stack."""
        if self.options.url is None:
            nowhere = stack.enter_context(Path(os.devnull).open("w"))  # noqa: ASYNC230, SIM115 - opens at once
            inherited = {name: value for name in ("LANG", "TZ") if (value := os.environ.get(name)) is not None}
            command = StdioServerParameters(
                command=self.options.command or "",
                args=list(self.options.args),
                env=inherited | {name: value.get_secret_value() for name, value in self.options.env.items()},
                cwd=self.options.cwd,
                encoding_error_handler="replace",  # or a byte that is no UTF-8 would leave every call waiting
            )
            transport = stdio_client(command, errlog=nowhere)
        else:
            web = httpx2.AsyncClient(
                # Packed answers are not asked for, so that the bound is one of memory, too.
                headers={name: value.get_secret_value() for name, value in self.options.headers.items()}
                | {"Accept-Encoding": "identity"},
                event_hooks={"response": [self._on_answer]},
                verify=trusted_certificates(),
                timeout=_HTTP_TIMEOUT,
                trust_env=False,
            )
            transport = streamable_http_client(
                self.options.address,
                http_client=await stack.enter_async_context(web),
                max_sse_event_size=MAX_ANSWER_BYTES,
                terminate_on_close=False,
            )
        return await stack.enter_async_context(Client(transport, cache=None, mode=self._greeting))

    async def _on_answer(self, answer: httpx2.Response) -> None:
        if answer.request.method == "POST":
            self._status = answer.status_code if answer.is_error else None
        if "event-stream" not in answer.headers.get("content-type", ""):  # of those the SDK bounds each event
            answer.stream = _Bounded(cast("httpx2.AsyncByteStream", answer.stream))


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                raise httpx2.StreamError("it says more than an answer may hold")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class McpTool:
    """A tool of a server."""

    def __init__(self, name: str, server: McpServer, tool: types.Tool, arguments: type[GivenArguments]) -> None:
        """`name` is its name here."""
        self._server = server
        self._tool = tool.name
        options, hints = server.options, tool.annotations or types.ToolAnnotations()
        # If the server says nothing, assume the worst.
        effects: Effects = "none" if hints.read_only_hint else "repeatable" if hints.idempotent_hint else "once"
        # As the operator says, and more often if it says that it deletes.
        approval: Approval = "each_by_labels" if hints.destructive_hint is True else "by_labels"
        if options.approve == "all":
            approval = "always"
        elif options.approve == "writes" and effects != "none":
            approval = "unless_named"
        # What a server that is not public is asked stays with it, unless it says otherwise.
        reaches_out = effects != "none" or hints.open_world_hint is True
        said = shorten(clean_line(tool.description or ""), _MAX_DESCRIPTION_CHARS) or "Says nothing of itself."
        said = said.replace("“", '"').replace("”", '"')
        self.spec = ToolSpec(
            name=name,
            # A stranger's words: quoted, and attributed to the server.
            description=f"A tool of the server {options.name}, which says of it: “{said}”",
            arguments=arguments,
            server=options.name,
            effects=effects,
            label="public" if not options.private else "private_open" if reaches_out else "private",
            approval=approval,
            timeout_seconds=options.timeout,
        )

    async def run(self, arguments: Any, context: ToolContext) -> Result:  # noqa: ARG002  (servers learn nothing of who asks)
        """Returns the server's result. `arguments` has the JSON object of the call as `given`."""
        try:
            return await self._server.call(self._tool, arguments.given, shown_as=self.spec.name)
        except UnknownOutcome as error:
            if self.spec.effects == "once":
                raise UnknownOutcome(f"{error}; it may have happened, so do not repeat it unasked") from error
            raise Unavailable(f"{error}; try once more") from error


class McpServers(ToolSource):
    """The servers that are set."""

    def __init__(
        self, options: McpOptions, *, taken: Collection[str] = (), timeouts: ServerTimeouts | None = None
    ) -> None:
        """`taken` are the names of the tools that are always there."""
        self._wait_seconds = (timeouts := timeouts or ServerTimeouts()).wait_seconds
        on = [server for server in options.servers if not server.disabled]
        self._servers = [McpServer(server, timeouts, taken=taken) for server in on]
        self._patient_until: float | None = None
        self._logged = set[tuple[str, str]]()
        """The pairs of servers of which the log says that a tool of one hides a tool of the other."""

    async def tools(self) -> Sequence[Tool]:
        """Returns the tools of servers that are up or restarting, each name once; waits for slow ones only once."""
        for server in self._servers:
            server.start()
        if self._patient_until is None:
            self._patient_until = anyio.current_time() + self._wait_seconds
        with anyio.CancelScope(deadline=self._patient_until):
            for server in self._servers:
                await server.settled.wait()
        by_name: dict[str, Tool] = {}
        for tool in (tool for server in self._servers for tool in server.tools):
            name = tool.spec.name
            server = tool.spec.server
            first = by_name.setdefault(name, tool).spec.server
            if first != server and (first, server) not in self._logged:
                self._logged.add((first, server))
                _log.warning("the MCP servers %s and %s both have %s; the first one's is offered", first, server, name)
        return [*by_name.values()][:MAX_TOOLS]

    @property
    def absent(self) -> Sequence[str]:
        """The servers that are down or not yet started."""
        return [server.options.name for server in self._servers if not server.is_up]

    async def aclose(self) -> None:
        """Ends all servers."""
        await asyncio.gather(*(server.aclose() for server in self._servers))
