"""Tool shapes: digests of how MCP servers described their tools when somebody first trusted them.

Rows are sealed: one that Aldis has not written counts for nothing, but not as one that never existed.
"""

from collections.abc import Mapping
from datetime import datetime

from store.repository import Repository, millis


class ToolShapes(Repository):
    """The repository of tool shapes. All methods run inside a transaction."""

    def all(self) -> Mapping[str, str]:
        """Returns the shapes by tool; a row that Aldis has not written has the shape "", which no tool has."""
        rows = self.rows("SELECT tool, sealed FROM tool_shapes")
        return {tool: (self.keyring.open_row("tool_shapes", (tool,), sealed) or [""])[0] for tool, sealed in rows}

    def keep(self, tool: str, shape: str, *, now: datetime) -> None:
        """Keeps the shape of a tool in place of the former one."""
        sealed = self.keyring.seal_row("tool_shapes", (tool,), (shape, millis(now)))
        self.execute("INSERT OR REPLACE INTO tool_shapes (tool, sealed) VALUES (?, ?)", (tool, sealed))
