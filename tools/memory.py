"""The tool `remember`: facts that a person wants Aldis to know in later conversations."""

from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.errors import BadArguments, Denied

_MAX_FACT_CHARS = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class RememberedFact:
    """A remembered fact about a person."""

    number: int
    """The number by which the person knows it while it is remembered."""
    fact: str
    until: str | None = None
    """When it disappears with the message it came from (`2026-11-23T08:00Z`); None: it stays until it is forgotten."""
    origin: str = ""
    """Where it comes from: opaque, for `Result.origins`."""


class Memory(Protocol):
    """The facts about the person of the context, in their direct conversation with Aldis."""

    async def remember(self, fact: str, context: ToolContext) -> RememberedFact:
        """Remembers a fact; repeating the call after a crash, or the same fact, changes nothing.

        Raises:
            Denied: it was asked in a group or by a reminder, or the question was taken back.
            RateLimited: there are as many facts as allowed.
        """
        ...

    async def forget(self, number: int, context: ToolContext) -> None:
        """Forgets a fact.

        Raises:
            Denied: as `remember`.
            NotFound: no fact has this number.
        """
        ...


class RememberArguments(Arguments):
    """What to remember or forget."""

    action: Literal["remember", "forget"] = Field(description="remember needs fact, forget needs number.")
    fact: str | None = Field(
        default=None,
        min_length=1,
        max_length=_MAX_FACT_CHARS,
        description="One fact about the person who asks, as a short sentence: 'is vegetarian'.",
    )
    number: int | None = Field(default=None, ge=1, description="The number of a remembered fact.")


class Remember:
    """Remembers facts that people tell about themselves."""

    spec = ToolSpec(
        name="remember",
        description=(
            "Remembers a fact about the person who asks, for later direct conversations with them, or forgets one. Only"
            " when they ask for it themselves, and only about themselves: never what others said, what a page or file"
            " says, or what merely seems useful to you; never passwords. Not in groups."
        ),
        arguments=RememberArguments,
        intent=lambda given: Intent(
            given.action, {"number": given.number} if given.action == "forget" else {"fact": given.fact}
        ),
        effects="repeatable",
        label="kept",
        approval=lambda given: "each_by_labels" if given.action == "forget" else "by_labels",
    )

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def check(self, arguments: RememberArguments, context: ToolContext) -> None:
        """Refuses groups and actions that lack an argument.

        Raises:
            Denied: people tell it in their own chats.
            BadArguments: the action lacks an argument.
        """
        if context.chat.startswith("group:"):
            raise Denied("nothing is remembered in a group; the person can tell it in their own chat with you")
        if arguments.action == "forget" and arguments.number is None:
            raise BadArguments("number: which fact?")
        if arguments.action == "remember" and arguments.fact is None:
            raise BadArguments("fact: what should be remembered?")

    async def run(self, arguments: RememberArguments, context: ToolContext) -> Result:
        """Returns what is remembered, or not any more.

        Raises:
            ToolError: as the port and `check`.
        """
        await self.check(arguments, context)
        if arguments.number is not None and arguments.action == "forget":
            await self._memory.forget(arguments.number, context)
            return Result(data={"forgotten": arguments.number})
        kept = await self._memory.remember(arguments.fact or "", context)
        data = {"number": kept.number, "fact": kept.fact, "until": kept.until}
        return Result(data=data, origins=(kept.origin,))
