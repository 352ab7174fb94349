"""The provider that answers without any model, so that Aldis runs with no key; it is also the double of the models.

It goes through the same tool loop as a model: the first completion asks for the tools that the newest question needs,
the next one words what they answered. It is deterministic: the same request gives the same completion.
Left to others: what a sentence asks for (`intents`, `sums`), what a tool's answer reads like (`wordings`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal

from bot.i18n.phrases import OFFLINE_NOT_UNDERSTOOD, OFFLINE_WAY_OUT, said
from bot.messages import (
    AssistantMessage,
    AssistantPart,
    CallId,
    Message,
    Text,
    ToolAnswer,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from bot.providers.base import Completion, Request, Stop, Told, Usage
from bot.providers.offline.answers import worded
from bot.providers.offline.intents import Intent, intents, not_understood, spoken

NAME = "offline"

_TOPICS: Mapping[str, tuple[str, str]] = {
    "calculate": ("arithmetic", "What is 17*23?"),
    "convert": ("units and money", "How many km are 26 miles?"),
    "get_weather": ("weather", "Will it rain in Paris tomorrow?"),
    "current_time": ("time", "What time is it in Tokyo?"),
    "web_search": ("search", "Search for lighthouses"),
    "remind": ("reminders", "Remind me in 10 minutes to turn off the lamp"),
    "remember": ("memory", "Remember that I live in Lyon"),
}
"""The tools it can ask for: what each is about, and a sentence that it understands."""

_SELF = (
    "I run without a language model, because none is configured. I cannot hold a conversation; I only recognise simple"
    " requests in English, German, French and Spanish."
)
_NO_TOOLS = "Right now all my tools are switched off, so I cannot answer those either."
_HOW_TO = (
    "For real answers set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or, for a compatible server such as Ollama,"
    " `OPENAI_BASE_URL` in the environment or in `.env`, and start me again."
)
_WHICH_PLACE = "For which place? Ask, for example: “Weather in Paris tomorrow”."
_NO_MORE_TOOLS = "I may not use my tools for this message, so I cannot answer that."

_BLIND = "I cannot look at pictures or read documents: that takes a language model."

_MAX_SHOWN = 80

_GREETING = re.compile(
    r"\W*(?:hi|hello|hey|hallo|hola|salut|bonjour|guten tag|good (?:morning|afternoon|evening|day))\b", re.IGNORECASE
)
_OWN_ID = re.compile(rf"{NAME}_(\d+)_\d+")


class Offline:
    """Answers what is to be calculated, converted, looked up, the weather and the time by the tools, and says plainly
    what it is to all else.
    """

    @property
    def name(self) -> str:
        """`offline`."""
        return NAME

    async def complete(self, request: Request, told: Told | None = None) -> Completion:
        """Tool calls where the newest question needs tools that are offered, else the answer in words. Never fails.

        `told` is told the words at once, for they are not made one by one.
        """
        question, since = _newest(request.messages)
        words = spoken(question.text)
        asked = intents(words)
        answers = [answer for message in since if isinstance(message, ToolMessage) for answer in message.answers]
        offered = {tool.name for tool in request.tools}
        usable = offered if request.may_call_tools else set[str]()
        wanted = [intent for intent in asked if intent.tool in usable and _is_complete(intent)]
        if wanted and not answers:
            return _completion(_calls(wanted, request.messages), Stop.TOOLS)
        paragraphs = [*_results(answers, since), *_regrets(asked, offered, has_answers=bool(answers))]
        unread = [said(OFFLINE_NOT_UNDERSTOOD, words=clause[:_MAX_SHOWN]) for clause in not_understood(words)]
        shown = dict.fromkeys([*paragraphs, *(unread if asked else ())])
        text = "\n\n".join(shown) if paragraphs else self._alone(words, usable, unread)
        if question.media:
            text = f"{_BLIND}\n\n{text}"
        if told is not None:
            told(text)
        return _completion([Text(text=text)], Stop.END)

    def _alone(self, words: str, usable: AbstractSet[str], unread: Sequence[str]) -> str:
        """What is answered to a message of which nothing was understood: one line, with the way out."""
        if unread and not _GREETING.match(words):
            return f"{unread[0]} {said(OFFLINE_WAY_OUT)}"
        return _introduction(words, usable)

    async def aclose(self) -> None:
        """Nothing: there is no connection."""


def _newest(messages: Sequence[Message]) -> tuple[UserMessage, Sequence[Message]]:
    """The newest question and the messages after it."""
    for at in reversed(range(len(messages))):
        message = messages[at]
        if isinstance(message, UserMessage):
            return message, messages[at + 1 :]
    raise ValueError("a request holds at least one user message")


def _is_complete(intent: Intent) -> bool:
    """Whether the tool can be called: all but the clock need to be told something."""
    return intent.tool == "current_time" or bool(intent.arguments)


def _calls(wanted: Sequence[Intent], messages: Sequence[Message]) -> Sequence[ToolCall]:
    """The calls under ids that no message bears: one higher than the highest round before."""
    asked = (call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls)
    rounds = [int(own[1]) for own in map(_OWN_ID.fullmatch, asked) if own]
    count = max(rounds, default=0) + 1
    return [
        ToolCall(id=CallId(f"{NAME}_{count}_{number}"), name=intent.tool, arguments=intent.arguments)
        for number, intent in enumerate(wanted, start=1)
    ]


def _results(answers: Sequence[ToolAnswer], since: Sequence[Message]) -> Iterator[str]:
    """What the tools answered since the question, each in words, in the order asked."""
    calls = [call for message in since if isinstance(message, AssistantMessage) for call in message.calls]
    arguments = {call.id: call.arguments for call in calls}
    return (worded(answer, arguments.get(answer.call_id, {})) for answer in answers)


def _regrets(asked: Sequence[Intent], offered: AbstractSet[str], *, has_answers: bool) -> Iterator[str]:
    """Why some of what is asked for has no answer."""
    for intent in asked:
        if intent.tool not in offered:
            yield f"My tool for {_TOPICS[intent.tool][0]} is switched off here."
        elif not _is_complete(intent):
            yield _WHICH_PLACE
        elif not has_answers:
            yield _NO_MORE_TOOLS


def _introduction(words: str, usable: AbstractSet[str]) -> str:
    """What this provider is, what it can do with the usable tools, and how to get a model."""
    topics = [f"- {topic}: “{example}”" for tool, (topic, example) in _TOPICS.items() if tool in usable]
    greeting = "Hello! " if _GREETING.match(words) else ""
    return f"{greeting}{_SELF}\n\n" + "\n".join(topics or [_NO_TOOLS]) + f"\n\n{_HOW_TO}"


def _completion(parts: Sequence[AssistantPart], stop: Stop) -> Completion:
    return Completion(
        message=AssistantMessage(parts=tuple(parts)),
        stop=stop,
        usage=Usage(),
        provider=NAME,
        model=NAME,
        latency_seconds=0.0,
        cost_usd=Decimal(0),
    )
