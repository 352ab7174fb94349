"""The home of the MCP SDK: a connection to a server, from opening it to closing it.

Imported only when the first server is started (`tools.mcp.server`), as it takes a second and 57 MB. A connection is
opened and closed in the same task; calls may come from any.

Source: mcp 2.3.0, 2026-11-21: a request that cannot be sent over HTTP ends the whole connection with an exception
group. `call_tool` checks answers against the server's own schema, which can take forever; the level below does not.
"""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.subscriptions import SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter

from tools.base import Result
from tools.errors import BadArguments, Unavailable
from tools.mcp.base import AnswerLost, ConnectionState, Greeting, ListedTool, Listing, McpSession, SessionFailed
from tools.mcp.content import quote_failure, result_of
from tools.mcp.names import spell_name
from tools.mcp.options import ServerOptions
from tools.mcp.schemas import UnfitSchema, arguments_of
from tools.mcp.transport import open_streams
from tools.text import clean_line, shorten

MAX_TOOLS = 32
"""The limit of tools per server; every question pays for each."""
MAX_LISTING_CHARS = 60_000
"""The limit for all schemas and descriptions of a server together."""
MAX_NAMED = 10
"""How many tools that cannot be offered are named."""
_MAX_PAGES = 20
_MAX_NAME_CHARS = 256
"""Twice what they should have at most. Each name is read in every message, as what people may ask by.

Source: Model Context Protocol 2025-11-25, "Tools", names; read 2026-11-24.
"""
_MAX_DESCRIPTION_CHARS = 800
_MAX_QUOTED_CHARS = 300
_SESSION_IS_OVER = frozenset({"Session terminated", "Session not found"})
"""The error of a restarted server, or of the SDK on its behalf, for a session from before."""
_SDK_SAYS_CLOSED = ("Connection closed", "SSE stream")
"""The beginning of the SDK's message when it gives up a call; many servers use the same code for any failure."""
_FIRST_PAUSE_SECONDS = 1.0
_MAX_PAUSE_SECONDS = 300.0
"""The shortest and the longest pause before a server is listened to again."""
_REFUSALS = frozenset({401, 403, 429})
"""HTTP statuses that mean that the call did not happen."""

_ANSWER: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)
"""Source: Model Context Protocol 2026-07-28, `tools/call`; read 2026-11-27."""

# The SDK logs whatever it cannot read of what servers send: people's words, and more.
for _name in ("mcp", "client", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class _Session:
    """An open connection; see `McpSession`."""

    def __init__(self, client: Client, state: ConnectionState) -> None:
        self._client = client
        self._state = state

    async def listing(self, wanted: tuple[str, ...] | None) -> Listing:
        """See `McpSession`; exceptions of the SDK become `SessionFailed` where the session is left."""
        fit: list[ListedTool] = []
        unfit: list[str] = []
        found = chars = 0
        async for tool in self._listed():
            if wanted is not None and tool.name not in wanted:
                continue
            found += 1
            if found > MAX_TOOLS:
                continue
            if (listed := _fit(tool)) is None:
                unfit.append(tool.name)
                continue
            chars += len(listed.description) + len(str(listed.arguments.json_schema()))
            if chars <= MAX_LISTING_CHARS:
                fit.append(listed)
        surplus = found - len(fit) - len(unfit)
        return Listing(tools=tuple(fit), unfit=tuple(map(spell_name, unfit[:MAX_NAMED])), surplus=surplus)

    async def _listed(self) -> AsyncGenerator[types.Tool]:
        """Yields all tools page by page; keeps none, as a page may be as large as an answer."""
        cursor: str | None = None
        count = 0
        for _ in range(_MAX_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            for tool in page.tools:
                yield tool
            count += len(page.tools)
            cursor = page.next_cursor
            if cursor is None or count > 10 * MAX_TOOLS:
                break

    async def call(self, tool: str, arguments: Mapping[str, Any], *, shown_as: str) -> Result:
        """See `McpSession`; a cancelled call is cancelled at the server, too."""
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        try:
            answer = await self._client.session.send_request(types.CallToolRequest(params=params), _ANSWER)
        except MCPError as error:
            raise self._translate(error) from error
        except (ValueError, RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise AnswerLost("the server's answer cannot be read") from error
        if isinstance(answer, types.InputRequiredResult):
            raise Unavailable("it wants to ask something, which is not possible here; nothing happened")
        if answer.is_error:
            raise Unavailable("the tool says that it failed; what it says is quoted", quoted=quote_failure(answer))
        return result_of(answer, tool=shown_as)

    def _translate(self, error: MCPError) -> Exception:
        """Translates an error of the SDK, depending on whether the call may have happened."""
        code, message = error.error.code, error.error.message
        is_closed = code == types.CONNECTION_CLOSED and message.startswith(_SDK_SAYS_CLOSED)
        if is_closed or message in _SESSION_IS_OVER:
            self._state.ended.set()
            return AnswerLost("the server went away meanwhile")
        if code == types.INTERNAL_ERROR and self._state.status in _REFUSALS:
            return Unavailable(f"the server refuses the call (HTTP {self._state.status})")
        if code in {types.INTERNAL_ERROR, types.PARSE_ERROR, types.CONNECTION_CLOSED}:
            return AnswerLost("the server failed meanwhile")
        if code == types.INVALID_PARAMS:
            return BadArguments("the server refuses these arguments", quoted=_short(message))
        return Unavailable("the server refuses the call", quoted=_short(message))


@asynccontextmanager
async def open_session(server: ServerOptions, state: ConnectionState, greeting: Greeting) -> AsyncGenerator[McpSession]:
    """Opens a connection to the server, and closes it at the end; a command is ended with everything it started.

    Enter and leave it in the same task, inside a cancel scope that bounds the opening.

    Raises:
        SessionFailed: it could not be opened, or broke.
    """
    try:
        async with (
            Client(open_streams(server, state), cache=None, mode=greeting) as client,
            anyio.create_task_group() as group,
        ):
            group.start_soon(_subscribe, client, state)
            yield _Session(client, state)
            group.cancel_scope.cancel()
    except Exception as error:  # nobody can tell beforehand what a server can cause in the SDK
        raise SessionFailed(", ".join(dict.fromkeys(_kinds(error)))) from error


async def _subscribe(client: Client, state: ConnectionState) -> None:
    """Subscribes to changes of the tools while the connection is open, if the protocol requires that.

    Source: Model Context Protocol 2026-07-28, `subscriptions/listen`; until 2025-11-25 servers tell unasked.
    """
    tools = client.server_capabilities.tools
    if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or tools is None or not tools.list_changed:
        return
    pause = _FIRST_PAUSE_SECONDS
    while True:
        began_at = anyio.current_time()
        # What it tells is seen where it is read (`tools.mcp.transport`).
        with suppress(MCPError, SubscriptionLost):
            async with client.listen(tools_list_changed=True) as subscription:
                state.changed.set()  # they may be others since they were read: nothing is told of what came before
                async for _ in subscription:
                    pass
        if anyio.current_time() - began_at > pause:  # it was listened to, and only its stream broke
            pause = _FIRST_PAUSE_SECONDS
        await anyio.sleep(pause)
        pause = min(2 * pause, _MAX_PAUSE_SECONDS)


def _kinds(error: BaseException) -> list[str]:
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [kind for part in group.exceptions for kind in _kinds(part)]
    is_closed = isinstance(error, MCPError) and error.error.code == types.CONNECTION_CLOSED
    return ["it ended" if is_closed else type(error).__name__]


def _fit(tool: types.Tool) -> ListedTool | None:
    """Returns the tool as it is offered; None if its name or schema makes that impossible."""
    if len(tool.name) > _MAX_NAME_CHARS:
        return None
    try:
        arguments = arguments_of(tool.input_schema)
    except UnfitSchema:
        return None
    description = shorten(clean_line((tool.description or "")[:10_000]), _MAX_DESCRIPTION_CHARS)
    hints = tool.annotations or types.ToolAnnotations()
    return ListedTool(
        name=tool.name,
        description=description or "Says nothing of itself.",
        arguments=arguments,
        # If the server says nothing, assume the worst.
        effects="none" if hints.read_only_hint else "repeatable" if hints.idempotent_hint else "once",
        # Its default is that every tool does, which would say nothing.
        reaches_out=hints.open_world_hint is True,
        deletes=hints.destructive_hint is True,
    )


def _short(text: str) -> str:
    return shorten(clean_line(text[:10_000]), _MAX_QUOTED_CHARS)
