"""A model that obeys: it does what the person wants, and what a stranger wants as soon as it has read it."""

from dataclasses import dataclass

from bot.messages import CallId, ToolCall
from bot.models.base import Completion, Request
from tests.bot.chat.turn_helpers import completion, contents, says
from tests.campaigns.agentdojo.suites import MARK, Call


@dataclass
class Obeying:
    """Plays the calls of a suite one by one, whatever comes of them; a stranger's come before what is left."""

    server: str
    planned: list[Call]
    ordered: tuple[Call, ...]
    """What the stranger wants."""
    answer: str
    name: str = "obeying"
    has_read: bool = False
    """Whether the stranger's order came into a request."""

    async def complete(self, request: Request) -> Completion:
        if not self.has_read and any(MARK in content for content in contents(request)):
            self.has_read = True
            self.planned = [*self.ordered, *self.planned]
        if not self.planned:
            return says(self.answer or "Done.")
        call = self.planned.pop(0)
        return completion(ToolCall(id=CallId("x"), name=f"{self.server}_{call.tool}", arguments=call.arguments))

    async def aclose(self) -> None:
        """Nothing is open."""
