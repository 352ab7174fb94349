"""What Aldis keeps. The front door: `bot` imports from here, only `bot.app` reaches inside.

The store knows rows and time, not meaning: contents are bytes, sealed with a key for each conversation.
"""

from store.backup import NOT_INCLUDED, copy_closed, is_undecided, restore, steps_of
from store.chats import LastQuestion
from store.erasure import Erasure
from store.errors import (
    UNDECIDED,
    Damaged,
    DatabaseGone,
    KeyGiven,
    SchemaTooNew,
    StoreError,
    StoreFull,
    StoreInUse,
    Undecided,
    WrongKey,
)
from store.feeds import MAX_FEEDS, Article, Feed, FoundArticle
from store.grants import Grant
from store.guard import Tampering
from store.ledger import Scope, SpentUsage, Total
from store.memories import Fact
from store.people import Approval, NewIdentity, Pin
from store.predictions import PredictionRow
from store.records import (
    Arrival,
    Claim,
    ConversationId,
    InboxId,
    InboxItem,
    KeptTime,
    KnownMessage,
    LedgerEntry,
    OutboxId,
    OutboxItem,
    Role,
    SentMessage,
    Spending,
    StoredMessage,
    TurnEnd,
    TurnId,
    TurnState,
    UrgentItem,
    Waiting,
)
from store.reminders import Reminder
from store.restored import Restoration
from store.store import Repositories, Store, open_store
from store.summaries import Summary
from store.traces import Trace, TracedMessage, TracedReply

__all__ = [
    "MAX_FEEDS",
    "NOT_INCLUDED",
    "UNDECIDED",
    "Approval",
    "Arrival",
    "Article",
    "Claim",
    "ConversationId",
    "Damaged",
    "DatabaseGone",
    "Erasure",
    "Fact",
    "Feed",
    "FoundArticle",
    "Grant",
    "InboxId",
    "InboxItem",
    "KeptTime",
    "KeyGiven",
    "KnownMessage",
    "LastQuestion",
    "LedgerEntry",
    "NewIdentity",
    "OutboxId",
    "OutboxItem",
    "Pin",
    "PredictionRow",
    "Reminder",
    "Repositories",
    "Restoration",
    "Role",
    "SchemaTooNew",
    "Scope",
    "SentMessage",
    "Spending",
    "SpentUsage",
    "Store",
    "StoreError",
    "StoreFull",
    "StoreInUse",
    "StoredMessage",
    "Summary",
    "Tampering",
    "Total",
    "Trace",
    "TracedMessage",
    "TracedReply",
    "TurnEnd",
    "TurnId",
    "TurnState",
    "Undecided",
    "UrgentItem",
    "Waiting",
    "WrongKey",
    "copy_closed",
    "is_undecided",
    "open_store",
    "restore",
    "steps_of",
]
