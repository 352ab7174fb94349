"""`python -m tests.campaigns.transcripts`: play all stories and write `docs/signal.md` anew."""

import asyncio
import logging
import tempfile
from pathlib import Path

from tests.campaigns.transcripts.page import PATH, page
from tests.campaigns.transcripts.stories import all_played

if __name__ == "__main__":
    # A client hangs up in the middle of a request because a story is over.
    logging.disable()
    with tempfile.TemporaryDirectory(prefix="aldis-transcripts-") as place:
        told = asyncio.run(all_played(Path(place)))
    PATH.write_text(page((story.title, story.words, sights) for story, sights in told), encoding="utf-8")
