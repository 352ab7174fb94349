"""The page of what people see in Signal is what they see; see `tests.campaigns.transcripts`."""

from pathlib import Path

from tests.campaigns.transcripts.page import PATH, page
from tests.campaigns.transcripts.stories import all_played


async def test_the_page_is_what_people_see(tmp_path: Path) -> None:
    """Every story of `docs/signal.md`, to the letter; after a change of what people see: `make transcripts`."""
    assert page(await all_played(tmp_path)) == PATH.read_text(encoding="utf-8")
