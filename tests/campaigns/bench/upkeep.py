"""The longest steps of the store: operations on all of it or on a long conversation, and how long others wait
meanwhile.

The store has a given number of messages, a question and its answer per turn: half in one conversation, the others in
fifty. Beside each operation an empty read is repeated; the longest of these reads is how long a turn would have waited.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

from bot import messages
from bot.events import ChatId, PersonId
from bot.features.export import gather_export
from bot.messages import AssistantMessage, Text, UserMessage
from store import Arrival, ConversationId, InboxId, Repositories, Store, open_store
from tests.arrivals import arrival
from tests.campaigns.bench.figures import Figure
from tests.conftest import NOON
from tests.store.lives import answered, taken

MESSAGES = 20_000
MAX_WAIT_MS = 250.0
"""How long a turn may wait for the store before people would notice."""

_OTHERS = 50
_AT_ONCE = 200
_KEPT = timedelta(days=45)
_ALICE = PersonId("alice")
_LONG = "direct:alice"
_ANSWER = (
    "People like it because it is easy to say and to remember, and because it stands close to a round number without "
    "being one. In lists it marks a beginning: the first thousand is over, and something new is counted."
)


async def measured(folder: Path, size: int = MESSAGES) -> list[Figure]:
    """Each deed on a store with so many messages: how long it takes in all, and the longest wait beside it."""
    sys.stderr.write(f"the longest steps of a store with {size} messages\n")
    found: list[Figure] = []
    async with open_store(folder / "aldis.db", realm="signal") as store:
        last = await _fill(store, size // 2)
        deeds: dict[str, Callable[[], Awaitable[object]]] = {
            "backup": lambda: store.backup(folder / "backup", now=NOON),
            "export of a person": lambda: gather_export(store, _ALICE, ChatId(_LONG), now=NOON),
            "forgetting a conversation": lambda: store.forget(_LONG, before=last, now=NOON, then=lambda *_: None),
            "pruning": lambda: _prune(store),
            "folding the log away": store.checkpoint,
        }
        for name, deed in deeds.items():
            took, wait = await _beside(store, deed)
            found += [
                Figure(name=f"{name}, {size} messages", value=took, unit="s"),
                Figure(name=f"longest wait beside it ({name})", value=1000 * wait, unit="ms", most=MAX_WAIT_MS),
            ]
    return found


async def _beside(store: Store, deed: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    longest = 0.0

    async def read() -> None:
        nonlocal longest
        while True:
            asked_at = time.perf_counter()
            try:
                await store.read(lambda _: None)
            finally:  # also of the one under way when the deed ends
                longest = max(longest, time.perf_counter() - asked_at)

    reading = asyncio.create_task(read())
    began_at = time.perf_counter()
    await deed()
    took = time.perf_counter() - began_at
    reading.cancel()
    await asyncio.wait([reading])
    return took, longest


async def _fill(store: Store, turns: int) -> InboxId:
    """So many turns, every second one in the long conversation; gives the name of a message that came after all."""
    addresses = [_LONG if turn % 2 == 0 else f"direct:person {turn % _OTHERS}" for turn in range(turns)]
    for first in range(0, turns, _AT_ONCE):
        batch = [(turn, addresses[turn]) for turn in range(first, min(first + _AT_ONCE, turns))]
        for _, address in batch:
            await store.conversation(address, now=NOON)
        await store.transaction(partial(_keep, batch=batch))
    conversation = await store.conversation(_LONG, now=NOON)
    last = await store.transaction(lambda repos: repos.inbox.put(_arrival(conversation, _LONG, turns)))
    assert last is not None
    return last


def _keep(repos: Repositories, batch: list[tuple[int, str]]) -> None:
    """A turn for each, as it is when it has been answered: nothing waits any more."""
    for number, address in batch:
        repos.inbox.put(_arrival(repos.conversations.add(address, now=NOON), address, number))
        conversation, turn = taken(repos)
        question = messages.dump_messages((UserMessage(text=f"And why is {number} a number that people like?"),))
        answer = messages.dump_messages((AssistantMessage(parts=(Text(text=_ANSWER),)),))
        answered(repos, conversation, turn, question, answer)
        for item, _ in repos.outbox.of_turn(turn):
            repos.outbox.mark_sent(item, 2_000_000_000_000 + number, now=NOON)


def _arrival(conversation: ConversationId, address: str, number: int) -> Arrival:
    sent_at, author = 1_795_000_000_000 + number, address.removeprefix("direct:")
    return arrival(conversation, sent_at, b"a question of the usual length, more or less", author=author)


async def _prune(store: Store) -> None:
    """What maintenance does with names that are too old to come again: all of them at once here."""
    before = NOON + _KEPT

    def prune(repos: Repositories) -> bool:
        repos.inbox.prune(before=before)
        repos.outbox.prune(before=before)
        return repos.inbox.exists("SELECT 1 FROM inbox WHERE state = 'done' UNION ALL SELECT 1 FROM outbox")

    while await store.transaction(prune):
        pass
