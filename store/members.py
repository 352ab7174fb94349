"""Who is in a group, as the bridge last told: so that a receipt proves only what its author could receive, and what
somebody planned in a group does not come there once they have left.

Persons are kept as handles: whoever has the file alone learns of nobody. Whoever has left is remembered for a while,
for they received what went out before.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from store.records import ConversationId
from store.repository import Repository, millis, moment_if

MAX_MEMBERS = 5000
"""More are taken for an error of the bridge. Signal's groups have 1,000 members at most. Source: Signal Support,
"Group chats" (2026-11)."""

_PATIENCE = timedelta(seconds=5)
"""How long a send may be under way before its group is asked about: nearly all are answered sooner."""
_AHEAD = timedelta(minutes=1)
"""How long before something planned is due in a group it is asked who is in it: time for a bridge that answers late."""


class Members(Repository):
    """The repository of who is in which group. All methods run inside a transaction."""

    def keep(self, group: str, people: Collection[str], *, listed_at: datetime) -> bool:
        """Keep who is in the group at this address, by the addresses of their direct chats; gives whether it was kept.

        Not kept: nothing was ever written down of that group, or nobody or far too many are said to be in it.
        `listed_at` is a time before the bridge was asked.
        """
        rows = self.rows("SELECT id FROM conversations WHERE handle = ?", (self.chat_handle(group),))
        if not rows or not 0 < len(people) <= MAX_MEMBERS:
            return False
        conversation, at = rows[0][0], millis(listed_at)
        self.execute(
            "INSERT INTO rosters (conversation_id, listed_at) VALUES (?, ?) "
            "ON CONFLICT DO UPDATE SET listed_at = excluded.listed_at",
            (conversation, at),
        )
        found = self.rows("SELECT person FROM members WHERE conversation_id = ? AND left_at IS NULL", (conversation,))
        before, now = {person for (person,) in found}, {self.chat_handle(person) for person in people}
        self.execute_many(
            "UPDATE members SET left_at = ? WHERE conversation_id = ? AND person = ?",
            [(at, conversation, person) for person in before - now],
        )
        self.execute_many(
            "INSERT INTO members (conversation_id, person) VALUES (?, ?) ON CONFLICT DO UPDATE SET left_at = NULL",
            [(conversation, person) for person in now - before],
        )
        return True

    def want(self, conversation: ConversationId) -> None:
        """Something is planned in this group: it has to be known who is in it when that is due."""
        self.execute(
            "INSERT INTO rosters (conversation_id, listed_at) VALUES (?, 0) ON CONFLICT DO NOTHING", (conversation,)
        )
        self.notify("members")

    def has_left(self, group: str, person: str, *, since: datetime) -> bool:
        """Whether the last list of the group leaves out this person, who was in it then; addresses as for `keep`.

        False as well where no list came since: who is in the group is not known then.
        """
        return self.exists(
            "SELECT 1 FROM rosters JOIN conversations ON conversations.id = conversation_id "
            "WHERE handle = ?1 AND listed_at > ?2 AND NOT EXISTS (SELECT 1 FROM members "
            "WHERE members.conversation_id = rosters.conversation_id AND person = ?3 AND left_at IS NULL)",
            (self.chat_handle(group), millis(since), self.chat_handle(person)),
        )

    def wanted_at(self) -> datetime | None:
        """When the bridge should be asked who is in its groups; None: nothing depends on it by now.

        Something does where a receipt is kept that may mean a send to a group of which no list came since, and where
        something planned is about to be due.
        """
        wanted = [at for at in (self._wanted_by_receipts(), self._wanted_by_reminders()) if at is not None]
        return min(wanted, default=None)

    def _wanted_by_reminders(self) -> datetime | None:
        return moment_if(
            self.value(
                "SELECT min(due_at) - ?1 FROM reminders JOIN rosters USING (conversation_id) "
                "JOIN conversations ON conversations.id = conversation_id "
                "WHERE settled_at IS NULL AND realm = ?2 AND listed_at < due_at - ?1",
                (_AHEAD // timedelta(milliseconds=1), self.realm),
            )
        )

    def _wanted_by_receipts(self) -> datetime | None:
        return moment_if(
            self.value(
                "SELECT min(begun_at + CASE WHEN state = 'sending' THEN ?1 ELSE 0 END) "
                "FROM outbox JOIN conversations ON conversations.id = outbox.conversation_id "
                "JOIN attempts ON outbox_id = outbox.id LEFT JOIN rosters USING (conversation_id) "
                "WHERE (settled_at IS NULL OR open_until >= (SELECT max(target + ahead_ms) FROM receipts)) "
                "AND in_group AND realm = ?2 AND attempts.sent_at IS NULL "
                "AND coalesce(listed_at, -1) < (SELECT max(target + ahead_ms) FROM receipts)",
                (int(_PATIENCE.total_seconds() * 1000), self.realm),
            )
        )

    def listed_at(self) -> datetime | None:
        """When the bridge last told who is in its groups; None: it never did."""
        return moment_if(self.value("SELECT max(listed_at) FROM rosters WHERE listed_at > 0"))

    def prune(self, *, before: datetime) -> None:
        """Deletes members who had left a group before then."""
        self.execute("DELETE FROM members WHERE left_at < ?", (millis(before),))
