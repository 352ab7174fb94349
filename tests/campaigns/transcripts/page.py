"""The page `docs/signal.md`: the stories, one section each, as people see them."""

from collections.abc import Sequence
from pathlib import Path

from tests.campaigns.transcripts.sights import Sight, written
from tests.campaigns.transcripts.stage import Story

PATH = Path(__file__).parents[3] / "docs" / "signal.md"

_HEAD = """\
# What people see in Signal

Each conversation below really took place: with all of Aldis, over a double of signal-cli that shows what phones
would show, and with a scripted model. `make transcripts` plays them and writes this page; a test
plays them again and compares. Text in ‹these marks› differs every time.

A name is followed by a message, │ by what it quotes, · by what happens to a message; native mentions are
underlined. Where the model reads something, that is the question it really gets.

Over signal-cli-rest-api a few things differ: [this table](operating.md#in-signal) lists them.
"""


def page(told: Sequence[tuple[Story, Sequence[Sight]]]) -> str:
    """The page, as Markdown."""
    sections = (f"## {story.title}\n\n{_folded(story.words)}\n\n{_transcript(sights)}" for story, sights in told)
    return "\n".join([_HEAD, *sections])


def _transcript(sights: Sequence[Sight]) -> str:
    return f"<pre>\n{written(sights)}\n</pre>\n"


def _folded(words: str, width: int = 120) -> str:
    rows = [""]
    for word in words.split():
        if rows[-1] and len(rows[-1]) + 1 + len(word) > width:
            rows.append("")
        rows[-1] += f" {word}" if rows[-1] else word
    return "\n".join(rows)
