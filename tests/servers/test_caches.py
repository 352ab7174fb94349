"""The doubles' caches bill as the vendors document."""

from typing import Any

from tests.servers.caches import Cache, anthropic_tokens, openai_tokens
from tests.servers.script import Tokens

_LONG = "word " * 2000


def _claude(*texts: str, ttl: str, system: str = _LONG, system_ttl: str | None = None) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
    content[-1] |= {"cache_control": {"type": "ephemeral", "ttl": ttl}}
    first: dict[str, Any] = {"type": "text", "text": system}
    if system_ttl:
        first |= {"cache_control": {"type": "ephemeral", "ttl": system_ttl}}
    return {
        "model": "claude-haiku-5-5",
        "system": [first],
        "messages": [{"role": "user", "content": content}],
    }


def _kinds(tokens: Tokens) -> tuple[bool, bool, bool]:
    return tokens.cache_read > 0, tokens.cache_write > 0, tokens.cache_write_hour > 0


def test_what_anthropic_keeps_and_finds() -> None:
    """An entry lives for its time from its last read on, and is found up to twenty blocks before a mark; what is short
    is not kept, and another choice of tools makes the messages unknown. Writes of both lives are told apart.
    """
    for ttl, seconds in (("5m", 300), ("1h", 3600)):
        cache, body = Cache(), _claude("Hello.", ttl=ttl)
        assert _kinds(anthropic_tokens(cache, body)) == (False, True, ttl == "1h")
        for _ in range(2):
            cache.now += seconds - 1
            assert _kinds(anthropic_tokens(cache, body)) == (True, False, False)
        cache.now += seconds
        assert _kinds(anthropic_tokens(cache, body)) == (False, True, ttl == "1h")
    for more, is_found in ((19, True), (20, False)):
        cache = Cache()
        anthropic_tokens(cache, _claude("one", ttl="5m"))
        assert (anthropic_tokens(cache, _claude("one", *"b" * more, ttl="5m")).cache_read > 0) is is_found
    assert _kinds(anthropic_tokens(Cache(), _claude("Hello.", ttl="5m", system="Short."))) == (False, False, False)
    cache, body = Cache(), _claude(_LONG, ttl="5m", system_ttl="1h")
    written = anthropic_tokens(cache, body)
    assert abs(written.cache_write - 2 * written.cache_write_hour) < 50
    assert written.fresh == 0
    assert 0 < anthropic_tokens(cache, body | {"tool_choice": {"type": "none"}}).cache_read < written.cache_write


def test_openai_finds_beginnings_by_itself_in_older_models() -> None:
    """From 1,024 tokens on, in steps of 128, for nothing, and for its own key alone."""
    cache = Cache()
    body = {"model": "gpt-5.4", "messages": [{"role": "user", "content": _LONG}], "prompt_cache_key": "a"}
    assert openai_tokens(cache, body).cache_read == 0
    tokens = openai_tokens(cache, body)
    assert (tokens.cache_read % 128, tokens.cache_read > 2000, tokens.cache_write) == (0, True, 0)
    assert openai_tokens(cache, body | {"prompt_cache_key": "b"}).cache_read == 0


def test_openai_keeps_and_finds_at_marks_alone_in_newer_models() -> None:
    """In the mode of marks one that was not written before finds nothing, and without a mark nothing is kept."""
    cache, mark = Cache(), {"prompt_cache_breakpoint": {"mode": "explicit"}}
    options = {"mode": "explicit", "ttl": "30m"}

    def body(*marked: bool) -> dict[str, Any]:
        texts = [{"type": "input_text", "text": f"{place}{_LONG}"} for place in range(len(marked))]
        parts = [text | mark if is_marked else text for text, is_marked in zip(texts, marked, strict=True)]
        items = [{"role": "user", "content": [part]} for part in parts]
        return {"model": "gpt-6-luna", "input": items, "prompt_cache_options": options}

    for marked, is_written, is_read in (
        ((False, False), False, False),
        ((True,), True, False),
        ((False, True), True, False),
        ((True, True), False, True),
    ):
        assert _kinds(openai_tokens(cache, body(*marked)))[:2] == (is_read, is_written), marked
    cache.now += 1800
    assert openai_tokens(cache, body(True)).cache_read == 0
