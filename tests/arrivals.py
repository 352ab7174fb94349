"""Envelopes on their way into the inbox, for tests to which only some of what they are matters."""

from typing import Any

from store import Arrival, ConversationId, InboxId, Store
from tests.conftest import NOON


def arrival(conversation: ConversationId, sent_at: int = 1, envelope: bytes = b"{}", **more: Any) -> Arrival:
    """A message that Alice has sent, but for what is named."""
    usual: dict[str, Any] = {"account": "+15550100001", "author": "alice", "device": 1, "kind": "message"}
    values = {**usual, "received_at": NOON, **more}
    return Arrival(conversation=conversation, sent_at=sent_at, envelope=envelope, **values)


async def arrive(
    store: Store, chat: str = "direct:alice", sent_at: int = 1, envelope: bytes = b"{}", **more: Any
) -> InboxId | None:
    came = arrival(await store.conversation(chat, now=NOON), sent_at, envelope, **more)
    return await store.transaction(lambda repos: repos.inbox.put(came))
