"""The people: who was let in by pairing, and which account stands behind a phone number on the operator's lists.

Both are kept as handles: whoever has the file alone learns of nobody. Left to others: who may write
(`bot.policy.access`).
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from store.shelf import Shelf, millis, moment


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


class People(Shelf):
    """The shelf of people. All methods run inside a transaction. `account` is the number that Aldis answers for."""

    def allow(self, person: str, *, account: str, by: str, now: datetime) -> None:
        """Let a person in on the word of the admin `by`; doing it again keeps the first time."""
        self.execute(
            "INSERT INTO people (person, allowed_at, allowed_by) VALUES (?, ?, ?) ON CONFLICT (person) DO NOTHING",
            (self._guest(account, person), millis(now), self._guest(account, by)),
        )

    def deny(self, person: str, *, account: str) -> bool:
        """Take it back; whether the person had been let in. `person` is who it is, or the label of an `Approval`."""
        found = self.execute(
            "DELETE FROM people WHERE person = ? OR lower(substr(hex(person), 1, 8)) = ?",
            (self._guest(account, person), person.lower()),
        )
        return found.rowcount > 0

    def is_allowed(self, person: str, *, account: str) -> bool:
        """Whether the person was let in to this account."""
        return bool(self.rows("SELECT 1 FROM people WHERE person = ?", (self._guest(account, person),)))

    def allowed(self) -> tuple[Approval, ...]:
        """Everybody who was let in, those of longest ago first."""
        rows = self.rows("SELECT person, allowed_at, allowed_by FROM people ORDER BY allowed_at, person")
        return tuple(Approval(label=_label(person), at=moment(at), by=_label(by)) for person, at, by in rows)

    def label(self, person: str, *, account: str) -> str:
        """How lists and commands call this person."""
        return _label(self._guest(account, person))

    def pin(self, number: str, person: str, *, now: datetime, is_confirmed: bool = False) -> bool:
        """Whether a listed number is this person's: that of whoever came with it first, or who is confirmed to have it.

        When it is not, the time of the first refusal is kept for the operator.
        """
        pinned = (self.keyring.handle(number), self.keyring.handle(person), millis(now))
        if is_confirmed:
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
        return bool(self.rows("SELECT 1 FROM pins WHERE number = ? AND person = ?", pinned[:2]))

    def number_of(self, person: str, numbers: Collection[str]) -> str | None:
        """Which of these numbers is pinned to the person, who may have hidden or changed it since; None: none."""
        rows = self.rows("SELECT number FROM pins WHERE person = ?", (self.keyring.handle(person),))
        pinned = {handle for (handle,) in rows}
        return next((number for number in sorted(numbers) if pinned and self.keyring.handle(number) in pinned), None)

    def pinned(self, number: str, person: str) -> Pin | None:
        """What is known of the number, seen from this person; None: nobody came with it yet."""
        rows = self.rows(
            "SELECT person, pinned_at, refused_at FROM pins WHERE number = ?", (self.keyring.handle(number),)
        )
        return next(
            (
                Pin(
                    is_theirs=holder == self.keyring.handle(person),
                    since=moment(since),
                    refused_at=None if refused_at is None else moment(refused_at),
                )
                for holder, since, refused_at in rows
            ),
            None,
        )

    def _guest(self, account: str, person: str) -> bytes:
        """Who was let in to one account is not let in to another one that this store served before or serves later."""
        return self.keyring.handle(f"{self.realm}|{account}|{person}")


def _label(handle: bytes) -> str:
    return handle.hex()[:8]
