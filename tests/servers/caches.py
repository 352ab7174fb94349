"""How the vendors' prompt caches bill: which part of a prompt is read from them, and which is written.

A prompt is a list of blocks; a prefix of it is identified by a digest of its content. Time is `now`, which the test
sets, so nothing waits here. Four bytes count as a token: of what the model reads, words and results without the JSON
around them, plus four tokens for the role and end of each block.

Anthropic: entries are written at marked blocks (`cache_control`), at most four, and found again at a mark or up to 20
blocks before it. They live 5 minutes or an hour, renewed by each read. Entries below the minimum of the model are
silently not kept. Tools come before the system prompt, and that before the messages; another `tool_choice` invalidates
the messages. Source: platform.claude.com, "Prompt caching" and "Tool use with prompt caching", 2026-11-22.

OpenAI before gpt-5.6: prefixes are found automatically from 1,024 tokens on in steps of 128; writing is free, and they
live up to 24 hours (`prompt_cache_retention`, the default if an organisation keeps data at all). From gpt-5.6 on, in
the mode `explicit`: entries are found and written exactly at the marks (`prompt_cache_breakpoint`); the latest four are
written, the latest 80 looked up. They live at least 30 minutes or 12 hours, and here no longer. Requests with another
`prompt_cache_key` go to another machine. Writing costs 1.25 times the price for either lifetime; a separate price for
12 hours was not found. Source: developers.openai.com, "Prompt caching", and the package openai 3.54.0, 2026-11-22.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.servers.script import Tokens

_LIVES_SECONDS = {"5m": 300.0, "1h": 3600.0, "30m": 1800.0, "12h": 43_200.0, "24h": 86_400.0}
_LOOK_BACK = 20
_FRAME_TOKENS = 4
_MARKED_FROM = re.compile(r"gpt-(5\.[6-9]|[6-9])")
_LEAST = (
    (re.compile(r"claude-((fable|mythos)-5|opus-5|(opus|sonnet|haiku)-5-5)"), 512),
    (re.compile(r"claude-(opus-4-8|sonnet-5|sonnet-4-[56])"), 1024),
    (re.compile(r"claude-opus-4-7"), 2048),
    (re.compile(r"claude"), 4096),
)
_OPENAI_LEAST, _OPENAI_STEP = 1024, 128

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Block:
    """One piece of a prompt; `life` is that of the entry to be written where it ends, None: it is not marked."""

    said: str
    """All of it, by which it is known."""
    read: str | None = None
    """What a model reads of it; None: all of it."""
    life: str | None = None

    @property
    def tokens(self) -> float:
        read = self.said if self.read is None else self.read
        return _FRAME_TOKENS + len(read.encode("utf-8", "replace")) / 4


@dataclass
class Cache:
    """All that a vendor keeps; `now` is in seconds."""

    now: float = 0.0
    _ends: dict[str, tuple[float, str]] = field(default_factory=dict[str, tuple[float, str]])
    """When each prefix is gone, and its life."""

    def read(self, prefix: str) -> bool:
        ends, life = self._ends.get(prefix, (-1.0, "5m"))
        if ends <= self.now:
            return False
        self._ends[prefix] = (self.now + _LIVES_SECONDS[life], life)
        return True

    def write(self, prefix: str, life: str) -> None:
        if self._ends.get(prefix, (-1.0, ""))[0] <= self.now:
            self._ends[prefix] = (self.now + _LIVES_SECONDS[life], life)


def anthropic_tokens(cache: Cache, body: Json, *, output: int = 10) -> Tokens:
    blocks = _anthropic_blocks(body)
    marks = [place for place, block in enumerate(blocks) if block.life]
    prefixes, sums = _prefixes(body["model"], blocks), _sums(blocks)
    least = next(least for name, least in _LEAST if name.match(body["model"]))
    found = -1
    for mark in marks:
        back = range(mark, max(-1, mark - _LOOK_BACK), -1)
        found = max(found, next((place for place in back if cache.read(prefixes[place])), -1))
    kept = [mark for mark in marks if sums[mark] >= least]
    for mark in kept:
        cache.write(prefixes[mark], blocks[mark].life or "5m")
    read = sums[found] if found >= 0 else 0
    hour_end = max([sums[mark] for mark in kept if blocks[mark].life == "1h"], default=0)
    end = max([sums[mark] for mark in kept], default=0)
    hour, all_written = max(0, hour_end - read), max(0, end - read)
    fresh = sums[-1] - read - all_written
    return Tokens(
        fresh=round(fresh),
        cache_read=round(read),
        cache_write=round(all_written),
        cache_write_hour=round(min(hour, all_written)),
        output=output,
    )


def _anthropic_blocks(body: Json) -> list[Block]:
    system = body.get("system") or []
    system = [{"type": "text", "text": system}] if isinstance(system, str) else system
    blocks = [_block(item) for item in [*(body.get("tools") or []), *system]]
    choice = json.dumps(body.get("tool_choice"))
    for message in body["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        blocks += [_block(part, f"{message['role']}{choice if choice != 'null' else ''}") for part in parts]
    return blocks


def _block(item: Json, role: str = "") -> Block:
    mark = item.get("cache_control")
    said = {key: value for key, value in item.items() if key != "cache_control"}
    return Block(said=role + _written(said), read=_read(said), life=mark.get("ttl", "5m") if mark else None)


def _read(item: Json) -> str | None:
    """What a model reads of a block of words, a call or a result; None: of another one, all."""
    words = item.get("text", item.get("content"))
    if isinstance(words, str):
        return words
    return f"{item['name']}{_written(item['input'])}" if item.get("type") == "tool_use" else None


def openai_tokens(cache: Cache, body: Json, *, output: int = 10) -> Tokens:
    blocks = _openai_blocks(body)
    if not _MARKED_FROM.match(body["model"]):
        return _found_by_itself(cache, body, blocks, output)
    options = body.get("prompt_cache_options") or {}
    life = options.get("ttl", "30m")
    if options.get("mode", "implicit") == "implicit":
        blocks[-1] = replace(blocks[-1], life=life)
    prefixes = _prefixes(f"{body['model']}|{body.get('prompt_cache_key')}", blocks)
    sums = _sums(blocks)
    marks = [place for place, block in enumerate(blocks) if block.life and sums[place] >= _OPENAI_LEAST]
    found = next((sums[place] for place in reversed(marks[-80:]) if cache.read(prefixes[place])), 0)
    for place in marks[-4:]:
        cache.write(prefixes[place], life)
    written = max([sums[place] for place in marks[-4:]], default=0)
    return _openai_tokens(sums[-1], found, max(0, written - found), output)


def _found_by_itself(cache: Cache, body: Json, blocks: Sequence[Block], output: int) -> Tokens:
    text = "".join(block.said for block in blocks).encode("utf-8", "replace")
    total = len(text) / 4
    digest = hashlib.sha256(f"{body['model']}|{body.get('prompt_cache_key')}".encode())
    prefixes: list[tuple[int, str]] = []
    for end in range(_OPENAI_STEP, int(total) + 1, _OPENAI_STEP):
        digest.update(text[4 * (end - _OPENAI_STEP) : 4 * end])
        if end >= _OPENAI_LEAST:
            prefixes.append((end, digest.hexdigest()))
    found = next((end for end, prefix in reversed(prefixes) if cache.read(prefix)), 0)
    for _, prefix in prefixes:
        cache.write(prefix, "24h")
    return _openai_tokens(total, found, 0, output)


def _openai_blocks(body: Json) -> list[Block]:
    blocks = [Block(said=_written(tool)) for tool in body.get("tools") or []]
    if body.get("instructions"):
        blocks.append(Block(said=f"developer{body['instructions']}"))
    given = body["input"] if "input" in body else body["messages"]
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        name = "output" if item.get("type") == "function_call_output" else "content"
        parts = item.get(name)
        head = _written({key: value for key, value in item.items() if key != name})
        listed = parts if isinstance(parts, list) else [{"type": "input_text", "text": parts}]
        for place, part in enumerate(listed):
            said = {key: value for key, value in part.items() if key != "prompt_cache_breakpoint"}
            mark = part.get("prompt_cache_breakpoint")
            whole = ("" if place else head) + _written(said)
            is_call = "tool_calls" in item or item.get("type") == "function_call"
            blocks.append(Block(said=whole, read=None if is_call else _read(said), life="marked" if mark else None))
    return blocks


def _openai_tokens(total: float, read: float, written: float, output: int) -> Tokens:
    fresh = total - read - written
    return Tokens(fresh=round(fresh), cache_read=round(read), cache_write=round(written), output=output)


def _prefixes(name: str, blocks: Sequence[Block]) -> list[str]:
    digest, found = hashlib.sha256(name.encode()), list[str]()
    for block in blocks:
        digest.update(hashlib.sha256(block.said.encode("utf-8", "replace")).digest())
        found.append(digest.hexdigest())
    return found


def _sums(blocks: Sequence[Block]) -> list[float]:
    total, found = 0.0, list[float]()
    for block in blocks:
        total += block.tokens
        found.append(total)
    return found


def _written(item: Json) -> str:
    return json.dumps(item, ensure_ascii=False, separators=(",", ":"))
