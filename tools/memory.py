"""The tool `remember`: facts that a person wants Aldis to know in later conversations."""

from typing import Literal

from pydantic import Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.errors import BadArguments
from tools.ports import Memory

_MAX_FACT_CHARS = 300


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


_FORGET = ("forget", "vergiss", "oubli", "olvid")


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
        own_words=True,
        deeds=("remember", "merk", "behalt", "retien", "souvien", "recuerd", *_FORGET),
        minor_arguments=frozenset({"action=remember"}),
        value_words={"action=forget": _FORGET},
    )

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def run(self, arguments: RememberArguments, context: ToolContext) -> Result:
        """Returns what is remembered, or not any more.

        Raises:
            ToolError: as the port; `BadArguments` if the action lacks an argument.
        """
        if arguments.action == "forget":
            if arguments.number is None:
                raise BadArguments("number: which fact?")
            await self._memory.forget(arguments.number, context)
            return Result(data={"forgotten": arguments.number})
        if arguments.fact is None:
            raise BadArguments("fact: what should be remembered?")
        kept = await self._memory.remember(arguments.fact, context)
        data = {"number": kept.number, "fact": kept.fact, "until": kept.until}
        return Result(data=data, origins=(kept.origin,))
