"""The lists that either bridge gives, and which of its accounts `SIGNAL__ACCOUNT` means."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

from bot.errors import ConfigError, Disconnected
from bot.events import Account
from bot.invocation import command_line
from bot.signal.json import Json, as_object, items_in, line_of, person_in, text_in, whole_in
from bot.signal.protocol import Linking

Sticker = tuple[str, int | None]
"""A sticker's pack, and its number there."""

NO_ACCOUNT = f"no account is linked yet; link one with: {command_line('link')}"
UNNAMED = (
    "the bridge has an account without a phone number and does not report its uuid; put "
    "the uuid there (`signal-cli -o json listAccounts` shows it), or let Aldis talk to "
    "signal-cli's own daemon"
)


def accounts_in(answer: object) -> tuple[Account, ...]:
    """Returns the accounts of a list: objects with a number, a UUID or both, or strings with a number or nothing.

    Source: signal-cli's `listAccounts`, with `aci` since pull request 2123; signal-cli-rest-api's `/v1/accounts` lists
    an account without a number as an empty string (commit a08db23, 2026-11-22).
    """
    return tuple(account_in({"number": item} if isinstance(item, str) else item) for item in _items(answer))


def stickers_in(answer: object) -> Mapping[Sticker, str]:
    """Returns the emoji of all stickers of a list of packs; none with letters, which would be words of its maker."""
    return {
        (text_in(pack, "packId"), whole_in(sticker, "id")): emoji
        for pack in entries_in(answer)
        for sticker in map(as_object, items_in(pack, "stickers"))
        if (emoji := line_of(text_in(sticker, "emoji"), 16)) and not any(map(str.isalpha, emoji))
    }


def account_in(entry: object) -> Account:
    """Returns the account that an object names; one without a name if it names none."""
    fields = as_object(entry)
    ids = (person_in(fields, field) for field in ("aci", "uuid", "number"))
    number = text_in(fields, "number")
    return Account(id=next(filter(None, ids), None), number=number if number.startswith("+") else None)


def with_id(account: Account, contacts: object) -> Account:
    """Returns the account with the UUID from its own list of contacts, if that has it."""
    own = [person_in(entry, "uuid") for entry in entries_in(contacts) if is_own(entry, account)]
    return replace(account, id=next(filter(None, own), account.id))


def entries_in(answer: object) -> Iterator[Json]:
    """Yields the entries of a list; raises `Disconnected` if it is none, so ask again."""
    return map(as_object, _items(answer))


def _items(answer: object) -> list[object]:
    if not isinstance(answer, list):
        raise Disconnected("the answer of the bridge to Signal cannot be read")
    return cast("list[object]", answer)


def is_own(entry: Json, account: Account) -> bool:
    """Returns whether an entry of a list is this account."""
    return account.is_called(text_in(entry, "number"), text_in(entry, "uuid"))


async def account_meant(linking: Linking, wanted: str | None) -> Account | None:
    """Returns the account with this number or UUID, or else the bridge's only one, identified; None if it has none.

    A bridge that lists only numbers is asked for the UUID of each. A UUID can also mean the only account that the
    bridge has and cannot name.

    Raises:
        ConfigError: it has several, another, or one without a name.
        Disconnected: it does not answer.
    """
    found = await linking.accounts()
    uuid = person_in({"": wanted}, "")
    if uuid is not None and not any(account.is_called(wanted) for account in found):
        found = tuple([await linking.identify(account) if account.name else account for account in found])
        unnamed = [account for account in found if not account.name]
        if len(unnamed) == 1 and not any(account.is_called(wanted) for account in found):
            found = (*(account for account in found if account.name), Account(id=uuid))
    if not found:
        return None
    meant = [account for account in found if wanted is None or account.is_called(wanted)]
    words = f"the bridge has another account, not this one; correct it or link it with: {command_line('link')}"
    if meant and not meant[0].name:
        words = UNNAMED
    if len(meant) > 1:
        words = f"the bridge has several accounts (see `{command_line('link')}`); name the one that Aldis answers for"
    if len(meant) != 1 or not meant[0].name:
        raise ConfigError(f"SIGNAL__ACCOUNT: {words}")
    return await linking.identify(meant[0])
