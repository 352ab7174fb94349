"""People: who was let in by pairing, whose account has a phone number on the operator's lists, and whose safety number
has changed.

Everybody is kept as a handle, so the file alone names nobody. A forged row counts as missing, and forbids what a
missing row would allow (`store.guard`).
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
    """Eight hexadecimal digits for the person in lists and commands, as the store knows no names."""
    at: datetime
    by: str
    """The label of the admin who let them in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pin:
    """What is known about a number and a person who claims it."""

    is_theirs: bool
    """Whether the number is pinned to them."""
    since: datetime
    refused_at: datetime | None
    """When another account first claimed it; None: none did."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewIdentity:
    """A person whose safety number has changed and is not trusted yet."""

    label: str
    since: datetime
    """When the change was noticed."""


class People(Repository):
    """The repository of people. All methods run inside a transaction. `account` is the account of Aldis."""

    def allow(self, person: str, *, account: str, by: str, now: datetime) -> None:
        """Lets a person in on behalf of the admin `by`. Repeating it keeps the first time."""
        self._strike("people", self._guest(account, person))
        self.execute(
            "INSERT INTO people (person, allowed_at, allowed_by) VALUES (?, ?, ?) ON CONFLICT (person) DO NOTHING",
            (self._guest(account, person), millis(now), self._guest(account, by)),
        )

    def deny(self, person: str, *, account: str) -> bool:
        """Revokes access; returns whether they had it. `person` is the person or the label of an `Approval`."""
        found = self.execute(
            "DELETE FROM people WHERE person = ? OR lower(substr(hex(person), 1, 8)) = ?",
            (self._guest(account, person), person.lower()),
        )
        return found.rowcount > 0

    def is_allowed(self, person: str, *, account: str) -> bool:
        """Whether the person was let in for this account."""
        return self.exists("SELECT 1 FROM true_people WHERE person = ?", (self._guest(account, person),))

    def approvals(self) -> tuple[Approval, ...]:
        """Returns everybody who was let in, the earliest first."""
        rows = self.rows("SELECT person, allowed_at, allowed_by FROM true_people ORDER BY allowed_at, person")
        return tuple(Approval(label=_label(person), at=moment(at), by=_label(by)) for person, at, by in rows)

    def label(self, person: str, *, account: str) -> str:
        """Returns the label of this person in lists and commands."""
        return _label(self._guest(account, person))

    def pin(self, number: str, person: str, *, now: datetime, is_confirmed: bool = False) -> bool:
        """Whether a listed number belongs to this person, who was the first to use it or is confirmed to have it.

        If not, the time of the first refusal is kept for the operator. A number with a forged row is nobody's until it
        is confirmed.
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
        """Returns which of these numbers is pinned to the person, who may have hidden or changed it since."""
        pinned = self.column("SELECT number FROM true_pins WHERE person = ?", (self.keyring.handle(person),))
        return next((number for number in sorted(numbers) if pinned and self.keyring.handle(number) in pinned), None)

    def pin_of(self, number: str, person: str) -> Pin | None:
        """Returns what is known about the number from this person's view; None: nobody has used it yet."""
        return self.record(
            Pin,
            "SELECT person = ?2 AS is_theirs, pinned_at AS since, refused_at FROM true_pins WHERE number = ?1",
            (self.keyring.handle(number), self.keyring.handle(person)),
        )

    def suspect(self, person: str, key: str, *, account: str, now: datetime) -> None:
        """Records that the person has a new, untrusted key. If that is recorded already, its time stays."""
        self._strike("identities", self._guest(account, person))
        self.execute(
            "INSERT INTO identities (person, key, noticed_at, is_open) VALUES (?1, ?2, ?3, 1) "
            "ON CONFLICT (person) DO UPDATE SET key = ?2, is_open = 1, "
            "noticed_at = CASE WHEN key = ?2 AND is_open THEN noticed_at ELSE ?3 END, "
            "told_at = CASE WHEN key = ?2 THEN told_at END",
            (self._guest(account, person), self.keyring.handle(key), millis(now)),
        )

    def new_identities(self) -> tuple[NewIdentity, ...]:
        """Returns people whose safety number has changed and is not trusted, the longest known first.

        Includes people with a forged row, which may hide a change.
        """
        rows = self.rows(
            "SELECT person, noticed_at FROM true_identities WHERE is_open UNION ALL SELECT person, 0 "
            "FROM forged_identities ORDER BY noticed_at, person"
        )
        return tuple(NewIdentity(label=_label(person), since=moment(at)) for person, at in rows)

    def was_verified(self, person: str, *, account: str) -> bool:
        """Whether the last trusted key had been compared with the person's own."""
        values = (self._guest(account, person),)
        return self.exists("SELECT 1 FROM true_identities WHERE person = ? AND is_verified", values)

    def is_identity_told(self, person: str, *, account: str) -> bool:
        """Whether the admins were told about the person's newest key."""
        values = (self._guest(account, person),)
        return self.exists("SELECT 1 FROM true_identities WHERE person = ? AND told_at IS NOT NULL", values)

    def identity_told(self, person: str, *, account: str, now: datetime) -> None:
        """Records that the admins were told about the person's newest key."""
        self.execute("UPDATE identities SET told_at = ? WHERE person = ?", (millis(now), self._guest(account, person)))

    def verify(self, person: str, key: str, *, account: str) -> None:
        """Trusts a key that was compared with the person's own."""
        self._strike("identities", self._guest(account, person))
        self.execute(
            "INSERT INTO identities (person, key, noticed_at, is_open, is_verified) VALUES (?1, ?2, 0, 0, 1) "
            "ON CONFLICT (person) DO UPDATE SET key = ?2, is_open = 0, is_verified = 1",
            (self._guest(account, person), self.keyring.handle(key)),
        )

    def trust(self, label: str, *, is_verified: bool | None = None) -> None:
        """Trusts the key of the person with this label. `is_verified`: whether it was compared; None: not here."""
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
        """Deletes trusted keys noticed before `before`, unless they had been compared."""
        self.execute(
            "DELETE FROM identities WHERE person IN (SELECT person FROM true_identities "
            "WHERE noticed_at < ? AND NOT is_open AND NOT is_verified)",
            (millis(before),),
        )

    def _strike(self, table: Literal["people", "pins", "identities"], key: bytes) -> None:
        """Deletes the row if it is forged, so that a new decision does not rest on it."""
        column = "number" if table == "pins" else "person"
        forged = f"SELECT {column} FROM forged_{table} WHERE {column} = ?"  # noqa: S608  (our own names)
        self.execute(f"DELETE FROM {table} WHERE {column} IN ({forged})", (key,))  # noqa: S608

    def _guest(self, account: str, person: str) -> bytes:
        """Returns a handle for a person and an account: access to one account is no access to another."""
        return self.keyring.handle(f"{self.realm}|{self.account_name(account)}|{person}")


def _label(handle: bytes) -> str:
    return handle.hex()[:8]
