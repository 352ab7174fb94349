"""Tool shapes: digests of how MCP servers described their tools when somebody first trusted them.

A forged row counts as missing (`store.guard`), but is told apart from one that never existed.
"""

from collections.abc import Mapping
from datetime import datetime

from store.repository import Repository, millis


class ToolShapes(Repository):
    """The repository of tool shapes. All methods run inside a transaction."""

    def all(self) -> Mapping[str, str]:
        """Returns the shapes by tool; a forged row has the shape "", which no tool has."""
        forged = self.rows("SELECT tool FROM forged_tool_shapes")
        true = self.rows("SELECT tool, shape FROM true_tool_shapes")
        return {**{tool: "" for (tool,) in forged}, **dict(true)}

    def keep(self, tool: str, shape: str, *, now: datetime) -> None:
        """Keeps the shape of a tool in place of the former one."""
        self.execute("DELETE FROM tool_shapes WHERE tool = ?", (tool,))
        self.execute("INSERT INTO tool_shapes (tool, shape, seen_at) VALUES (?, ?, ?)", (tool, shape, millis(now)))
