"""What Aldis keeps. The front door: `bot` imports from here, only `bot.app` reaches inside.

The store knows rows and time, not meaning: contents are bytes, sealed with a key for each conversation.
"""

from store.errors import Damaged, SchemaTooNew, StoreError, StoreFull, StoreInUse, WrongKey
from store.records import (
    Arrival,
    Claim,
    ConversationId,
    Entry,
    InboxId,
    InboxItem,
    OutboxId,
    OutboxItem,
    Role,
    Spending,
    StoredMessage,
    TurnEnd,
    TurnId,
    Waiting,
)
from store.store import Shelves, Store, opened

__all__ = [
    "Arrival",
    "Claim",
    "ConversationId",
    "Damaged",
    "Entry",
    "InboxId",
    "InboxItem",
    "OutboxId",
    "OutboxItem",
    "Role",
    "SchemaTooNew",
    "Shelves",
    "Spending",
    "Store",
    "StoreError",
    "StoreFull",
    "StoreInUse",
    "StoredMessage",
    "TurnEnd",
    "TurnId",
    "Waiting",
    "WrongKey",
    "opened",
]
