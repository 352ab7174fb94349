"""The shapes of tools: what tools of servers said of themselves when somebody first trusted them with that.

A row that Aldis has not written is none (`store.guard`), and is told apart from one that was never there.
"""

from collections.abc import Mapping
from datetime import datetime

from store.repository import Repository, millis


class ToolShapes(Repository):
    """The repository of the shapes of tools. All methods run inside a transaction."""

    def all(self) -> Mapping[str, str]:
        """The shapes by tool; a forged row has the shape "", which is nobody's."""
        forged = self.rows("SELECT tool FROM forged_tool_shapes")
        true = self.rows("SELECT tool, shape FROM true_tool_shapes")
        return {**{tool: "" for (tool,) in forged}, **dict(true)}

    def keep(self, tool: str, shape: str, *, now: datetime) -> None:
        """Keeps the shape of the tool in place of the former one."""
        self.execute("DELETE FROM tool_shapes WHERE tool = ?", (tool,))
        self.execute("INSERT INTO tool_shapes (tool, shape, seen_at) VALUES (?, ?, ?)", (tool, shape, millis(now)))
