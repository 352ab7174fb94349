"""Detects MCP tools that have changed since they were first offered; the store remembers them across restarts.

    first seen --stored--> unchanged ----> runs as usual
                      '--> changed ------> asks before each call, until somebody agreed to one: stored again

A server that was harmless when the operator set it up may later describe a tool so that models call it for something
else, or change its parameters.

Source: Invariant Labs, "MCP Security Notification: Tool Poisoning Attacks", 2025-04 (rug pulls).
"""

import hashlib
import json
import logging
from collections.abc import Mapping

from bot.clock import Clock
from store import Store
from tools import ToolSpec

_log = logging.getLogger(__name__)


class ToolShapes:
    """Remembers the definitions of servers' tools."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: dict[str, str] | None = None
        self._told = frozenset[str]()
        """The changed tools already logged, since a server can describe one anew every time it is asked."""

    async def changed_tools(self, shapes: Mapping[str, str]) -> frozenset[str]:
        """Returns which of these tools differ from their stored definition; a new one is stored as it is.

        Raises:
            StoreError: the definitions could not be read or stored.
        """
        if self._known is None:
            self._known = dict(await self._store.read(lambda repos: repos.tool_shapes.all()))
        new = {tool: shape for tool, shape in shapes.items() if tool not in self._known}
        if new:
            await self._keep(new)
        found = frozenset(tool for tool, shape in shapes.items() if self._known[tool] != shape)
        for tool in found - self._told:
            _log.warning("the server describes the tool %s differently than before; it asks before it runs", tool)
        self._told = found | (self._told - shapes.keys())
        return found

    async def accept(self, tool: str, shape: str) -> None:
        """Stores the tool's present definition after somebody agreed to a call of it.

        Raises:
            StoreError: it could not be stored; the next call asks again.
        """
        await self._keep({tool: shape})

    async def _keep(self, shapes: Mapping[str, str]) -> None:
        now = self._clock.now()
        await self._store.transaction(
            lambda repos: [repos.tool_shapes.keep(tool, shape, now=now) for tool, shape in shapes.items()]
        )
        self._known = {**(self._known or {}), **shapes}


def shape_of(spec: ToolSpec) -> str:
    """A digest of what a tool takes and does, and of how its server describes it to models."""
    said = [spec.name, spec.server, spec.effects, spec.is_disclosing, spec.parameters]
    said += [spec.description] if spec.server else []
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
