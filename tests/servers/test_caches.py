"""The doubles' caches bill as the vendors document."""

from typing import Any

import pytest

from tests.servers.caches import Cache, anthropic_tokens, openai_tokens
from tests.servers.script import Mistake, Tokens

_LONG = "word " * 2000


def _mark(ttl: str = "5m") -> dict[str, Any]:
    return {"cache_control": {"type": "ephemeral", "ttl": ttl}}


def _claude(*texts: str, ttl: str | None = None, system: str = _LONG, system_ttl: str | None = None) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
    if ttl:
        content[-1] |= _mark(ttl)
    first: dict[str, Any] = {"type": "text", "text": system}
    return {
        "model": "claude-haiku-5-5",
        "system": [first | _mark(system_ttl) if system_ttl else first],
        "messages": [{"role": "user", "content": content}],
    }


def _kinds(tokens: Tokens) -> tuple[bool, bool, bool]:
    return tokens.cache_read > 0, tokens.cache_write > 0, tokens.cache_write_hour > 0


@pytest.mark.parametrize(("ttl", "seconds"), [("5m", 300), ("1h", 3600)])
def test_an_entry_lives_so_long_and_each_read_renews_it(ttl: str, seconds: int) -> None:
    """A second before its end it is read, and lives its whole life again."""
    cache, body = Cache(), _claude("Hello.", ttl=ttl)
    assert _kinds(anthropic_tokens(cache, body)) == (False, True, ttl == "1h")
    for _ in range(3):
        cache.now += seconds - 1
        assert _kinds(anthropic_tokens(cache, body)) == (True, False, False)
    cache.now += seconds
    assert _kinds(anthropic_tokens(cache, body)) == (False, True, ttl == "1h")


def test_writes_of_both_lives_are_told_apart() -> None:
    """What is between what was found and the last mark of an hour is of an hour, the rest of five minutes."""
    tokens = anthropic_tokens(Cache(), _claude(_LONG, ttl="5m", system_ttl="1h"))
    assert abs(tokens.cache_write - 2 * tokens.cache_write_hour) < 50
    assert tokens.fresh == 0


def test_an_hour_after_five_minutes_is_refused() -> None:
    """Marks with the longer life come first."""
    with pytest.raises(Mistake, match="must not come after"):
        anthropic_tokens(Cache(), _claude("Hello.", ttl="1h", system_ttl="5m"))


def test_twenty_blocks_are_looked_back_and_no_more() -> None:
    """Whoever adds more blocks than that between two marks pays all anew."""
    for more, is_found in ((19, True), (20, False)):
        cache = Cache()
        anthropic_tokens(cache, _claude("one", ttl="5m"))
        tokens = anthropic_tokens(cache, _claude("one", *"b" * more, ttl="5m"))
        assert (tokens.cache_read > 0) is is_found


def test_what_is_too_short_is_not_kept() -> None:
    """Silently, so that only the bill tells."""
    assert _kinds(anthropic_tokens(Cache(), _claude("Hello.", ttl="5m", system="Short."))) == (False, False, False)


def test_another_choice_of_tools_makes_messages_unknown() -> None:
    """What stands before them is still found."""
    cache, body = Cache(), _claude(_LONG, ttl="5m", system_ttl="1h")
    whole = anthropic_tokens(cache, body).cache_write
    read = anthropic_tokens(cache, body | {"tool_choice": {"type": "none"}}).cache_read
    assert 0 < read < whole


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

    assert openai_tokens(cache, body(False, False)).cache_write == 0
    assert openai_tokens(cache, body(True)).cache_write > 2000
    assert openai_tokens(cache, body(False, True)).cache_read == 0
    assert openai_tokens(cache, body(True, True)).cache_read > 2000
    cache.now += 1800
    assert openai_tokens(cache, body(True)).cache_read == 0
