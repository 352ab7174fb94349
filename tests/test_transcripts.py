"""The page of what people see in Signal is what they see; see `tests.campaigns.transcripts`."""

import re
from pathlib import Path

from tests.campaigns.transcripts.page import PATH, Said, page
from tests.campaigns.transcripts.stories import all_played


async def test_the_page_is_what_people_see(tmp_path: Path) -> None:
    """Every story of `docs/signal.md`, to the letter; after a change of what people see: `make transcripts`."""
    told = await all_played(tmp_path)
    assert page((story.title, story.words, sights) for story, sights in told) == PATH.read_text(encoding="utf-8")
    day = next(sights for story, sights in told if story.title == "A day")
    said = [sight for sight in day if isinstance(sight, Said) and sight.who == "Aldis"]
    for text in ("".join(letter.character for letter in sight.text) for sight in said):
        assert not re.search(r"UTC|\w_\w|\b[0-9a-f]{8}\b|0[.,]00", text), text
        assert max(len(sentence.split()) for sentence in re.split(r"[.!?](?:\s|$)|\n", text)) <= 25, text
