"""The conversations: one for an address and a realm, found again, each with a key of its own."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from store import ConversationId, Damaged, Repositories, Store, open_store
from store.repository import millis
from tests.arrivals import arrival
from tests.conftest import NOON

LATER = NOON + timedelta(days=1)


class Oops(Exception):
    """What a unit of work raises by itself."""


def begun(address: str) -> Callable[[Repositories], ConversationId]:
    return lambda repos: repos.conversations.add(address, now=NOON)


async def test_an_address_has_one_conversation_in_each_realm(path: Path) -> None:
    """It is begun once; later the same one is found. The terminal's of a name is not Signal's."""
    found: dict[str, ConversationId] = {}
    for realm in ("signal", "terminal", "signal", "terminal"):
        async with open_store(path, realm=realm) as store:
            conversation = await store.conversation("direct:a", now=LATER if realm in found else NOON)
            assert found.setdefault(realm, conversation) == conversation
            assert await store.transaction(begun("direct:a")) == conversation
            rows = await store.read(lambda repos: repos.conversations.rows("SELECT id, created_at FROM conversations"))
    assert rows == [(found[realm], millis(NOON)) for realm in ("signal", "terminal")]


async def test_its_key_exists_before_its_row(store: Store) -> None:
    """A row without a key could never be read; a key without a row does no harm."""
    await store.transaction(lambda repos: repos.conversations.key("direct:a"))
    conversation = await store.transaction(begun("direct:a"))
    assert await store.transaction(lambda repos: repos.inbox.put(arrival(conversation))) is not None
    keyless = await store.transaction(begun("direct:b"))
    with pytest.raises(Damaged, match="no data key"):
        await store.transaction(lambda repos: repos.inbox.put(arrival(keyless)))


async def test_a_conversation_whose_beginning_failed_leaves_nothing_to_the_next(path: Path) -> None:
    """The next one may get the same id: it is sealed with its own key, and opens after a restart."""
    async with open_store(path, realm="signal") as store:
        for address in ("direct:a", "direct:b"):
            await store.transaction(lambda repos, address=address: repos.conversations.key(address))

        def failing(repos: Repositories) -> None:
            repos.inbox.put(arrival(repos.conversations.add("direct:a", now=NOON)))
            raise Oops

        with pytest.raises(Oops):
            await store.transaction(failing)
        conversation = await store.transaction(begun("direct:b"))
        await store.transaction(lambda repos: repos.inbox.put(arrival(conversation, envelope=b"of b")))
    async with open_store(path, realm="signal") as store:
        claim = await store.transaction(lambda repos: repos.inbox.claim(now=NOON, until=LATER, busy=()))
        assert claim is not None
        assert [item.envelope for item in claim.items] == [b"of b"]
