"""What completions cost."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.providers.base import Usage
from bot.providers.prices import cost

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("model", "usage", "expected"),
    [
        ("claude-sonnet-5-5", Usage(input_tokens=MILLION), "2"),
        ("claude-sonnet-5-5", Usage(output_tokens=MILLION), "10"),
        ("claude-sonnet-5-5", Usage(input_tokens=MILLION, cached_input_tokens=MILLION), "0.2"),
        ("claude-sonnet-5-5", Usage(input_tokens=MILLION, cache_write_tokens=MILLION), "2.5"),
        ("claude-opus-5-5", Usage(input_tokens=MILLION), "4"),
        ("claude-opus-5-5", Usage(input_tokens=MILLION, cached_input_tokens=MILLION), "0.2"),
        ("claude-opus-5-5", Usage(output_tokens=MILLION), "20"),
        ("claude-fable-5-1", Usage(input_tokens=MILLION, output_tokens=MILLION), "60"),
        ("claude-haiku-5-5", Usage(input_tokens=100_000, output_tokens=10_000), "0.015"),
        ("claude-haiku-5-5-20260901", Usage(input_tokens=1), "0.0000001"),
        ("claude-haiku-5-5", Usage(), "0"),
        ("offline", Usage(input_tokens=MILLION, output_tokens=MILLION), "0"),
    ],
)
def test_what_a_completion_costs(model: str, usage: Usage, expected: str) -> None:
    """The price is that of fresh, cached, written and answered tokens, exact to the last digit."""
    assert cost(model, usage) == Decimal(expected)


@pytest.mark.parametrize(
    "model",
    ["claude-fable-5-2", "claude-haiku-5-5-mini", "claude-haiku-5", "gpt-6-sol", "x/claude-haiku-5-5", "qwen4:8b", ""],
)
def test_an_unknown_model_has_no_price(model: str) -> None:
    """A price is never guessed from a name that is merely alike."""
    assert cost(model, Usage(input_tokens=1)) is None


def test_a_prompt_beyond_the_known_price() -> None:
    """Haiku's price is for prompts of up to 100,000 tokens; what a longer one costs is not known."""
    assert cost("claude-haiku-5-5", Usage(input_tokens=100_001)) is None


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**7))
def test_a_cost_is_never_negative(prompt: int, read: int, written: int, output: int) -> None:
    """Whatever a server counts, nobody is paid for asking."""
    usage = Usage(input_tokens=prompt, cached_input_tokens=read, cache_write_tokens=written, output_tokens=output)
    price = cost("claude-opus-5-5", usage)
    assert price is not None
    assert price >= 0
