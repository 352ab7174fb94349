"""The events of a streamed answer of Anthropic's Messages API, reassembled.

    message_start, (content_block_start, content_block_delta ..., content_block_stop) ..., message_delta, message_stop

Left to others: the stream (`bot.models.streams`), what the answer says (`bot.models.anthropic.provider`).

Source: docs.claude.com (Streaming messages, version 2026-10-21) and the package anthropic 2.12.0, 2026-11-22.
"""

from typing import cast

from bot.messages import CallId
from bot.models import streams, wire

Block = dict[str, object]


class _Event(wire.Wire):
    type: str
    index: int = 0
    message: wire.Aside[Block] = None
    content_block: wire.Aside[Block] = None
    delta: wire.Aside[Block] = None
    usage: wire.Aside[Block] = None


class PartialMessage:
    """An incomplete answer."""

    def __init__(self) -> None:
        self._message: Block = {}
        self.usage: Block = {}
        """What the service has counted so far: the prompt from the first event on, the answer as it grows."""
        self._blocks: dict[int, Block] = {}
        self._inputs: dict[int, str] = {}
        """The arguments of calls so far, as JSON text."""
        self.size = 0
        """How much has come so far, in characters."""
        self._has_ended = False

    @property
    def text(self) -> str:
        """The words so far, of all text blocks."""
        texts = [str(block.get("text") or "") for block in self._blocks.values() if block.get("type") == "text"]
        return texts[0] if len(texts) == 1 else streams.join_texts(texts)

    def take(self, piece: object) -> None:
        """Adds an event; ignores unknown kinds.

        Raises:
            ValueError: it is not what the service sends.
        """
        event = _Event.model_validate(piece)
        match event.type:
            case "message_start":
                self._message = event.message or {}
                usage = self._message.get("usage")
                self._count(cast("Block", usage) if isinstance(usage, dict) else {})
            case "content_block_start":
                self._blocks[event.index] = dict(event.content_block or {})
                if len(self._blocks) > streams.MAX_PARTS:
                    raise ValueError("the blocks do not end")
            case "content_block_delta":
                self._grow(event.index, event.delta or {})
            case "message_delta":
                self._message |= event.delta or {}
                self._count(event.usage or {})
            case "message_stop":
                self._has_ended = True
            case _:
                pass

    def body(self, *, is_cut: bool = False) -> bytes:
        """The complete answer in JSON; `is_cut`: what there is of it, cut off by the limit if its end is missing.

        Raises:
            ValueError: its end is missing.
        """
        if not (self._has_ended or is_cut) or not self._message:
            raise ValueError("the stream ended before the answer did")
        content = [self._whole(index) for index in sorted(self._blocks)]
        reason = self._message.get("stop_reason") or ("max_tokens" if is_cut else None)
        return wire.encode_json(
            {**self._message, "content": content, "stop_reason": reason, "usage": self.usage or None}
        )

    def _count(self, usage: Block) -> None:
        """Updates the counts, which are totals: newer ones replace older ones, missing ones stay."""
        counts = {name: count for name, count in usage.items() if isinstance(count, int)}
        written = usage.get("cache_creation")
        self.usage |= counts | ({"cache_creation": written} if isinstance(written, dict) else {})

    def _grow(self, index: int, delta: Block) -> None:
        block = self._blocks.get(index)
        if block is None:
            raise ValueError("a piece of a block that never began")
        match delta:
            case {"type": "input_json_delta", "partial_json": str(more)}:
                self.size += len(more)
                self._inputs[index] = self._inputs.get(index, "") + more
            case {"type": "text_delta", "text": str(more)}:
                self.size += len(more)
                block["text"] = f"{block.get('text') or ''}{more}"
            case {"type": "thinking_delta", "thinking": str(more)}:
                self.size += len(more)
                block["thinking"] = f"{block.get('thinking') or ''}{more}"
            case {"type": "signature_delta", "signature": str(signature)}:
                block["signature"] = signature
            case _:  # citations, which are not kept
                pass

    def _whole(self, index: int) -> Block:
        """The block with its arguments as an object, or as text if they are not an object."""
        written = self._inputs.get(index, "")
        if not written.strip():
            return self._blocks[index]
        call = wire.tool_call(CallId(""), "", written)
        return self._blocks[index] | {"input": written if call.malformed is not None else call.arguments}
