"""People: who was let in, whose a listed number is, whose safety number has changed. Beside them the accounts of Aldis,
and what was allowed for good, or noticed.

People are kept as handles, so the file alone names no one. Rows are sealed, each bound to its handle: one that Aldis
has not written counts as missing, and forbids what a missing row would allow.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from store.records import ConversationId
from store.repository import ACCOUNT_NAME, Repository, account_place, millis, moment

_Table = Literal["people", "pins", "identities"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Approval:
    """A person who was let in, and the admin who did it, both by the labels of lists and commands."""

    label: str
    at: datetime
    by: str


class People(Repository):
    """People by their handles. `account` is the account of Aldis.

    An account is known by its id whatever happens to its phone number. In handles it goes by its name here
    (`Repository.account_name`): the id, or the number if the file knew the account by that first. Messages, access and
    compared keys thus stay with the account.
    """

    def allow(self, person: str, *, account: str, by: str, now: datetime) -> None:
        """Lets a person in on behalf of the admin `by`. Repeating it keeps the first time."""
        guest = self._guest(account, person)
        if not self._row("people", guest):
            self._put("people", guest, millis(now), self._guest(account, by).hex())

    def deny(self, label: str) -> bool:
        """Revokes access by the label of an `Approval`; returns whether there was one."""
        return self.execute("DELETE FROM people WHERE hex(substr(handle, 1, 4)) = upper(?)", (label,)).rowcount > 0

    def is_allowed(self, person: str, *, account: str) -> bool:
        """Whether the person was let in for this account."""
        return bool(self._row("people", self._guest(account, person)))

    def approvals(self) -> tuple[Approval, ...]:
        """Returns everybody who was let in, the earliest first."""
        rows = sorted((row[0], handle, row[1]) for handle, row in self._rows("people") if row)
        return tuple(Approval(label=_label(person), at=moment(at), by=by[:8]) for at, person, by in rows)

    def label(self, person: str, *, account: str) -> str:
        """Returns the label of this person in lists and commands: eight hexadecimal digits."""
        return _label(self._guest(account, person))

    def pin(self, number: str, person: str, *, now: datetime, is_confirmed: bool = False) -> bool:
        """Whether a listed number is this person's, who used it first or is confirmed. A forged row is no one's."""
        handle, theirs = self.keyring.handle(number), self.keyring.handle(person).hex()
        row = self._row("pins", handle)
        if row is None or (is_confirmed and row[:1] != [theirs]):
            self._put("pins", handle, theirs, millis(now))
            return True
        return row[:1] == [theirs]

    def number_of(self, person: str, numbers: Collection[str]) -> str | None:
        """Returns which of these numbers is pinned to the person, who may have hidden or changed it since."""
        theirs = self.keyring.handle(person).hex()
        rows = ((number, self._row("pins", self.keyring.handle(number))) for number in sorted(numbers))
        return next((number for number, row in rows if row and row[0] == theirs), None)

    def suspect(self, person: str, key: str, *, account: str, now: datetime) -> None:
        """Records that the person has a new, untrusted key. If that is recorded already, its time stays."""
        guest, newest = self._guest(account, person), self.keyring.handle(key).hex()
        former, noticed_at, is_open, *_ = self._row("identities", guest) or (None, 0, 0)
        self._put("identities", guest, newest, noticed_at if former == newest and is_open else millis(now), 1)

    def new_identities(self) -> dict[str, datetime]:
        """Returns whose safety number is new and not trusted, or whose row is forged, since when, the first first."""
        rows = ((row[1] if row else 0, handle) for handle, row in self._rows("identities") if not row or row[2])
        return {_label(person): moment(at) for at, person in sorted(rows)}

    def trust(self, label: str) -> None:
        """Trusts the key of the person with this label."""
        for handle, row in self._rows("identities"):
            if _label(handle) == label and row:
                self._put("identities", handle, *row[:2], 0)
            elif _label(handle) == label:
                self.execute("DELETE FROM identities WHERE handle = ?", (handle,))

    def prune(self, *, before: datetime) -> None:
        """Deletes trusted keys noticed before `before`."""
        gone = [(handle,) for handle, row in self._rows("identities") if row and row[1] < millis(before) and not row[2]]
        self.execute_many("DELETE FROM identities WHERE handle = ?", gone)

    def meet(self, account: str, *, number: str | None) -> None:
        """Records an account of Aldis; `account` is its id, or its number while the id is unknown."""
        if account == number:
            return
        id_ = self.keyring.handle(account)
        called = None if number is None else self.keyring.handle(number)
        names = self.column(f"SELECT {ACCOUNT_NAME} FROM accounts WHERE realm = ?", (self.realm,))  # noqa: S608
        was_called = self.exists("SELECT 1 FROM inbox WHERE account = ? LIMIT 1", (called,)) or (
            # While no account is known by its id, all people belong to this one.
            not names and self.exists("SELECT 1 FROM people UNION ALL SELECT 1 FROM identities LIMIT 1")
        )
        name = account if number is None or not was_called or number.encode() in names else number
        self.execute(
            "UPDATE accounts SET number = NULL WHERE realm = ? AND number = ? AND id <> ?", (self.realm, called, id_)
        )
        self.execute(
            "INSERT INTO accounts (realm, id, number, name) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (realm, id) DO UPDATE SET number = excluded.number",
            (self.realm, id_, called, self.keyring.seal(None, account_place(id_), name.encode())),
        )

    def _row(self, table: _Table, handle: bytes) -> list[Any] | None:
        """Returns the values of a row, none if Aldis has not written it; None: there is no row."""
        sealed = self.value(f"SELECT sealed FROM {table} WHERE handle = ?", (handle,))  # noqa: S608  (our own names)
        return None if sealed is None else self.keyring.open_row(table, (handle,), sealed)

    def _rows(self, table: _Table) -> list[tuple[bytes, list[Any]]]:
        rows = self.rows(f"SELECT handle, sealed FROM {table}")  # noqa: S608  (our own names)
        return [(handle, self.keyring.open_row(table, (handle,), sealed)) for handle, sealed in rows]

    def _put(self, table: _Table, handle: bytes, *values: object) -> None:
        self.put_row(table, handle=handle, sealed=self.keyring.seal_row(table, (handle,), values))

    def _guest(self, account: str, person: str) -> bytes:
        """Returns a handle for a person and an account: access to one account is no access to another."""
        return self.keyring.handle(f"{self.realm}|{self.account_name(account)}|{person}")


def _label(handle: bytes) -> str:
    return handle.hex()[:8]


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """A tool that a person has allowed, in the shape that it had at that time."""

    tool: str
    shape: str
    at: datetime


class Grants(Repository):
    """Tools that a person has allowed for good, in one conversation and for their own questions there."""

    def allow(self, conversation: ConversationId, person: str, *, tool: str, shape: str, now: datetime) -> None:
        """Allows a tool in its present shape."""
        key = (conversation, self.keyring.handle(person), tool)
        sealed = self.keyring.seal_row("grants", key, (shape, millis(now)))
        self.put_row("grants", conversation_id=conversation, person=key[1], tool=tool, sealed=sealed)

    def revoke(self, conversation: ConversationId, person: str, tool: str) -> bool:
        """Revokes a grant; returns whether there was one."""
        found = self.execute(
            "DELETE FROM grants WHERE conversation_id = ? AND person = ? AND tool = ?",
            (conversation, self.keyring.handle(person), tool),
        )
        return found.rowcount > 0

    def of(self, conversation: ConversationId, person: str) -> tuple[Grant, ...]:
        """Returns the grants of this person there, by name."""
        handle = self.keyring.handle(person)
        rows = self.rows(
            "SELECT tool, sealed FROM grants WHERE conversation_id = ? AND person = ? ORDER BY tool",
            (conversation, handle),
        )
        opened = {tool: self.keyring.open_row("grants", (conversation, handle, tool), sealed) for tool, sealed in rows}
        return tuple(Grant(tool=tool, shape=row[0], at=moment(row[1])) for tool, row in opened.items() if row)


class Notices(Repository):
    """What the admins have heard of and is not over yet. Handles only, no words."""

    def is_told(self, name: str) -> bool:
        """Whether the admins have heard of it, and it is not over."""
        return self.exists("SELECT 1 FROM notices WHERE name = ? LIMIT 1", (self.keyring.handle(name),))

    def note(self, name: str, *, now: datetime) -> None:
        """Records that the admins have heard of it."""
        handle = self.keyring.handle(name)
        self.put_row("notices", topic=handle, name=handle, seen_at=now)

    def forget(self, name: str) -> None:
        """Records that it is over."""
        self.execute("DELETE FROM notices WHERE name = ?", (self.keyring.handle(name),))


class Members(Repository):
    """The members of groups, as the bridge last listed them; chats and people are given by the addresses of chats.

    A receipt only proves what its author could receive, and a reminder does not come to a group that its person has
    left. Former members are kept for a while, as they received what went out before.
    """

    def keep(self, group: str, people: Collection[str], *, listed_at: datetime) -> bool:
        """Keeps the members of the group as of `listed_at`; returns False if it has no conversation, or no members."""
        conversation = self.value("SELECT id FROM conversations WHERE handle = ?", (self.chat_handle(group),))
        if conversation is None or not people:
            return False
        members = [(conversation, self.chat_handle(person)) for person in people]
        self.execute(
            "INSERT INTO rosters (conversation_id, listed_at) VALUES (?, ?) "
            "ON CONFLICT DO UPDATE SET listed_at = excluded.listed_at",
            (conversation, listed_at),
        )
        self.execute(
            "UPDATE members SET left_at = ? WHERE conversation_id = ? AND left_at IS NULL", (listed_at, conversation)
        )
        self.insert_all(
            "INSERT INTO members (conversation_id, person) VALUES", members, "ON CONFLICT DO UPDATE SET left_at = NULL"
        )
        return True

    def leave(self, groups: Collection[str], *, listed_at: datetime) -> None:
        """Notes that Aldis is no longer in these groups and reaches no one there. `listed_at` is as for `keep`."""
        gone = [(listed_at, self.chat_handle(group)) for group in groups]
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
        """Whether the group's last list, newer than `since`, leaves out this person; False also without such a list."""
        return self.exists(
            "SELECT 1 FROM rosters JOIN conversations ON conversations.id = conversation_id "
            "WHERE handle = ?1 AND listed_at > ?2 AND NOT EXISTS (SELECT 1 FROM members "
            "WHERE members.conversation_id = rosters.conversation_id AND person = ?3 AND left_at IS NULL)",
            (self.chat_handle(group), since, self.chat_handle(person)),
        )
