"""All stories, in the order in which the page tells them, and how they are played side by side."""

import asyncio
from pathlib import Path

from tests.campaigns.transcripts import answers, chats, day, later, made, media, permissions
from tests.campaigns.transcripts.sights import Sight
from tests.campaigns.transcripts.stage import Story, played

STORIES: tuple[Story, ...] = (
    *answers.STORIES,
    *media.STORIES,
    *chats.STORIES,
    *later.STORIES,
    *made.STORIES,
    *permissions.STORIES,
    *day.STORIES,
)


async def all_played(folder: Path) -> list[tuple[Story, list[Sight]]]:
    """Every story with what people see of it; all at once, for they wait more than they compute."""
    async with asyncio.TaskGroup() as group:
        playing = [group.create_task(played(story, folder / str(number))) for number, story in enumerate(STORIES)]
    return [(story, task.result()) for story, task in zip(STORIES, playing, strict=True)]
