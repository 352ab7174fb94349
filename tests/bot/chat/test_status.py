"""An answer that is still being written is shown in whole words and whole styles, with a mark that it goes on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.chat.status import StatusMessage, unfinished_part
from bot.formatting.split import parts
from bot.signal.protocol import ToolEnded, ToolStarted

ANSWER = """\
**Roses** need *much* water, about `2 l` a day:

- in the *morning*, see [the list](https://example.org/list),
- ~~never~~ at noon,
* 5 * 3 times a **week**.

```python
water(roses, 2)
```

That is ||all|| 👩‍👩‍👧 there is."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("Ro", ""),
        ("Roses ne", "Roses …"),
        ("Roses need **much", "Roses need …"),
        ("Roses need **much** wa", "Roses need **much** …"),
        ("See [the list](https://exa", "See …"),
        ("Use `2 l", "Use …"),
        ("First.\n\nThen **bo", "First.\n\nThen …"),
        ("* one\n* tw", "* one\n* …"),
        ("5 * 3 = 1", "5 * 3 = …"),
        ("```\na ** b\n", "```\na ** b …"),
        ("日本語です", "日本語で …"),
        ("half \ud83d", "half …"),
    ],
)
def test_what_is_not_whole_yet_is_left_out(text: str, shown: str) -> None:
    """The last word, and what stands behind a marker without a partner."""
    assert unfinished_part(text) == shown


def test_no_marker_shows_at_any_moment() -> None:
    """However far it is written: the plain text holds no star of a style and no half of a character."""
    whole = parts(ANSWER)[0].text
    for length in range(len(ANSWER)):
        for part in parts(unfinished_part(ANSWER[:length]), max_parts=1, cut_mark="…"):
            assert "**" not in part.text
            assert "~~" not in part.text
            assert "](" not in part.text
            words = part.text.removesuffix("…").split()
            assert set(words) <= {*whole.split(), "-", "*", "…"} | {word.strip("`") for word in whole.split()}


@given(st.text())
def test_anything_can_be_shown(text: str) -> None:
    """Whatever a model writes: it fits one message, and shows that it goes on."""
    for part in parts(unfinished_part(text), max_parts=1, cut_mark="…"):
        assert len(part.text.encode()) <= 2000
        assert part.text.endswith("…") or "```" in text or "~~~" in text


def test_what_is_shown_is_what_goes_on() -> None:
    """The tool that began last; when all have ended the model is asked again, and its words are shown from then on."""
    showing = StatusMessage(streams=True)
    assert showing.on_text is not None
    assert showing.content().text == "Thinking …"
    showing.on_text("Let me look that up ")
    assert showing.content().text == "Let me look that up …"
    showing.watch(ToolStarted(name="get_weather", arguments="{}"))
    showing.watch(ToolStarted(name="something_new", arguments="{}"))
    assert showing.content().text == "Using a tool …"
    for name, text in (("something_new", "Checking the weather …"), ("get_weather", "Thinking …")):
        showing.watch(ToolEnded(name=name, content="{}", ok=True, latency_seconds=0))
        assert showing.content().text == text
    assert StatusMessage(streams=False).on_text is None
