"""The events of a streamed answer of OpenAI's Responses API; the last one contains the complete answer.

    response.created, (response.output_text.delta | ...) ..., response.completed | .incomplete | .failed, or an error

Left to others: the stream (`bot.providers.streams`), what the answer says (`responses`).

Source: platform.openai.com (responses, streaming) and the package openai 3.54.0, 2026-11-22.
"""

from bot.providers import streams, wire

Json = dict[str, object]

_REFUSAL = "response.refusal.delta"
_WORDS = frozenset({"response.output_text.delta", _REFUSAL})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class _Event(wire.Wire):
    type: str
    output_index: int = 0
    content_index: int = 0
    delta: object = None
    response: Json | None = None
    code: str | None = None


class PartialResponse:
    """An incomplete answer."""

    def __init__(self) -> None:
        self._texts: dict[tuple[int, int], str] = {}
        self._response: Json | None = None
        self._is_refusal = False
        self.size = 0
        """How much has come so far, in characters."""

    @property
    def text(self) -> str:
        """The words so far, of all messages in the answer."""
        return streams.join_texts(text for _, text in sorted(self._texts.items()))

    def take(self, piece: object) -> None:
        """Adds an event; ignores unknown kinds.

        Raises:
            ValueError: it is not what the service sends.
        """
        event = _Event.model_validate(piece)
        if event.type.endswith(".delta") and isinstance(event.delta, str):
            self.size += len(event.delta)
        if event.type in _WORDS:
            self._is_refusal |= event.type == _REFUSAL
            place = (event.output_index, event.content_index)
            self._texts[place] = self._texts.get(place, "") + str(event.delta or "")
            if len(self._texts) > streams.MAX_PARTS:
                raise ValueError("the texts do not end")
        elif event.type in _ENDS:
            self._response = event.response
        elif event.type == "error":
            self._response = {"status": "failed", "error": {"code": event.code}, "output": []}

    def body(self, *, is_cut: bool = False) -> bytes:
        """The complete answer in JSON; `is_cut`: what there is of it, cut off by the limit if its end is missing.

        Raises:
            ValueError: its end is missing.
        """
        if self._response is None and not is_cut:
            raise ValueError("the stream ended before the answer did")
        return wire.encode_json(self._response or self._words())

    def _words(self) -> Json:
        """The answer with the words so far, and without its calls."""
        kind = "refusal" if self._is_refusal else "text"
        content = [{kind: text} for _, text in sorted(self._texts.items())]
        cut: Json = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        return cut | {"output": [{"type": "message", "content": content}]}
