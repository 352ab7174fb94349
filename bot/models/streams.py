"""What arrives: answers in pieces, and what models write into their words that no one should see.

    thoughts before the answer, the signs that end a turn    --> cut off
    <<get_weather: {"place": "Oslo"}>>, where tools are offered in words (`prompted`) --> a call
    a call in any other notation                             --> an empty answer: the model is asked once more

A server turns its model's calls into calls if it was started with a parser for them; the doctor says which flag that
takes. The pieces of a stream are assembled into the body that the same service returns without streaming, so that one
reader reads both. A piece that brings nothing (a ping, an empty delta) does not count: a server can send them for ever.

Source: the chat templates of DeepSeek-R1, Qwen3, Magistral, Llama 3, Gemma 3 and Command R; issue threads of llama.cpp
(6924), vLLM and Ollama, 2026-11-27.
"""

import asyncio
import itertools
import logging
import re
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final, Protocol

import httpx2

from bot.errors import ProviderError, TooSlow
from bot.messages import AssistantMessage, AssistantPart, CallId, Text
from bot.models import prompted, wire
from bot.models.base import Deadline, Request, Stop
from bot.models.prices import Prices

_log = logging.getLogger(__name__)

SLOW_SECONDS = 30.0
"""A model that took longer for an answer may take too long for the next one to be awaited as a whole: from then on it
is streamed, so that each piece gives it time. Others are not: it costs more work, and some servers' calls are better
when whole (vLLM's, by its issue threads, 2026-11-26).
"""

MAX_STREAM_BYTES = 64 * 1024 * 1024
"""The longest answer that can be requested, in the smallest pieces, each wrapped in JSON."""
MAX_WHOLE_BYTES = 4 * 1024 * 1024
"""The longest answer that comes whole."""
MAX_CHARACTERS = 2_000_000
"""The limit for words, thoughts and calls of an answer: twice the largest output limit. Some never end."""
HEADERS: Final = {"Accept-Encoding": "identity"}
"""Answers come uncompressed, because a packed one could expand to anything."""

_TURN_ENDS = (
    r"<\|(?:im_end|eot_id|eom_id|end|return|endoftext|end_of_text|end_of_turn|END_OF_TURN_TOKEN|user|assistant)\|>"
    r"|<(?:end_of_turn|eos|/s)>|<｜end▁of▁sentence｜>|\[/?INST\]"
)
_ENDED = re.compile(rf"(?:{_TURN_ENDS})\Z")
_NEXT_TURN = re.compile(rf"(?:{_TURN_ENDS})(?:[ \t]*+\n|\s*+(?:<\|(?:im_)?start|<start_of_turn|<s>))")
"""Where the model goes on and invents the next turn."""
_CLOSED_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
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
_WRITTEN = re.compile(
    r"^[ \t]*(?:Action:[ \t]*([\w.-]{1,100})[ \t]*$"
    r"|(?:print\()?(?:functions\.|default_api\.)?([a-z]\w{0,99})\((?:\w{1,50}[ \t]?=|\{))",
    re.MULTILINE,
)
"""A call as agents of ReAct write it, or as a line of Python does."""
_MAY_BEGIN = re.compile(
    r"<(?:[|｜/a-z<]|\Z)|\[(?:T|\Z)|^[ \t]*(?:\{|\[\s*+\{|Action:|```\w{0,12}+\s*+(?:\Z|[\[{])"
    r"|(?:print\()?[a-z][\w.]{0,99}(?:\Z|\((?=\w{0,50}[ \t]?(?:=|\Z)|\{)))",
    re.MULTILINE,
)
"""Where an unfinished text may turn into a call or a sign."""


class Reader:
    """Reads a model's answers to one request; `in_words`: its tools are offered in words."""

    def __init__(self, request: Request, *, in_words: bool = False) -> None:
        self._request = request
        self._in_words = in_words
        self._names = frozenset(offer.name for offer in request.tools)

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
        """The same of an answer that may lack its end: then it has only words, up to what may become a call."""
        if answered.stop is not Stop.LENGTH:
            return self.read(answered)
        words = _without_end(_without_thoughts(answered.text))
        begun = _MAY_BEGIN.search(words) if self._names or "<|" in words else None
        words = words[: begun.start()].rstrip() if begun else words
        return wire.wire_answer([Text(text=words)], answered.stop, answered.usage)

    def _is_call(self, text: str) -> bool:
        """Whether the words are, or hold, a call in a notation that is not read."""
        if not self._names:
            return False
        named = {found[1] for found in _NAMED.finditer(text)} if _WITH_ARGUMENTS.search(text) else set[str]()
        words = _CODE.sub("", text)
        named |= {found[1] or found[2] for found in _WRITTEN.finditer(words)}
        is_call = not named.isdisjoint(self._names) or _SIGNS.search(words) is not None
        if is_call:
            _log.warning("the model wrote a call of a tool as words: its server lacks a parser; the doctor says more")
        return is_call

    def _free_ids(self) -> Iterator[CallId]:
        """Ids that no call of the conversation has; the same ones for the same request."""
        messages = self._request.messages
        taken = {call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls}
        yield from (one for number in itertools.count() if (one := CallId(f"written_{number}")) not in taken)


def _without_thoughts(text: str) -> str:
    return _THOUGHTS.sub("", _HEADLESS.sub("", text) if "</think" in text else text)


def _without_end(text: str) -> str:
    """The text up to the sign that ends its turn."""
    begun = _NEXT_TURN.search(text)
    if begun:  # a text about turns shows their signs in code
        begun = _NEXT_TURN.search(_CLOSED_CODE.sub(lambda code: " " * len(code[0]), text))
    text = (text[: begun.start()] if begun else text).rstrip()
    while text.endswith((">", "]")) and (ended := _ENDED.search(text, max(0, len(text) - _MAX_SIGN_CHARS))):
        text = text[: ended.start()].rstrip()
    return text


class PartialAnswer(Protocol):
    """An incomplete answer."""

    @property
    def size(self) -> int:
        """How much has come so far, of words, thoughts and calls: grows with every piece that brings any."""
        ...

    def take(self, piece: object) -> None:
        """Adds a piece: one event.

        Raises:
            ValueError: it is not what the service sends.
        """
        ...

    def body(self, *, is_cut: bool = False) -> bytes:
        """The complete answer in JSON, as the service returns it without streaming; `is_cut`: what there is of it, as
        if cut off by the output limit if its end is missing.

        Raises:
            ValueError: its end is missing.
        """
        ...


class Listener:
    """Hears one completion, and knows what there is of it if it does not come to its end."""

    def __init__(self, request: Request, deadline: Deadline) -> None:
        self._request = request
        self._deadline = deadline
        self._so_far: Callable[[], wire.WireAnswer] | None = None
        self.has_heard = False
        """Whether any piece has arrived: then the service has started to count."""

    async def listen(
        self,
        pieces: AsyncIterable[object],
        partial: PartialAnswer,
        reader: Reader,
        read: Callable[[bytes], wire.WireAnswer],
    ) -> bytes:
        """The body of a streamed answer, which `read` can read.

        Raises:
            ValueError: a piece is unreadable, the end is missing, or the answer is too long.
        """
        self._so_far = lambda: reader.read_unfinished(read(partial.body(is_cut=True)))
        size = 0
        async for piece in pieces:
            self.has_heard = True
            # Buffered pieces arrive without a pause: without this one a fast server would block everything else.
            await asyncio.sleep(0)
            partial.take(piece)
            if partial.size == size:
                continue
            size = partial.size
            self._deadline.extend()
            self._request.on_piece()
            if size > MAX_CHARACTERS:
                raise ValueError("the answer does not end")
        return partial.body()

    def too_slow(self, *, provider: str, model: str, prices: Prices) -> TooSlow:
        """The error for a missed deadline, with what was written by then."""
        error, answer = wire.no_answer(self._deadline, provider=provider, model=model), self._unfinished()
        if answer is not None:
            seconds = self._deadline.seconds
            error.begun = answer.completion(provider=provider, model=model, latency_seconds=seconds, prices=prices)
        return error

    def _unfinished(self) -> wire.WireAnswer | None:
        """What was written of an answer whose stream does not end; None if that is not a word."""
        try:
            answer = None if self._so_far is None else self._so_far()
        except (ProviderError, ValueError, RecursionError):
            return None
        if answer is None or answer.stop in {Stop.REFUSAL, Stop.TOOLS} or not answer.text.strip():
            return None
        if answer.stop is Stop.END:
            return answer  # only the stream has not ended
        # What it has counted by now is not all that it was paid for.
        return replace(answer, stop=Stop.UNFINISHED, usage=replace(answer.usage, output_tokens=0))


class AnswerTooLarge(httpx2.ReadError):
    """The answer has no end, or none that anyone waits for."""


async def limit_answer(answer: httpx2.Response) -> None:
    """Limits how much of an answer can be read, because the SDKs read whatever arrives: a response hook for a client.

    Raises:
        httpx2.DecodingError: the answer is compressed although that was not requested.
    """
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("packed, although that was not asked for")
    if isinstance(answer.stream, httpx2.AsyncByteStream):
        in_events = answer.headers.get("content-type", "").startswith("text/event-stream")
        answer.stream = _Bounded(answer.stream, MAX_STREAM_BYTES if in_events else MAX_WHOLE_BYTES)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most: int) -> None:
        self._inner = inner
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._most:
                raise AnswerTooLarge("more than an answer may hold")
            yield chunk

    async def aclose(self) -> None:
        """Closes the stream."""
        await self._inner.aclose()


def is_whole(headers: Mapping[str, str]) -> bool:
    """Whether an answer arrives in one piece after all; a few compatible servers do not stream."""
    return headers.get("content-type", "").lower().startswith("application/json")
