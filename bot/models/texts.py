"""What a model wrote as text: words for people, calls in the notation of `prompted`, and what no one should see.

    thoughts before the answer, the signs that end a turn    --> cut off
    <<get_weather: Oslo>>, where tools are offered in words  --> a call
    a call in any other notation                             --> an empty answer: the model is asked once more

A server turns its model's calls into calls if it was started with a parser for them; the doctor says which flag that
takes. Where it was not, the call is not carried out, and it is never shown as the answer either.
Left to others: how tools are described in words (`prompted`), asking once more (`bot.chat.agent`).

Source: the chat templates of DeepSeek-R1, Qwen3, Magistral, Llama 3, Gemma 3 and Command R; issue threads of llama.cpp
(6924), vLLM and Ollama, 2026-11-27.
"""

import itertools
import logging
import re
from collections.abc import Iterator

from bot.messages import AssistantMessage, AssistantPart, CallId, Text
from bot.models import prompted, streams, wire
from bot.models.base import Request, Stop

_log = logging.getLogger(__name__)

_STEPS = 32
"""An unfinished answer is read again whenever it has grown by this fraction of itself: a long one a few hundred times,
not with each of its thousands of pieces, which would take quadratic time."""

_TURN_ENDS = (
    r"<\|(?:im_end|eot_id|eom_id|end|return|endoftext|end_of_text|end_of_turn|END_OF_TURN_TOKEN|user|assistant)\|>"
    r"|<(?:end_of_turn|eos|/s)>|<｜end▁of▁sentence｜>|\[/?INST\]"
)
_ENDED = re.compile(rf"(?:{_TURN_ENDS})\Z")
_NEXT_TURN = re.compile(rf"(?:{_TURN_ENDS})\s*+(?:<\|(?:im_)?start|<start_of_turn|<s>)")
"""Where the model goes on and invents the next turn."""
_MAX_SIGN_CHARS = 32
_THOUGHTS = re.compile(
    r"\A\s*(?:<(?P<tag>think|thinking|thought|reasoning)>.*?(?:</(?P=tag)>|\Z)|\[THINK\].*?(?:\[/THINK\]|\Z))\s*",
    re.DOTALL,
)
_HEADLESS = re.compile(r"\A(?:(?!<think|`).)*?</think(?:ing)?>\s*", re.DOTALL)
"""Thoughts that the template began, so that the answer contains only their end."""

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_SIGNS = re.compile(
    r"<\|[a-z_]{2,40}\|?>|<｜|\[TOOL_CALLS\]|</?(?:tool_calls?|function_calls?|tool_use|tool_code)>"
    r"|<function=|<invoke name="
)
"""Of the notations in which models call tools where their server has no parser for them."""
_NAMED = re.compile(r"\"(?:name|tool|tool_name|function|action)\"\s*:\s*\"(?:functions\.)?([\w.-]{1,100})\"")
_WITH_ARGUMENTS = re.compile(r"\"(?:arguments|parameters|args|input|action_input|tool_input)\"\s*:")
_CALLED = re.compile(
    r"\A\s*(?:```\w*\s*)?(?:print\()?\[?(?:default_api\.|functions\.)?(\w{1,100})\(|^Action:[ \t]*(\w{1,100})[ \t]*$",
    re.MULTILINE,
)
_MAY_BEGIN = re.compile(
    r"<(?:[|｜/a-z<]|\Z)|\[(?:T|\Z)"
    r"|^[ \t]*(?:\{|\[(?:\s*+\{|\w++(?:\(|\Z))|Action:|```\w{0,12}+\s*+(?:\Z|[\[{]|\w++(?:\(|\Z)))",
    re.MULTILINE,
)
"""Where an unfinished text may turn into a call or a sign."""


class Reader:
    """Reads a model's answers to one request; `in_words`: its tools are offered in words."""

    def __init__(self, request: Request, *, in_words: bool = False) -> None:
        self._request = request
        self._in_words = in_words
        self._names = frozenset(offer.name for offer in request.tools)

    def visible(self, text: str) -> str:
        """Returns what people may see of an unfinished completion: no thoughts, nothing that may become a call."""
        text = _without_thoughts(text)
        begun = _MAY_BEGIN.search(text) if self._names or "<|" in text else None
        return text[: begun.start()].rstrip() if begun else _without_end(text)

    def read(self, answered: wire.WireAnswer) -> wire.WireAnswer:
        """The answer with its words alone, and with calls in words as calls, after everything else, in order.

        Drops calls if the request allows none, and the words around a call that no one can carry out. Returns the
        answer itself if there is nothing to change.
        """
        if answered.message is None:
            return answered
        parts: list[AssistantPart] = []
        calls: list[AssistantPart] = []
        ids = self._free_ids()
        for part in answered.message.parts:
            if not isinstance(part, Text):
                parts.append(part)
                continue
            text = _without_end(_without_thoughts(part.text))
            words, written = prompted.read(text, self._names) if self._in_words and self._names else (text, [])
            parts += [Text(text=words)] if not self._is_call(words) else []
            calls += [wire.tool_call(next(ids), *one) for one in written] if self._request.may_call_tools else []
        if not calls and tuple(parts) == answered.message.parts:
            return answered
        was_cut = answered.is_cut_in_call
        return wire.wire_answer([*parts, *calls], answered.stop, answered.usage, was_cut_in_call=was_cut)

    def read_unfinished(self, answered: wire.WireAnswer) -> wire.WireAnswer:
        """The same of an answer that may lack its end: then it has only the words that people may see by then."""
        if answered.stop is not Stop.LENGTH:
            return self.read(answered)
        words = self.visible(answered.text)
        return wire.wire_answer([Text(text=words)], answered.stop, answered.usage)

    def _is_call(self, text: str) -> bool:
        """Whether the words are, or hold, a call in a notation that is not read."""
        if not self._names:
            return False
        named = {found[1] for found in _NAMED.finditer(text)} if _WITH_ARGUMENTS.search(text) else set[str]()
        called = _CALLED.search(text) if text.rstrip().endswith((")", "]", "`", "}")) else None
        named |= {called[1] or called[2]} if called else set()
        is_call = not named.isdisjoint(self._names) or _SIGNS.search(_CODE.sub("", text)) is not None
        if is_call:
            _log.warning("the model wrote a call of a tool as words: its server lacks a parser; the doctor says more")
        return is_call

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


def _without_thoughts(text: str) -> str:
    return _THOUGHTS.sub("", _HEADLESS.sub("", text) if "</think" in text else text)


def _without_end(text: str) -> str:
    """The text up to the sign that ends its turn."""
    begun = _NEXT_TURN.search(text)
    text = (text[: begun.start()] if begun else text).rstrip()
    while text.endswith((">", "]")) and (ended := _ENDED.search(text, max(0, len(text) - _MAX_SIGN_CHARS))):
        text = text[: ended.start()].rstrip()
    return text
