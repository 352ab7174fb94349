"""One story from its beginning until the world is quiet: lives of Aldis, one after the other, over one disk."""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from bot.chat.context import turns_of
from bot.chat.journal import PastTurn
from bot.chat.steps import Asked, Completed, ToolRun, load_step
from store import ConversationId, Repositories, Store, TurnId
from tests.campaigns.simulation import app, disk, timeline
from tests.campaigns.simulation.crashes import Life, Steps
from tests.campaigns.simulation.disk import Disk
from tests.campaigns.simulation.network import Network
from tests.campaigns.simulation.record import Inheritance, Record
from tests.campaigns.simulation.scenario import Scenario, words_in

End = Literal["killed", "stopped", "quiet"]

_LOOK_SECONDS = 5.0
_MAX_SECONDS = 4 * 3600.0
"""Longer than all pauses, grace periods and downtimes of a story together."""
_ROUNDS_OF_DYING = 1000
_EXPECTED_ERRORS = ("undeliverable", "giving up", "given up")


@dataclass(frozen=True, kw_only=True)
class StoreContents:
    """What is in the store at the end; rows in the order of their ids."""

    inbox: list[tuple[int, str, int | None]]
    outbox: list[tuple[int, int, str, int | None, int]]
    """Conversation, turn, state, the timestamp under which it was sent, and how often that was tried."""
    turns: list[tuple[int, int, str]]
    journaled_turns: set[int]
    remembered_turns: set[int]
    paid_calls: Counter[int]
    """How many finished model calls the ledger has for each turn."""
    resent: set[int]
    """The turns in whose ledger a repetition is noted."""
    complaints: tuple[Any, ...]
    history: dict[int, tuple[PastTurn, ...]]
    """Conversations by the numbers of the scenario, in whole turns."""
    conversations: dict[int, int]
    """The id in the store of each conversation of the scenario that is there."""
    files: bytes


@dataclass(frozen=True, kw_only=True)
class Played:
    scenario: Scenario
    steps: Steps
    record: Record
    store: StoreContents


def played(scenario: Scenario, deadly: Collection[int] = ()) -> Played:
    with disk.folder() as place, _seeded(scenario.seed):
        return timeline.run(_told(scenario, Steps(deadly), Path(place)))


async def _told(scenario: Scenario, steps: Steps, place: Path) -> Played:
    return await _World(scenario, steps, place).played()


class _World:
    def __init__(self, scenario: Scenario, steps: Steps, place: Path) -> None:
        self._scenario = scenario
        self._steps = steps
        self._record = Record()
        self._disk = Disk(place, partial(scenario.chance("commits").choice, (0.001, 0.004, 0.02)))
        self._network = Network(scenario, steps, self._record, self._disk)
        self._downtimes = iter(scenario.down_seconds)
        self._stops = list(scenario.stops_at_seconds)
        self._contents: StoreContents | None = None
        self._died_at_seconds: float | None = None
        """When the life before was killed; None where it was stopped."""

    async def played(self) -> Played:
        await self._disk.prepare()
        with _errors_on(self._record):
            while (end := await self._life()) != "quiet":
                self._record.kills += end == "killed"
                await asyncio.sleep(next(self._downtimes, self._scenario.down_seconds[-1]))
        assert self._contents is not None
        return Played(scenario=self._scenario, steps=self._steps, record=self._record, store=self._contents)

    async def _life(self) -> End:
        life = Life(len(self._record.lives) + 1, self._steps)
        self._steps.note(f"life {life.number} begins")
        self._record.lives.append(life.started_at)
        living = asyncio.create_task(self._lived(life))
        dying = asyncio.create_task(life.died.wait())
        await asyncio.wait((living, dying), return_when=asyncio.FIRST_COMPLETED)
        if life.is_over:
            await self._bury(living)
            return "killed"
        dying.cancel()
        return await living

    async def _lived(self, life: Life) -> End:
        async with self._disk.opened(life) as store:
            if self._died_at_seconds is not None:
                self._network.give_back(self._died_at_seconds)
            self._died_at_seconds = None
            self._record.inheritances[life.number] = await store.read(_inheritance)
            stop = asyncio.Event()
            aldis = await app.assembled(store, self._network, life)
            async with asyncio.TaskGroup() as group:
                group.create_task(aldis._loop(aldis.intake.run, stop, asyncio.Event()))
                end = await self._time_to_stop()
                stop.set()
            if end == "quiet":
                self._contents = await self._found(store)
            return end

    async def _time_to_stop(self) -> End:
        """When all is quiet, or the operator wants Aldis to stop."""
        loop = asyncio.get_running_loop()
        while True:
            if self._stops and self._stops[0] <= loop.time():
                self._stops.pop(0)
                return "stopped"
            if loop.time() > _MAX_SECONDS:
                self._record.troubles.append("the world never becomes quiet")
                return "quiet"
            if self._network.is_quiet and not self._is_busy():
                return "quiet"
            await asyncio.sleep(_LOOK_SECONDS)

    def _is_busy(self) -> bool:
        return bool(
            self._disk.rows(
                "SELECT 1 FROM inbox WHERE state IN ('waiting', 'claimed') UNION ALL "
                "SELECT 1 FROM outbox WHERE state IN ('waiting', 'sending', 'unknown') LIMIT 1"
            )
        )

    async def _bury(self, living: asyncio.Task[End]) -> None:
        """Nothing of the dead moves any more, and nothing of it is left."""
        at = asyncio.get_running_loop().time()
        self._disk.crash()
        for _ in range(_ROUNDS_OF_DYING):
            if not (tasks := asyncio.all_tasks() - {asyncio.current_task()}):
                break
            for task in tasks:
                task.cancel()
            await asyncio.sleep(0)
        with suppress(asyncio.CancelledError):
            living.exception()
        self._died_at_seconds = at
        await self._disk.bury()
        assert asyncio.get_running_loop().time() == at

    async def _found(self, store: Store) -> StoreContents:
        ids = await store.read(self._ids)
        history = {
            number: await store.read(lambda repos, id_=id_: _history(repos, ConversationId(id_)))
            for number, id_ in ids.items()
        }
        rows = self._disk.rows
        return StoreContents(
            inbox=rows("SELECT sent_at, state, turn_id FROM inbox ORDER BY id"),
            outbox=rows("SELECT conversation_id, turn_id, state, sent_at, attempts FROM outbox ORDER BY id"),
            turns=rows("SELECT conversation_id, id, state FROM turns ORDER BY id"),
            journaled_turns={turn for (turn,) in rows("SELECT turn_id FROM journal")},
            remembered_turns={turn for (turn,) in rows("SELECT DISTINCT turn_id FROM history")},
            paid_calls=Counter(
                turn
                for (turn,) in rows("SELECT turn_id FROM ledger WHERE kind = 'model' AND outcome IN ('ok', 'empty')")
            ),
            resent={turn for (turn,) in rows("SELECT turn_id FROM ledger WHERE outcome = 'resent'")},
            complaints=tuple(row for row in rows("PRAGMA integrity_check") if row != ("ok",)),
            history=history,
            conversations=ids,
            files=b"".join(disk.contents(self._disk.folder).values()),
        )

    def _ids(self, repos: Repositories) -> dict[int, int]:
        by_handle = dict(self._disk.rows("SELECT handle, id FROM conversations"))
        handles = {chat.number: repos.conversations.chat_handle(chat.address) for chat in self._scenario.chats}
        return {number: by_handle[handle] for number, handle in handles.items() if handle in by_handle}


def _inheritance(repos: Repositories) -> Inheritance:
    """What the store says to be finished, at the beginning of a life."""
    rows = repos.inbox.rows
    completions: set[tuple[tuple[int, ...], int]] = set()
    notes: set[str] = set()
    for turn, conversation in rows("SELECT id, conversation_id FROM turns WHERE state = 'running'"):
        lines = repos.journal.steps(ConversationId(conversation), TurnId(turn))
        written = [load_step(line) for line in lines]
        asked = next((step.question.text for step in written if isinstance(step, Asked)), "")
        question = tuple(number for _, number in words_in(asked))
        finished = sum(isinstance(step, Completed) for step in written)
        completions |= {(question, position) for position in range(finished)}
        notes |= {str(step.arguments["note"]) for step in written if isinstance(step, ToolRun)}
    settled = frozenset(row[0] for row in rows("SELECT sent_at FROM inbox WHERE state IN ('done', 'dead')"))
    return Inheritance(completions=frozenset(completions), notes=frozenset(notes), settled=settled)


def _history(repos: Repositories, conversation: ConversationId) -> tuple[PastTurn, ...]:
    return tuple(past.messages for past in turns_of(repos.history.last(conversation, 10_000)))


@contextmanager
def _seeded(seed: int) -> Generator[None]:
    """The loops' own dice fall the same way in every run."""
    state = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(state)


class _Errors(logging.Handler):
    def __init__(self, record: Record) -> None:
        super().__init__(logging.ERROR)
        self._record = record

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if not any(expected in text for expected in _EXPECTED_ERRORS):
            self._record.troubles.append(f"an error in the log: {text}")


@contextmanager
def _errors_on(record: Record) -> Generator[None]:
    """Put the errors that Aldis logs on the record, and drop its other lines."""
    loggers = [logging.getLogger(name) for name in ("bot", "store", "tools", "asyncio")]
    handler, before = _Errors(record), [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.ERROR)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, (level, propagate) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagate
