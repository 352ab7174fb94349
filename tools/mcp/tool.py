"""A tool of an MCP server, as models and people see it."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tools.base import Records, Result, ToolContext, ToolSpec
from tools.errors import Unavailable, UnknownOutcome
from tools.mcp.base import AnswerLost, ListedTool
from tools.mcp.options import ToolHints
from tools.mcp.server import McpServer

_WORD_BEGINS = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, kw_only=True)
class McpTool:
    """One tool of one server."""

    name: str
    """What it is called here."""
    server: McpServer
    listed: ListedTool

    @property
    def spec(self) -> ToolSpec:
        """What it says of itself, as far as the operator believes it."""
        return self._spec

    @cached_property
    def _spec(self) -> ToolSpec:
        options = self.server.options
        writes = self.listed.effects != "none"
        known = options.per_tool.get(self.listed.name, ToolHints())
        said = self.listed.description.replace("“", '"').replace("”", '"')
        return ToolSpec(
            name=self.name,
            # A stranger's words: they stand in quotation marks, behind whose they are.
            description=f"A tool of the server {options.name}, which says of it: “{said}”",
            arguments=self.listed.arguments,
            server=options.name,
            effects=self.listed.effects,
            needs_approval=options.approve == "all",
            allows_always=options.always,
            needs_naming=options.approve == "writes" and writes,
            reads_private=options.private and known.answers != "catalogue",
            # What a server that is not public is asked stays with it, unless it says otherwise.
            discloses=writes or not options.private or self.listed.reaches_out,
            deeds=(_WORD_BEGINS.sub(" ", self.listed.name), *known.deeds),
            minor_arguments=frozenset(known.minor),
            shown_by=frozenset(known.shown_by),
            answers=known.answers,
            records=_records(known, options.name),
            takes={name: tuple(_scoped(one, options.name) for one in ones) for name, ones in known.takes.items()},
            fills=frozenset(known.fills),
            timeout_seconds=options.timeout,
        )

    async def run(self, arguments: Any, context: ToolContext) -> Result:  # noqa: ARG002  (the seam's; servers learn nothing of who asks)
        """What the server found. `arguments` has the JSON object of the call as `given`."""
        try:
            return await self.server.call(self.listed.name, arguments.given, shown_as=self.name)
        except AnswerLost as error:
            if self.listed.effects == "once":
                raise UnknownOutcome(f"{error}; it may have happened, so do not repeat it unasked") from error
            raise Unavailable(f"{error}; try once more") from error


def _records(known: ToolHints, server: str) -> Records | None:
    told = known.records
    return None if told is None else Records(kind=_scoped(told.kind, server), key=told.key, named_by=told.named_by)


def _scoped(kind: str, server: str) -> str:
    """The kind as one of this server: what another calls so is something else."""
    return f"{server}/{kind}"
