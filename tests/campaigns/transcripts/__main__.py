"""`python -m tests.campaigns.transcripts`: play all stories and write `docs/signal.md` anew."""

import asyncio
import logging
import tempfile
from pathlib import Path

from tests.campaigns.transcripts.page import PATH, page
from tests.campaigns.transcripts.stories import all_played


def main() -> None:
    # Who hangs up in the middle of a request does so because a story is over.
    logging.disable()
    with tempfile.TemporaryDirectory(prefix="aldis-transcripts-") as folder:
        told = asyncio.run(all_played(Path(folder)))
    PATH.write_text(page(told), encoding="utf-8")


if __name__ == "__main__":
    main()
