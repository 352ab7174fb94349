"""The chunks of a streamed chat completion, reassembled.

    {"choices": [{"delta": ..., "finish_reason": null}]} ..., the same with a reason, {"choices": [], "usage": ...}

Compatible servers differ in how they split calls: some send each in one piece, some number all of them 0, some repeat
the id or the name in every piece, some have no ids (Gemini's first), and some never report usage.
Left to others: the stream (`bot.models.streams`), what the answer says (`chat`).

Source: platform.openai.com (chat completions, streaming), and issue threads of vLLM and llama.cpp, 2026-11-22.
"""

from dataclasses import dataclass, field

from bot.messages import CallId
from bot.models import streams, wire
from bot.models.openai.chat import Details, WrittenContent

Json = dict[str, object]

_GROWING = ("text", "summary", "data")
"""Where a thought's details hold its words."""
_MAX_TRIED = 8 * streams.MAX_CHARACTERS
"""The limit per call for all checks together of whether it is complete."""


class _Function(wire.Wire):
    name: wire.Name = None
    arguments: object = None


class _Call(wire.Wire):
    index: wire.Name = None
    id: wire.Name = None
    function: wire.Aside[_Function] = None
    extra_content: wire.Aside[Json] = None


class _Delta(wire.Wire):
    content: WrittenContent = None
    refusal: wire.Name = None
    tool_calls: list[_Call] | None = None
    function_call: wire.Aside[_Function] = None
    """Instead of `tool_calls`, as in `chat`."""
    reasoning_content: object = None
    reasoning: object = None
    reasoning_details: Details = None


class _Choice(wire.Wire):
    index: wire.Name = None
    delta: _Delta | None = None
    finish_reason: wire.Name = None


class _Chunk(wire.Wire):
    choices: list[_Choice] | None = None
    usage: wire.Aside[Json] = None


@dataclass
class _Asked:
    """An incomplete call."""

    index: str | None
    id: str | None
    name: str = ""
    written: list[str] = field(default_factory=list[str])
    tried: int = 0
    """How many characters were parsed to check whether it is complete."""
    extra: Json | None = None

    def is_over(self, next_id: str | None) -> bool:
        """Whether a piece with a name and this id begins the next call; without ids, it does once this one is complete.

        Raises:
            ValueError: completeness was checked too often, on too much text.
        """
        if next_id:
            return next_id != self.id
        if not self.written or not self.written[-1].rstrip().endswith("}"):
            return False
        written = "".join(self.written)
        self.tried += len(written)
        if self.tried > _MAX_TRIED:
            raise ValueError("the call does not end")
        return wire.tool_call(CallId(""), "", written).malformed is None

    def body(self) -> Json:
        function = {"name": self.name, "arguments": "".join(self.written)}
        return {"id": self.id, "function": function, "extra_content": self.extra}


class PartialChat:
    """An incomplete answer."""

    def __init__(self) -> None:
        self._content = ""
        self._refusal = ""
        self._thoughts: list[str] = []
        self._details: list[Json] = []
        self._calls: list[_Asked] = []
        self._legacy = _Asked(index=None, id=None)
        self._reason: str | None = None
        self._place: str | None = None
        self._usage: Json | None = None
        self.size = 0
        """How much has come so far, in characters; also of thoughts that nobody wants back."""

    @property
    def text(self) -> str:
        """The words so far; those of a refusal if there is one."""
        return self._refusal or self._content  # with each piece, so without looking at all of it

    def take(self, piece: object) -> None:
        """Adds a chunk.

        Raises:
            ValueError: it is not what the service sends.
        """
        chunk = _Chunk.model_validate(piece)
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices or ():
            self._place = self._place or choice.index
            if choice.index not in {None, self._place}:
                continue  # another answer beside the first one, which nobody asked for
            self._reason = choice.finish_reason or self._reason
            self._grow(choice.delta or _Delta())

    def body(self, *, is_cut: bool = False) -> bytes:
        """The complete answer in JSON; `is_cut`: what there is of it, cut off by the limit if its end is missing.

        Raises:
            ValueError: its end is missing.
        """
        if self._reason is None and not is_cut:
            raise ValueError("the stream ended before the answer did")
        message: Json = {"content": self._content, "refusal": self._refusal or None}
        message |= {
            "tool_calls": [call.body() for call in self._calls],
            "function_call": self._legacy.body()["function"],
        }
        message |= {"reasoning_content": "".join(self._thoughts), "reasoning_details": self._details}
        choice: Json = {"message": message, "finish_reason": self._reason or "length"}
        return wire.encode_json({"choices": [choice], "usage": self._usage})

    def _grow(self, delta: _Delta) -> None:
        words = _words(delta.content)
        self._content += words
        self._refusal += delta.refusal or ""
        thoughts = [one for one in (delta.reasoning_content, delta.reasoning) if isinstance(one, str)]
        self.size += len(words) + len(delta.refusal or "") + sum(map(len, thoughts))
        self._thoughts += [delta.reasoning_content] if isinstance(delta.reasoning_content, str) else []
        for detail in delta.reasoning_details or ():
            self._detail(detail)
        for piece in delta.tool_calls or ():
            function = piece.function or _Function()
            asked = self._asked(piece, function.name)
            asked.extra = piece.extra_content or asked.extra
            self._extend(asked, function)
        if delta.function_call is not None:
            self._extend(self._legacy, delta.function_call)

    def _extend(self, asked: _Asked, piece: _Function) -> None:
        self.size += 0 if asked.name else len(piece.name or "")
        asked.name = asked.name or piece.name or ""
        if piece.arguments is not None:
            arguments = piece.arguments
            written = arguments if isinstance(arguments, str) else wire.encode_json(arguments).decode()
            self.size += len(written)
            asked.written.append(written)

    def _detail(self, piece: Json) -> None:
        """Appends a piece of a thought to the one it continues, else adds it as the next."""
        self.size += sum(len(str(piece.get(name) or "")) for name in _GROWING)
        last = self._details[-1] if self._details else None
        if last is None or any(piece.get(name) != last.get(name) for name in ("type", "index")):
            self._details.append(dict(piece))
            return
        grown = {name: f"{last.get(name) or ''}{piece[name]}" for name in _GROWING if piece.get(name)}
        last |= {name: value for name, value in piece.items() if value is not None} | grown

    def _asked(self, piece: _Call, name: str | None) -> _Asked:
        """The call that a piece belongs to: the one with its number, unless it is a new one, which has a name."""
        same = [call for call in self._calls if call.index == piece.index][-1:]
        if not same or (name and same[0].is_over(piece.id)):
            if len(self._calls) == streams.MAX_PARTS:
                raise ValueError("the calls do not end")
            same = [_Asked(index=piece.index, id=piece.id)]
            self._calls += same
        return same[0]


def _words(content: str | list[Json] | None) -> str:
    if isinstance(content, list):
        return "".join(text for part in content if isinstance(text := part.get("text"), str))
    return content or ""
