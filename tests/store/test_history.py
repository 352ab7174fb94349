"""The history: whole turns in order, of one conversation; loading the last ones costs the same whatever there is."""

from collections.abc import Sequence

import pytest

from store import ConversationId, Repositories, Role, Store, StoredMessage, TurnEnd, TurnId
from tests.conftest import NOON

CALLED: tuple[tuple[Role, str | None], ...] = (
    ("user", None),
    ("assistant", None),
    ("tool", "call-1"),
    ("tool", "call-2"),
    ("assistant", None),
)
"""The roles and call ids of a turn with two tool calls."""
PLAIN: tuple[tuple[Role, str | None], ...] = (("user", None), ("assistant", None))


def say(
    repos: Repositories,
    conversation: ConversationId,
    words: str,
    shape: Sequence[tuple[Role, str | None]] = PLAIN,
    end: TurnEnd = "kept",
) -> TurnId:
    """One turn to its end; its messages are `words 0`, `words 1` ..."""
    turn = repos.turns.begin(conversation, now=NOON)
    messages = [
        StoredMessage(turn=turn, role=role, call_id=call_id, message=f"{words} {number}".encode())
        for number, (role, call_id) in enumerate(shape)
    ]
    if end == "kept":
        repos.history.append(conversation, messages)
    repos.journal.close(turn, end, now=NOON)
    return turn


async def last(store: Store, conversation: ConversationId, turns: int) -> tuple[StoredMessage, ...]:
    return await store.read(lambda repos: repos.history.last(conversation, turns))


async def words(store: Store, conversation: ConversationId, turns: int) -> list[str]:
    return [message.message.decode() for message in await last(store, conversation, turns)]


@pytest.fixture
async def conversation(store: Store) -> ConversationId:
    """A conversation without a turn."""
    return await store.conversation("direct:a", now=NOON)


async def test_the_last_turns_are_whole_and_oldest_first(store: Store, conversation: ConversationId) -> None:
    """The window counts kept turns of this conversation, not messages: however long a turn is, all of it comes."""
    other = await store.conversation("group:G", now=NOON)
    turns: list[tuple[str, Sequence[tuple[Role, str | None]], TurnEnd]] = [
        *(("one", PLAIN, "kept"), ("gone", PLAIN, "failed"), ("two", CALLED, "kept"), ("gone", PLAIN, "ignored")),
        ("three", PLAIN, "kept"),
    ]

    def live(repos: Repositories) -> None:
        for name, shape, end in turns:
            say(repos, conversation, name, shape, end)
            say(repos, other, "theirs")
        repos.turns.begin(conversation, now=NOON)

    await store.transaction(live)
    one, three = ["one 0", "one 1"], ["three 0", "three 1"]
    two = [f"two {number}" for number in range(5)]
    for count, wanted in ((0, []), (1, three), (2, two + three), (3, one + two + three), (1000, one + two + three)):
        assert await words(store, conversation, count) == wanted
    assert await words(store, other, 2) == ["theirs 0", "theirs 1"] * 2


async def test_rows_that_were_exchanged_are_found_out(
    store: Store, conversation: ConversationId, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever can write to the file cannot change who said what: their turn is as good as gone, and no other."""
    await store.transaction(lambda repos: say(repos, conversation, "asked"))

    def exchange(repos: Repositories) -> None:
        [(answer,)] = repos.history.rows("SELECT message FROM history WHERE turn_id = 1 AND position = 1")
        repos.history.execute("UPDATE history SET message = ? WHERE turn_id = 1 AND position = 0", (answer,))

    await store.transaction(lambda repos: say(repos, conversation, "whole"))
    await store.transaction(exchange)
    assert await words(store, conversation, 9) == ["whole 0", "whole 1"]
    assert [record.getMessage() for record in caplog.records] == [
        "turn 1 of conversation 1 is lost: a sealed value at history.message|1|0 is not what was written there"
    ]
