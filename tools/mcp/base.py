"""What is known of a connection to an MCP server without loading the SDK: its shape, what it lists, how it fails."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from tools.base import Arguments, Effects, Result
from tools.mcp.options import ServerOptions

MAX_ANSWER_BYTES = 12_000_000
"""Per answer: the largest picture, in base64."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedTool:
    """A tool as a server lists it, made fit to be offered."""

    name: str
    """The server's own name for it."""
    description: str
    arguments: type[Arguments]
    effects: Effects
    reaches_out: bool = False
    """Whether it says that others than the server notice a call: it opens an address, or searches the web."""
    deletes: bool = False
    """Whether it says that a call may destroy something."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """What a server offers."""

    tools: tuple[ListedTool, ...]
    unfit: tuple[str, ...] = ()
    """The wanted tools that cannot be offered, the first of them, in plain letters; `x` for one without a name."""
    surplus: int = 0
    """How many of the wanted tools are too many."""


@dataclass(kw_only=True, slots=True)
class ConnectionState:
    """The state of a connection below the SDK, which does not report it."""

    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the server has gone or is no longer read."""
    why: str | None = None
    """Why it is no longer read."""
    status: int | None = None
    """The status of the last HTTP answer, if it is an error."""
    is_unreachable: bool = False
    """Whether nothing listened at the address."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server says that its tools have changed."""

    def end(self, why: str = "it says more than an answer may hold") -> None:
        """Stops reading."""
        self.why = why
        self.ended.set()

    @property
    def complaint(self) -> str | None:
        """Known problems with it, for the operator."""
        return self.why or (f"HTTP {self.status}" if self.status else None)


class SessionFailed(Exception):
    """A connection could not be opened, or broke; the message names the kinds of error and quotes nothing."""


class AnswerLost(Exception):
    """A call has no readable answer, so whether it happened is unknown. The message is suitable for a model."""


class McpSession(Protocol):
    """An open connection."""

    async def listing(self, wanted: tuple[str, ...] | None) -> Listing:
        """Returns the server's tools that the operator wants (None: all), in the server's order."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any], *, shown_as: str) -> Result:
        """Returns the result of a call; `shown_as` is the tool's name here. The caller limits the time.

        Raises:
            AnswerLost: the connection ended before or in the call, or the answer cannot be read.
            ToolError: the server refuses the call, or says that it failed.
        """
        ...


Greeting = Literal["legacy", "auto"]
"""How a connection begins: `legacy` with `initialize`; `auto` with `server/discover`, and `initialize` where the server
answers that it does not know it. Names of the SDK."""

Opened = Callable[[ServerOptions, ConnectionState, Greeting], AbstractAsyncContextManager[McpSession]]
"""Opens a connection, which is closed at the end; entering and leaving it may raise `SessionFailed`."""
