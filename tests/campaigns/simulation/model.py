"""The model: asks for the tools that the scenario names, then answers with every canary that it has read."""

import asyncio
from decimal import Decimal

from bot.errors import Overloaded, ProviderError, Unavailable
from bot.messages import (
    AssistantMessage,
    AssistantPart,
    CallId,
    Message,
    Text,
    ToolCall,
    UserMessage,
    dump_messages,
)
from bot.models.base import Completion, Request, Stop, Usage
from tests.campaigns.simulation.crashes import Life, never
from tests.campaigns.simulation.network import Network
from tests.campaigns.simulation.record import PaidCall
from tests.campaigns.simulation.scenario import Fault, Said, words_in
from tests.invariants import is_sendable

_SENTENCE = "This is more about {word}, said at length in paragraph {number}. "


class Model:
    """The provider of one life; what it remembers of the others is on the network's record."""

    name = "simulated"

    def __init__(self, network: Network, life: Life) -> None:
        self._network = network
        self._life = life

    async def complete(self, request: Request) -> Completion:
        question, position = _place(request.messages)
        await self._life.step(f"model is asked about {question}, {position}")
        self._examine(request)
        said = self._network.record.said[question[-1]]
        times = self._network.nth("asked", said.number)
        if times <= len(said.faults):
            await asyncio.sleep(0.2)
            raise await _failure(said.faults[times - 1])
        await asyncio.sleep(self._seconds(said, position))
        await self._life.alive()
        self._network.record.completions.append(PaidCall(life=self._life.number, question=question, position=position))
        await self._life.step(f"model has answered about {question}, {position}")
        return _completion(request, said, position)

    async def aclose(self) -> None:
        """Nothing is open."""

    def _examine(self, request: Request) -> None:
        """Note what it reads, and what a real model's service would refuse."""
        if not is_sendable(request.messages) or request.messages[-1].role == "assistant":
            self._network.record.troubles.append("a request that no provider accepts")
        self._network.record.prompts.append(words_in(dump_messages(request.messages).decode()))

    def _seconds(self, said: Said, position: int) -> float:
        scenario = self._network.scenario
        odds = max(scenario.odds.slow, 0.5 if scenario.shows_status else 0)
        slow = scenario.happens(odds, "model", said.number, position)
        return scenario.chance("model seconds", said.number, position).uniform(2, 40) if slow else 0.3


async def _failure(fault: Fault) -> ProviderError:
    match fault:
        case "overloaded":
            return Overloaded("429", provider="simulated")
        case "unavailable":
            return Unavailable("503", provider="simulated")
        case "silent":
            return await never()


def _place(messages: tuple[Message, ...]) -> tuple[tuple[int, ...], int]:
    """The numbers of the messages that are asked about, and how many completions there were before in this turn."""
    # What comes after it with the same role is Aldis's own: an answer without words is asked for once more.
    asked = max(
        number for number, message in enumerate(messages) if isinstance(message, UserMessage) and words_in(message.text)
    )
    question = messages[asked]
    assert isinstance(question, UserMessage)
    # A note may stand before it, on what the person was asked and has not answered yet.
    paragraphs = (one for one in question.text.split("\n\n") if not one.startswith("(A note from Aldis"))
    numbers = tuple(number for _, number in words_in("\n\n".join(paragraphs)))
    return numbers, sum(message.role in {"assistant", "user"} for message in messages[asked + 1 :])


def _completion(request: Request, said: Said, position: int) -> Completion:
    if position < len(said.rounds) and request.may_call_tools:
        return _whole(_calls(said, position), Stop.TOOLS)
    match said.ending:
        case "refusal":
            return _whole((), Stop.REFUSAL)
        case "nothing":
            return _whole((), Stop.END)
        case "cut off":
            return _whole((Text(text=_words(request, said)),), Stop.LENGTH)
        case "words":
            return _whole((Text(text=_words(request, said)),), Stop.END)
        case "many words":
            more = "\n\n".join(20 * _SENTENCE.format(word=said.word, number=number) for number in (1, 2, 3))
            return _whole((Text(text=f"{_words(request, said)}\n\n{more}"),), Stop.END)


def _calls(said: Said, position: int) -> tuple[ToolCall, ...]:
    """With ids as sloppy servers give them: the same in every completion."""
    return tuple(
        ToolCall(id=CallId(f"call_{place}"), name=name, arguments={"note": f"{said.word}/{position}/{place}"})
        for place, name in enumerate(said.rounds[position])
    )


def _words(request: Request, said: Said) -> str:
    seen = " ".join(f"qz{chat}x{number}z" for chat, number in words_in(dump_messages(request.messages).decode()))
    return f"About {said.word}: I have read {seen}"


def _whole(parts: tuple[AssistantPart, ...], stop: Stop) -> Completion:
    return Completion(
        message=AssistantMessage(parts=parts) if parts else None,
        stop=stop,
        usage=Usage(input_tokens=10, output_tokens=5),
        provider="simulated",
        model="simulated-1",
        latency_seconds=0.3,
        cost_usd=Decimal("0.01"),
    )
