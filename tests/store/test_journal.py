"""The journal: the steps of a running turn, in order, there again after a restart, gone when it has ended."""

from pathlib import Path

import pytest

from store import ConversationId, Damaged, StepMissing, Store, TurnId, open_store
from tests.conftest import NOON


async def begun(store: Store, chat: str = "direct:a") -> tuple[ConversationId, TurnId]:
    """A running turn of the chat."""
    conversation = await store.conversation(chat, now=NOON)
    return conversation, await store.transaction(lambda repos: repos.turns.begin(conversation, now=NOON))


async def write(store: Store, conversation: ConversationId, turn: TurnId, position: int, step: bytes) -> None:
    await store.transaction(lambda repos: repos.journal.add(conversation, turn, position, step))


async def steps(store: Store, conversation: ConversationId, turn: TurnId) -> tuple[bytes, ...]:
    return await store.read(lambda repos: repos.journal.steps(conversation, turn))


async def test_steps_come_back_in_order(path: Path) -> None:
    """After a restart, too. None is written before the one that comes first: a gap would be written over."""
    async with open_store(path, realm="signal") as store:
        conversation, turn = await begun(store)
        for position in range(12):
            await write(store, conversation, turn, position, b"%d" % position)
        with pytest.raises(StepMissing):
            await write(store, conversation, turn, 13, b"13")
    async with open_store(path, realm="signal") as store:
        await write(store, conversation, turn, 12, b"12")
        assert await steps(store, conversation, turn) == tuple(b"%d" % position for position in range(13))


async def test_a_turn_that_nobody_claimed_has_no_journal(store: Store) -> None:
    """Steps of a turn that was taken back, forgotten, or never begun are not written."""
    conversation, turn = await begun(store)
    await write(store, conversation, TurnId(turn + 1), 0, b"step")
    await store.transaction(lambda repos: repos.journal.close(turn, "ignored", now=NOON))
    await write(store, conversation, turn, 0, b"step")
    assert await store.read(lambda repos: repos.journal.rows("SELECT count(*) FROM journal")) == [(0,)]


async def test_steps_that_were_moved_are_found_out(store: Store) -> None:
    """A step of another turn, or at another position, does not open: no tool answer can be put in another's place."""
    conversation, turn = await begun(store)
    _, other = await begun(store)
    await write(store, conversation, turn, 0, b"step")
    for statement, values in (
        ("UPDATE journal SET position = 1", ()),
        ("UPDATE journal SET position = 0, turn_id = ?", (other,)),
    ):
        await store.transaction(lambda repos, sql=statement, values=values: repos.journal.execute(sql, values))
        where = other if values else turn
        with pytest.raises(Damaged):
            await steps(store, conversation, where)
