"""The people: who was let in by pairing, which account stands behind a phone number on the operator's lists, and whose
safety number has changed.

All are kept as handles: whoever has the file alone learns of nobody. A row that Aldis has not written is none, and
forbids what a missing one would allow (`store.guard`).
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from store.repository import Repository, millis, moment


@dataclass(frozen=True, kw_only=True, slots=True)
class Approval:
    """Somebody who was let in."""

    label: str
    """Eight hexadecimal digits that stand for the person in lists and commands: the store does not know a name."""
    at: datetime
    by: str
    """The label of the admin who did it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pin:
    """What is known of a number and somebody who says that they have it."""

    is_theirs: bool
    """Whether the number is pinned to them."""
    since: datetime
    refused_at: datetime | None
    """When another account first came with it; None: none did."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewIdentity:
    """Somebody whose safety number has changed, and is not trusted yet."""

    label: str
    since: datetime
    """When that was noticed."""


class People(Repository):
    """The repository of people. All methods run inside a transaction. `account` is the one that Aldis answers for."""

    def allow(self, person: str, *, account: str, by: str, now: datetime) -> None:
        """Lets a person in on the word of the admin `by`; doing it again keeps the first time."""
        self._strike("people", self._guest(account, person))
        self.execute(
            "INSERT INTO people (person, allowed_at, allowed_by) VALUES (?, ?, ?) ON CONFLICT (person) DO NOTHING",
            (self._guest(account, person), millis(now), self._guest(account, by)),
        )

    def deny(self, person: str, *, account: str) -> bool:
        """Revokes it; returns whether they had been let in. `person` is who it is, or the label of an `Approval`."""
        found = self.execute(
            "DELETE FROM people WHERE person = ? OR lower(substr(hex(person), 1, 8)) = ?",
            (self._guest(account, person), person.lower()),
        )
        return found.rowcount > 0

    def is_allowed(self, person: str, *, account: str) -> bool:
        """Whether the person was let in to this account."""
        return self.exists("SELECT 1 FROM true_people WHERE person = ?", (self._guest(account, person),))

    def approvals(self) -> tuple[Approval, ...]:
        """Everybody who was let in, the oldest first."""
        rows = self.rows("SELECT person, allowed_at, allowed_by FROM true_people ORDER BY allowed_at, person")
        return tuple(Approval(label=_label(person), at=moment(at), by=_label(by)) for person, at, by in rows)

    def label(self, person: str, *, account: str) -> str:
        """How lists and commands call this person."""
        return _label(self._guest(account, person))

    def pin(self, number: str, person: str, *, now: datetime, is_confirmed: bool = False) -> bool:
        """Whether a listed number is this person's: that of whoever came with it first, or who is confirmed to have it.

        When it is not, the time of the first refusal is kept for the operator. A number whose row is forged is nobody's
        until it is confirmed.
        """
        pinned = (self.keyring.handle(number), self.keyring.handle(person), millis(now))
        if is_confirmed:
            self._strike("pins", pinned[0])
            self.execute(
                "INSERT INTO pins (number, person, pinned_at) VALUES (?1, ?2, ?3) ON CONFLICT (number) "
                "DO UPDATE SET person = ?2, pinned_at = ?3, refused_at = NULL WHERE person != ?2",
                pinned,
            )
        else:
            self.execute(
                "INSERT INTO pins (number, person, pinned_at) VALUES (?1, ?2, ?3) ON CONFLICT (number) "
                "DO UPDATE SET refused_at = ?3 WHERE person != ?2 AND refused_at IS NULL",
                pinned,
            )
        return self.exists("SELECT 1 FROM true_pins WHERE number = ? AND person = ?", pinned[:2])

    def number_of(self, person: str, numbers: Collection[str]) -> str | None:
        """Which of these numbers is pinned to the person, who may have hidden or changed it since; None: none."""
        pinned = self.column("SELECT number FROM true_pins WHERE person = ?", (self.keyring.handle(person),))
        return next((number for number in sorted(numbers) if pinned and self.keyring.handle(number) in pinned), None)

    def pin_of(self, number: str, person: str) -> Pin | None:
        """What is known of the number, seen from this person; None: nobody came with it yet."""
        return self.record(
            Pin,
            "SELECT person = ?2 AS is_theirs, pinned_at AS since, refused_at FROM true_pins WHERE number = ?1",
            (self.keyring.handle(number), self.keyring.handle(person)),
        )

    def suspect(self, person: str, key: str, *, account: str, now: datetime) -> None:
        """Records that the person has this key now and it is not trusted; a key known as such keeps its time."""
        self._strike("identities", self._guest(account, person))
        self.execute(
            "INSERT INTO identities (person, key, noticed_at, is_open) VALUES (?1, ?2, ?3, 1) "
            "ON CONFLICT (person) DO UPDATE SET key = ?2, is_open = 1, "
            "noticed_at = CASE WHEN key = ?2 AND is_open THEN noticed_at ELSE ?3 END, "
            "told_at = CASE WHEN key = ?2 THEN told_at END",
            (self._guest(account, person), self.keyring.handle(key), millis(now)),
        )

    def new_identities(self) -> tuple[NewIdentity, ...]:
        """Those whose safety number has changed and is not trusted, the longest known first; and of whom that may have
        been hidden.
        """
        rows = self.rows(
            "SELECT person, noticed_at FROM true_identities WHERE is_open UNION ALL SELECT person, 0 "
            "FROM forged_identities ORDER BY noticed_at, person"
        )
        return tuple(NewIdentity(label=_label(person), since=moment(at)) for person, at in rows)

    def was_verified(self, person: str, *, account: str) -> bool:
        """Whether the key that was trusted last had been compared with the person's own."""
        values = (self._guest(account, person),)
        return self.exists("SELECT 1 FROM true_identities WHERE person = ? AND is_verified", values)

    def is_identity_told(self, person: str, *, account: str) -> bool:
        """Whether the admins know of the person's newest key."""
        values = (self._guest(account, person),)
        return self.exists("SELECT 1 FROM true_identities WHERE person = ? AND told_at IS NOT NULL", values)

    def identity_told(self, person: str, *, account: str, now: datetime) -> None:
        """Records that the admins know of it."""
        self.execute("UPDATE identities SET told_at = ? WHERE person = ?", (millis(now), self._guest(account, person)))

    def verify(self, person: str, key: str, *, account: str) -> None:
        """Trusts this key of the person, which was compared with their own."""
        self._strike("identities", self._guest(account, person))
        self.execute(
            "INSERT INTO identities (person, key, noticed_at, is_open, is_verified) VALUES (?1, ?2, 0, 0, 1) "
            "ON CONFLICT (person) DO UPDATE SET key = ?2, is_open = 0, is_verified = 1",
            (self._guest(account, person), self.keyring.handle(key)),
        )

    def trust(self, label: str, *, is_verified: bool | None = None) -> None:
        """Trusts the key of the person with this label; `is_verified` None: it was not compared here."""
        self.execute(
            "DELETE FROM identities WHERE person IN (SELECT person FROM forged_identities) "
            "AND lower(substr(hex(person), 1, 8)) = ?",
            (label,),
        )
        self.execute(
            "UPDATE identities SET is_open = 0, is_verified = coalesce(?2, is_verified) "
            "WHERE lower(substr(hex(person), 1, 8)) = ?1",
            (label, is_verified),
        )

    def prune(self, *, before: datetime) -> None:
        """Deletes trusted keys that were noticed before then, unless they had been compared."""
        self.execute(
            "DELETE FROM identities WHERE person IN (SELECT person FROM true_identities "
            "WHERE noticed_at < ? AND NOT is_open AND NOT is_verified)",
            (millis(before),),
        )

    def _strike(self, table: Literal["people", "pins", "identities"], key: bytes) -> None:
        """Deletes the row where it is forged: what is decided now must not rest on it."""
        column = "number" if table == "pins" else "person"
        forged = f"SELECT {column} FROM forged_{table} WHERE {column} = ?"  # noqa: S608  (our own names)
        self.execute(f"DELETE FROM {table} WHERE {column} IN ({forged})", (key,))  # noqa: S608

    def _guest(self, account: str, person: str) -> bytes:
        """Who was let in to one account is not let in to another one that this store served before or serves later."""
        return self.keyring.handle(f"{self.realm}|{self.account_name(account)}|{person}")


def _label(handle: bytes) -> str:
    return handle.hex()[:8]
