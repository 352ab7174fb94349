"""The doubles' caches bill as the vendors document."""

from typing import Any

from tests.servers.caches import Cache, anthropic_tokens, openai_tokens

_LONG = "word " * 2000


def _claude(*texts: str, ttl: str = "5m", system: str = _LONG) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
    content[-1] |= {"cache_control": {"type": "ephemeral", "ttl": ttl}}
    return {"model": "claude-haiku-5-5", "system": system, "messages": [{"role": "user", "content": content}]}


def test_what_anthropic_keeps_and_finds() -> None:
    """An entry lives for its time from its last read on, and is found up to twenty blocks before a mark; what is short
    is not kept, and another choice of tools makes the messages unknown.
    """
    for ttl, seconds in (("5m", 300), ("1h", 3600)):
        cache, body = Cache(), _claude("Hello.", ttl=ttl)
        for waits, is_found in ((0, False), (seconds - 1, True), (seconds - 1, True), (seconds, False)):
            cache.now += waits
            tokens = anthropic_tokens(cache, body)
            assert (tokens.cache_read > 0, tokens.cache_write > 0) == (is_found, not is_found)
            assert tokens.cache_write_hour == (tokens.cache_write if ttl == "1h" else 0)
        assert anthropic_tokens(cache, body | {"tool_choice": {"type": "none"}}).cache_read == 0
    for more, is_found in ((19, True), (20, False)):
        cache = Cache()
        anthropic_tokens(cache, _claude("one"))
        assert (anthropic_tokens(cache, _claude("one", *"b" * more)).cache_read > 0) is is_found
    assert anthropic_tokens(Cache(), _claude("Hello.", system="Short.")).cache_write == 0


def test_what_openai_keeps_and_finds() -> None:
    """Older models find beginnings by themselves, in steps of 128 tokens, for nothing, for their own key alone; newer
    ones keep and find at marks, in the mode of marks, so one that was not written before finds nothing.
    """
    cache = Cache()
    older = {"model": "gpt-5.4", "messages": [{"role": "user", "content": _LONG}], "prompt_cache_key": "a"}
    assert openai_tokens(cache, older).cache_read == 0
    tokens = openai_tokens(cache, older)
    assert (tokens.cache_read % 128, tokens.cache_read > 2000, tokens.cache_write) == (0, True, 0)
    assert openai_tokens(cache, older | {"prompt_cache_key": "b"}).cache_read == 0

    def newer(*marked: bool) -> dict[str, Any]:
        texts = [{"type": "input_text", "text": f"{place}{_LONG}"} for place in range(len(marked))]
        mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
        parts = [text | mark if is_marked else text for text, is_marked in zip(texts, marked, strict=True)]
        items = [{"role": "user", "content": [part]} for part in parts]
        return {"model": "gpt-6-luna", "input": items, "prompt_cache_options": {"mode": "explicit", "ttl": "30m"}}

    for marked, waits, is_written, is_read in (
        ((False, False), 0, False, False),
        ((True,), 0, True, False),
        ((False, True), 0, True, False),
        ((True, True), 0, False, True),
        ((True,), 1800, True, False),
    ):
        cache.now += waits
        tokens = openai_tokens(cache, newer(*marked))
        assert (tokens.cache_write > 0, tokens.cache_read > 0) == (is_written, is_read), marked
