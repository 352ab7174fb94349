"""What a model has room for: how much history, which tools, how long an answer, learnt from what it refuses.

    refused as too long --> a size smaller: half the history, a quarter, none and few tools, none at all
    it said its window  --> tools, answer and history share that window from then on; likewise where its server said
                            so without being asked for an answer (`bot.providers.capabilities`)

The window of each model outlasts the process (`bot.providers.lessons`), the size for each conversation not.
A turn that failed makes the next one begin smaller; some turns without a refusal, and one size more is tried again.
"""

import json
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from bot.messages import Message, ToolAnswer, ToolMessage, without_opaque
from bot.providers.base import ToolOffer
from bot.providers.capabilities import told_of
from bot.providers.lessons import ModelLessons
from bot.providers.wire import encode_json
from bot.turn import prompt
from bot.turn.prompt import PastTurn
from store import ConversationId

CALM_TURNS = 8
"""After so many turns without a refusal one size more is tried."""
MAX_REMEMBERED = 1000
MIN_OUTPUT_TOKENS = 256

_TOOLS_SHARE = 0.4
_AMPLE_WINDOW = 200_000
"""A window in which all tools have room, however many there are: they need not be counted with each question."""
_OUTPUT_SHARE = 0.25
_HEAD_BYTES = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """How much goes into a request."""

    history: float
    """The share of the earlier turns, and of the tokens that they may have."""
    output: float = 1.0
    """The share of the longest answer."""
    max_tools: int | None = None
    """None: all."""
    max_answer_characters: int | None = None
    """Of one tool's answer; None: all."""
    has_note: bool = True
    """Whether the facts of the person and the summary go along."""


SIZES = (
    Size(history=1),
    Size(history=0.5),
    Size(history=0.25, output=0.5, max_answer_characters=6000),
    Size(history=0, output=0.25, max_tools=6, max_answer_characters=3000),
    Size(history=0, output=0.25, max_tools=0, max_answer_characters=1000, has_note=False),
)


@dataclass(slots=True)
class _Learnt:
    size: int = 0
    calm_turns: int = 0


class ContextRoom:
    """What is known of the models' room, and of the tools' use."""

    def __init__(
        self,
        lessons: ModelLessons | None = None,
        server: Callable[[str | None], tuple[str, str] | None] = lambda _: None,
    ) -> None:
        """`lessons` is what was learnt before; `server` names the server and the model that a choice means."""
        self._lessons = lessons or ModelLessons()
        self._server = server
        self._windows: dict[str, int] = {}
        self._learnt: OrderedDict[tuple[ConversationId, str], _Learnt] = OrderedDict()
        self.uses: Counter[str] = Counter()
        """How often each tool was called."""

    def window_tokens(self, model: str | None) -> int | None:
        """The window of a model, the smallest that is known; None: nobody knows."""
        known = [self._windows.get(model or "")]
        if (server := self._server(model)) is not None:
            kept = self._lessons.of(*server).get("window_tokens")
            known.append(kept if isinstance(kept, int) and kept > 0 else None)
            known.append(told_of(self._lessons, *server).window_tokens)
        return min((window for window in known if window is not None), default=None)

    def size(self, conversation: ConversationId, model: str | None) -> int:
        """The number of the size with which a turn begins."""
        learnt = self._learnt.get((conversation, model or ""))
        return learnt.size if learnt else 0

    def on_refusal(self, model: str | None, window_tokens: int | None) -> None:
        """A request was too long for a model; `window_tokens` is what it said of its window, if it did."""
        if window_tokens is not None:
            self._windows[model or ""] = window_tokens
            server = self._server(model)
            # Which model a server chooses itself may be another one tomorrow.
            if server is not None and server[1]:
                self._lessons.learn(*server, window_tokens=window_tokens)

    def on_end(self, conversation: ConversationId, model: str | None, size: int, *, was_refused: bool) -> None:
        """A request of this size was taken, or none smaller is left."""
        key = (conversation, model or "")
        learnt = self._learnt.pop(key, None) or _Learnt()
        if was_refused or size != learnt.size:
            learnt = _Learnt(size=size)
        elif size:
            learnt.calm_turns += 1
            if learnt.calm_turns >= CALM_TURNS:
                learnt = _Learnt(size=size - 1)
        if learnt.size:
            self._learnt[key] = learnt
        while len(self._learnt) > MAX_REMEMBERED:
            self._learnt.popitem(last=False)

    def output_tokens(self, most: int, size: Size, model: str | None) -> int:
        """The longest answer that a request of this size may ask for."""
        window, server = self.window_tokens(model), self._server(model)
        told = told_of(self._lessons, *server).max_output_tokens if server is not None else None
        most = min(most, told or most)
        within = most if window is None else min(most, int(window * _OUTPUT_SHARE))
        return min(most, max(MIN_OUTPUT_TOKENS, int(within * size.output)))

    def offers(
        self, offers: Sequence[ToolOffer], size: Size, model: str | None, *, called: Iterable[str], words: str
    ) -> tuple[ToolOffer, ...]:
        """The tools for which there is room, in their order: first those `called` in this turn, then by use and by what
        the question has in common with what they say of themselves.
        """
        window = self.window_tokens(model)
        if size.max_tools is None and (window is None or window >= _AMPLE_WINDOW):
            return tuple(offers)
        left = sum(map(offer_tokens, offers)) if window is None else int(window * _TOOLS_SHARE)
        most = len(offers) if size.max_tools is None else size.max_tools
        now, asked = set(called), {word.casefold() for word in words.split() if len(word) >= len("rain")}

        def rank(offer: ToolOffer) -> tuple[bool, int, int]:
            return offer.name not in now, -self.uses[offer.name], -_shared(offer, asked)

        kept: set[str] = set()
        for offer in sorted(offers, key=rank):
            tokens = offer_tokens(offer)
            if len(kept) < most and tokens <= left:
                kept.add(offer.name)
                left -= tokens
        return tuple(offer for offer in offers if offer.name in kept)

    def history_tokens(self, most: int, size: Size, model: str | None, *, beside_tokens: int) -> int:
        """How many tokens of earlier turns go along; `beside_tokens` are those of all else, the answer included."""
        window = self.window_tokens(model)
        within = int(most * size.history)
        return within if window is None else max(0, min(within, window - beside_tokens))


def offer_tokens(offer: ToolOffer) -> int:
    """About how many tokens the description of a tool takes."""
    told = offer.description + encode_json(offer.parameters).decode()
    return prompt.estimated_text_tokens(told) + _HEAD_BYTES // 3


def part_of(turns: Sequence[PastTurn], size: Size) -> Sequence[PastTurn]:
    """The newest of the turns, as many as this size takes."""
    return turns[len(turns) - int(len(turns) * size.history) :]


def shorten_answers(message: Message, size: Size) -> Message:
    """A message of the running turn with answers of tools that are no longer than this size takes."""
    most = size.max_answer_characters
    if most is None:
        return message
    if not isinstance(message, ToolMessage):
        return without_opaque(message)
    return replace(message, answers=tuple(_shortened(answer, most) for answer in message.answers))


def _shortened(answer: ToolAnswer, most: int) -> ToolAnswer:
    if len(answer.content) <= most:
        return answer
    cut = {"ok": answer.ok, "untrusted_data": {"beginning": answer.content[:most]}}
    return replace(answer, content=json.dumps(cut, ensure_ascii=False))


def _shared(offer: ToolOffer, words: set[str]) -> int:
    said = f"{offer.name} {offer.description}".casefold()
    return sum(word.strip("?!.,:;") in said for word in words)
