"""Which tools of servers are another thing than when they were first offered: the store remembers over all restarts.

    first seen --kept--> the same -----------> runs as ever
                    '--> something else -----> asks before each call, until somebody has agreed to one: kept again

A server that was harmless when the operator set it up may later describe a tool so that models call it for something
else, or change what it takes.

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
    """Remembers what tools of servers are."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: dict[str, str] | None = None
        self._told: set[tuple[str, str]] = set()

    async def changed_tools(self, shapes: Mapping[str, str]) -> frozenset[str]:
        """Which of these tools are not what they were; one that is new is kept as it is.

        Raises:
            StoreError: it could not be read or kept.
        """
        if self._known is None:
            self._known = dict(await self._store.read(lambda repos: repos.tool_shapes.all()))
        new = {tool: shape for tool, shape in shapes.items() if tool not in self._known}
        if new:
            await self._keep(new)
        found = frozenset(tool for tool, shape in shapes.items() if self._known[tool] != shape)
        for tool in found - {told for told, shape in self._told if shapes.get(told) == shape}:
            self._told.add((tool, shapes[tool]))
            _log.warning("the server of the tool %s describes it differently than before: it asks before it runs", tool)
        return found

    async def accept(self, tool: str, shape: str) -> None:
        """Somebody has agreed to a call of the tool as it is now.

        Raises:
            StoreError: it could not be kept; the next call asks again.
        """
        await self._keep({tool: shape})

    async def _keep(self, shapes: Mapping[str, str]) -> None:
        now = self._clock.now()
        await self._store.transaction(
            lambda repos: [repos.tool_shapes.keep(tool, shape, now=now) for tool, shape in shapes.items()]
        )
        self._known = {**(self._known or {}), **shapes}


def shape_of(spec: ToolSpec) -> str:
    """A digest of what a tool takes and does, and of what a server says of it to models."""
    said = [spec.name, spec.server, spec.effects, spec.is_disclosing, spec.parameters]
    said += [spec.description] if spec.server else []
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
