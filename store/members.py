"""The members of groups, as the bridge last listed them.

A receipt only proves what its author could receive, and a reminder does not come to a group that its person has left.
People are kept as handles, so the file alone names nobody. Former members are kept for a while, as they received what
went out before.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from store.records import ConversationId
from store.repository import Repository, millis, moment_if

MAX_MEMBERS = 5000
"""The most members to accept; more must be an error of the bridge.

Signal's groups have at most 1,000. Source: Signal Support, "Group chats" (2026-11)."""

_PATIENCE = timedelta(seconds=5)
"""How long a send may take before the members of its group are wanted; nearly all are answered sooner."""
_AHEAD = timedelta(minutes=1)
"""How long before a reminder in a group the members are wanted, to leave time for a slow bridge."""


class Members(Repository):
    """The repository of group members. All methods run inside a transaction."""

    def keep(self, group: str, people: Collection[str], *, listed_at: datetime) -> bool:
        """Keeps the members of the group at this address, given by the addresses of their direct chats.

        `listed_at` is a time before the bridge was asked. Returns False, and keeps nothing, if the group has no
        conversation or the list is empty or far too long.
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

    def leave(self, groups: Collection[str], *, listed_at: datetime) -> None:
        """Notes that Aldis itself is no longer in the groups at these addresses: it reaches nobody there.

        `listed_at` is as for `keep`.
        """
        gone = [(millis(listed_at), self.chat_handle(group)) for group in groups]
        there = "WHERE conversation_id = (SELECT id FROM conversations WHERE handle = ?)"
        self.execute_many(f"UPDATE rosters SET listed_at = ? {there}", gone)  # noqa: S608  (our own words)
        self.execute_many(f"UPDATE members SET left_at = ? {there} AND left_at IS NULL", gone)  # noqa: S608

    def want(self, conversation: ConversationId) -> None:
        """Notes that the members of this group will be needed, as something is planned there."""
        self.execute(
            "INSERT INTO rosters (conversation_id, listed_at) VALUES (?, 0) ON CONFLICT DO NOTHING", (conversation,)
        )
        self.notify("members")

    def has_left(self, group: str, person: str, *, since: datetime) -> bool:
        """Whether the group's last list, newer than `since`, leaves out this person. Addresses are as for `keep`.

        False also if there is no newer list, so that the members are not known.
        """
        return self.exists(
            "SELECT 1 FROM rosters JOIN conversations ON conversations.id = conversation_id "
            "WHERE handle = ?1 AND listed_at > ?2 AND NOT EXISTS (SELECT 1 FROM members "
            "WHERE members.conversation_id = rosters.conversation_id AND person = ?3 AND left_at IS NULL)",
            (self.chat_handle(group), millis(since), self.chat_handle(person)),
        )

    def wanted_at(self) -> datetime | None:
        """Returns when the bridge should be asked for the members of groups; None: nothing needs them now.

        They are needed for a kept receipt that may mean a send to a group without a newer list, and for a reminder that
        is about to be due.
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
        """Returns when the bridge last listed the members of groups; None: never."""
        return moment_if(self.value("SELECT max(listed_at) FROM rosters WHERE listed_at > 0"))

    def prune(self, *, before: datetime) -> None:
        """Deletes members who left before `before`."""
        self.execute("DELETE FROM members WHERE left_at < ?", (millis(before),))
