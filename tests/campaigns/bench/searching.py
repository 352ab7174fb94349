"""How long `recall` looks through a long conversation, with vectors, and how much of the disk that takes."""

import random
import statistics
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from bot.chat.context import rows_of
from bot.clock import SetClock
from bot.features.recall import Recall, RecallArguments, pieces_of
from bot.messages import UserMessage
from store import Repositories, TurnId, open_store
from tests.campaigns.bench.figures import Figure
from tests.conftest import NOON
from tools import Embedder, Http, RecallOptions, ToolContext
from tools.recall import signs

_CHARACTERS, _DIMENSIONS = 400, 512
_SYLLABLES = ("ba", "de", "ki", "lo", "mu", "na", "po", "ri", "sta", "tü", "wen", "xi")


class _Nearest(Embedder):
    """Its vectors mean nothing, and take what real ones take to compare."""

    async def embed(self, texts: Sequence[str], *, timeout_seconds: float = 60) -> tuple[list[bytes], int]:
        return [signs(random.Random(7).choices((-1, 1), k=_DIMENSIONS)) for _ in texts], 0


async def measured(folder: Path, passages: int) -> list[Figure]:
    """So many passages of one conversation; the median and the longest of 15 searches for three words."""
    clock, chance = SetClock(NOON), random.Random(7)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(20_000)]
    frequent = [1 / (place + 10) for place in range(len(words))]
    async with open_store(folder / "found.db", realm="signal") as store, Http("bench") as http:
        here = await store.conversation("direct:bench", now=clock.now())
        before = (folder / "found.db").stat().st_size
        turns: list[TurnId] = []

        def fill(repos: Repositories, first: int) -> None:
            vectors = dict[tuple[str, int], bytes]()
            for number in range(first, min(first + 500, passages)):
                turn = repos.turns.begin(here, now=clock.now() - timedelta(minutes=number))
                turns.append(turn)
                text = " ".join(chance.choices(words, frequent, k=200))[:_CHARACTERS]
                repos.passages.index(turn, pieces_of(text))
                vectors["passages", number + 1] = signs(chance.choices((-1, 1), k=_DIMENSIONS))
            repos.passages.keep_vectors("bench", vectors)

        began = time.monotonic()
        for first in range(0, passages, 500):
            await store.transaction(lambda repos, first=first: fill(repos, first))
        filled_seconds = time.monotonic() - began
        await store.checkpoint()
        size_bytes = (folder / "found.db").stat().st_size - before

        def keep(repos: Repositories) -> None:
            for turn in turns:  # of a turn without messages nothing is found
                repos.history.append(here, rows_of(turn, (UserMessage(text="Hm?"),)))

        await store.transaction(keep)
        context = ToolContext(now=NOON, timezone="UTC", chat="direct:bench")
        tool = Recall(store, clock, _Nearest(RecallOptions.model_construct(model="bench"), http))
        taken: list[float] = []
        for _ in range(15):
            query = " ".join(chance.choices(words, frequent, k=3))
            began = time.monotonic()
            result = await tool.run(RecallArguments(query=query), context)
            taken.append(1000 * (time.monotonic() - began))
            assert result.data["found"]
    return [
        Figure(name=f"recall in {passages:,} passages", value=statistics.median(taken), unit="ms", most=200),
        Figure(name="the longest of 15", value=max(taken), unit="ms", most=200),
        Figure(name="a passage on the disk", value=size_bytes / passages / 1000, unit="kB", most=1.5),
        Figure(name="to make one", value=1000 * filled_seconds / passages, unit="ms"),
    ]
