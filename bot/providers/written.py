"""Reads what a model wrote: words for people, tool calls as calls, thoughts for nobody.

Reasoning models whose server does not remove their thoughts write them first; models that call tools badly, or in
another format than their server knows, write calls into their text. Every adapter reads its answers this way, complete
or while they arrive. Left to others: the notations (`bot.providers.prompted.markers`, `foreign_calls`), how tools are
described in words (`prompted`).
"""

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from bot.messages import AssistantMessage, AssistantPart, CallId, Document, Message, Text, ToolMessage, UserMessage
from bot.providers import foreign_calls, notations, streams, wire
from bot.providers.base import Request, Stop
from bot.providers.prompted import markers

MIN_CHARACTERS = 64 * 1024
"""How long an answer may be however little was requested: about what a message in Signal can contain."""
CHARACTERS_PER_TOKEN = 8
"""More than any language or code needs on average: a longer answer comes from a server that does not count."""
_STEPS = 32
"""An unfinished answer is read again whenever it has grown by this fraction of itself: a long one a few hundred times,
not with each of its thousands of pieces, which would take quadratic time."""

_THOUGHTS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<seed:think>", "</seed:think>"),
    ("<|channel>thought", "<channel|>"),
)
"""How thoughts begin and end.

Source: the chat templates of DeepSeek-R1, Qwen3, Magistral, Kimi-VL, Seed-OSS and Gemma 4, 2026-11-24.
"""
_BEGINS = tuple(begin for begin, _ in _THOUGHTS)
_BEGUN = re.compile(r"^[ \t]*(?:" + "|".join(map(re.escape, _BEGINS)) + ")", re.MULTILINE)
_ENDED = re.compile("(?:" + "|".join(re.escape(end) for _, end in _THOUGHTS) + r")(?!`)\s*")


class Reader:
    """Reads a model's answers to one request."""

    def __init__(self, request: Request) -> None:
        self._request = request
        names = {offer.name for offer in request.tools}
        self._names = frozenset(names | {name for name, meant in foreign_calls.TOOL_NAMES.items() if meant in names})

    def visible(self, text: str) -> str:
        """Returns what people may see of an unfinished completion: no thoughts, no calls."""
        text = notations.in_one_form(text, foreign_calls.code_of)
        text = text[: notations.readable_end(text)]
        begun = foreign_calls.begun_with(text, _BEGINS)
        if begun is not None and not text[text.rfind("\n") + 1 : begun].strip():
            text = text[:begun].rstrip()
        spoken = foreign_calls.words_without_calls(without_thoughts(text)).rstrip()
        if not self._names or "<" not in spoken:
            return spoken
        return streams.join_texts(markers.visible_parts(spoken, names=self._names, given=self._given(spoken)))

    def read(self, answered: wire.WireAnswer) -> wire.WireAnswer:
        """The answer without thoughts and with the calls in its text as calls, after everything else, in order.

        Drops calls if the request offers no tools or allows no calls. An answer much longer than requested is read only
        at its beginning, as if it had been cut off there. Returns the answer itself if there is nothing to change.
        """
        answered = self._cut(answered)
        if answered.message is None:
            return answered
        ids = self._free_ids()
        parts: list[AssistantPart] = []
        calls: list[AssistantPart] = []
        for part in answered.message.parts:
            if not isinstance(part, Text):
                parts.append(part)
                continue
            for piece in self._pieces(part.text):
                if isinstance(piece, str):
                    parts.append(Text(text=piece.rstrip()))
                elif self._request.may_call_tools and self._names:
                    calls.append(wire.tool_call(next(ids), piece.name, piece.arguments))
        if not calls and tuple(parts) == answered.message.parts:
            return answered
        was_cut = answered.is_cut_in_call
        return wire.wire_answer([*parts, *calls], answered.stop, answered.usage, was_cut_in_call=was_cut)

    def read_unfinished(self, answered: wire.WireAnswer) -> wire.WireAnswer:
        """The same of an answer that may lack its end: then it has only the words that people may see by then."""
        read = self.read(answered)
        if read.stop is not Stop.LENGTH:
            return read
        words = self.visible(answered.text)
        return replace(read, message=AssistantMessage(parts=(Text(text=words),)) if words.strip() else None)

    def _cut(self, answered: wire.WireAnswer) -> wire.WireAnswer:
        room = most = max(MIN_CHARACTERS, CHARACTERS_PER_TOKEN * self._request.max_output_tokens)
        if answered.message is None or len(answered.text) <= most:
            return answered
        parts: list[AssistantPart] = []
        for part in answered.message.parts:
            kept = Text(text=part.text[:room]) if isinstance(part, Text) else part
            room -= len(kept.text) if isinstance(kept, Text) else 0
            parts.append(kept)
        stop = Stop.LENGTH if answered.stop is Stop.END else answered.stop
        return wire.wire_answer(parts, stop, answered.usage, was_cut_in_call=answered.is_cut_in_call)

    def _pieces(self, text: str) -> list[markers.Piece]:
        spoken = without_thoughts(notations.in_one_form(text, foreign_calls.code_of))
        if not foreign_calls.may_hold(spoken):
            return [spoken]
        found: list[markers.Piece] = []
        for piece in foreign_calls.pieces(spoken, names=self._names, given=self._given(spoken)):
            if isinstance(piece, str) and self._names:
                found += markers.pieces(piece, names=self._names, given=self._given(piece))
            else:
                found.append(piece)
        return found

    def _given(self, text: str) -> str:
        """Everything others than the model said to it; computed only for a text that may repeat a call in it."""
        return self._told if foreign_calls.may_hold(text) else ""

    @cached_property
    def _told(self) -> str:
        return markers.squeeze("\n".join(itertools.chain.from_iterable(map(_told, self._request.messages))))

    def _free_ids(self) -> Iterator[CallId]:
        """Ids that no call of the conversation has; the same ones for the same request."""
        messages = self._request.messages
        taken = {call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls}
        yield from (one for number in itertools.count() if (one := CallId(f"written_{number}")) not in taken)


class PartialText:
    """An incomplete answer, whose words are shown as far as they are meant for people."""

    def __init__(self, inner: streams.PartialAnswer, reader: Reader) -> None:
        self._inner = inner
        self._reader = reader
        self._seen_chars = self._read_chars = 0
        self._shown = ""

    @property
    def text(self) -> str:
        """The words so far that people may see; may lack those of the last pieces."""
        written = self._inner.text
        chars = len(written)
        has_paused, self._seen_chars = chars == self._seen_chars, chars  # also at the end, which adds no words
        if chars - self._read_chars >= (1 if has_paused else chars // _STEPS):
            self._read_chars, self._shown = chars, self._reader.visible(written)
        return self._shown

    @property
    def size(self) -> int:
        """How much has come so far, for people or not."""
        return self._inner.size

    def take(self, piece: object) -> None:
        """Adds a piece.

        Raises:
            ValueError: it is not what the service sends.
        """
        self._inner.take(piece)

    def body(self, *, is_cut: bool = False) -> bytes:
        """The complete answer in JSON, with the calls in its text; `is_cut`: what there is of it.

        Raises:
            ValueError: its end is missing.
        """
        return self._inner.body(is_cut=is_cut)


def without_thoughts(text: str) -> str:
    """The text without its model's thoughts, even if they have no beginning or no end."""
    if not any(sign in text for signs in _THOUGHTS for sign in signs):
        return text
    # Many templates start the thoughts themselves, so that the answer contains only their end.
    is_code = foreign_calls.code_of(text)
    ends = [ended for ended in _ENDED.finditer(text) if not text.endswith("`", 0, ended.start())]
    begins = [begun for begun in _BEGUN.finditer(text) if not is_code(begun.end())]
    kept: list[str] = []
    at = 0
    if ends and (not begins or ends[0].start() < begins[0].start()):
        at = ends[0].end()
    for begun in begins:
        if begun.start() < at:
            continue
        kept.append(text[at : begun.start()])
        number = bisect_left(ends, begun.end(), key=lambda ended: ended.start())
        at = ends[number].end() if number < len(ends) else len(text)
    # An end that is left over belongs to nested thoughts.
    is_over = not ends or ends[-1].end() <= at
    return "".join([*kept, text[at:]]) if is_over else text[ends[-1].end() :]


def _told(message: Message) -> Iterator[str]:
    """Returns what others than the model say in a message."""
    if isinstance(message, UserMessage):
        yield message.text
        yield from (medium.text for medium in message.media if isinstance(medium, Document))
    elif isinstance(message, ToolMessage):
        yield from (answer.content for answer in message.answers)
