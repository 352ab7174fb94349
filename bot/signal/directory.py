"""The lists of groups, contacts, keys and accounts of either bridge, and which account `SIGNAL__ACCOUNT` means.

Tolerant about what people choose, strict if the answer as a whole is unreadable.

Source: signal-cli 0.14.6, `ListGroupsCommand`, `ListContactsCommand` and `ListIdentitiesCommand` in
`org.asamk.signal.commands`; signal-cli-rest-api, commit a08db23, `src/client/client.go` (2026-11-21).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from bot.errors import Disconnected
from bot.events import Account, PersonId
from bot.invocation import command_line
from bot.signal.json import Json, as_object, items_in, line_of, name_of, object_in, person_in, text_in, whole_in
from bot.signal.protocol import Contact, Group, Identity, Linking

_MAX_EMOJI_CHARS = 16

Sticker = tuple[str, int | None]
"""A sticker's pack, and its number there."""

NO_ACCOUNT = f"no account is linked yet; link one with: {command_line('link')}"
UNNAMED = (
    "the bridge has an account without a phone number and does not report its uuid; put "
    "the uuid there (`signal-cli -o json listAccounts` shows it), or let Aldis talk to "
    "signal-cli's own daemon"
)


def groups_in(answer: object) -> tuple[Group, ...]:
    """Returns the groups of a list that the account is in.

    Raises, like all that follow:
        Disconnected: it is no list; ask again.
    """
    return tuple(_group(entry) for entry in _entries(answer) if _is_member(entry) and _group_id(entry))


def former_groups_in(answer: object, *, account: Account) -> frozenset[str]:
    """Returns the ids of groups of a list that the account is neither in nor invited to."""
    others = {_group_id(entry) for entry in _entries(answer) if not _is_member(entry) and _group_id(entry)}
    return frozenset(others - {group.id for group in invitations_in(answer, account=account)})


def invitations_in(answer: object, *, account: Account) -> tuple[Group, ...]:
    """Returns the groups of a list that the account is invited to."""
    return tuple(
        _group(entry)
        for entry in _entries(answer)
        if not _is_member(entry) and _group_id(entry)
        for one in (*items_in(entry, "pendingMembers"), *items_in(entry, "pending_invites"))
        if _is_own(as_object(one), account)
    )


def contacts_in(answer: object, *, account: Account) -> tuple[Contact, ...]:
    """Returns the people of a list, without the account itself and without people whose UUID is unknown."""
    return tuple(
        _contact(entry, person)
        for entry in _entries(answer)
        if not _is_own(entry, account) and (person := person_in(entry, "uuid")) is not None
    )


def identities_in(answer: object) -> tuple[Identity, ...]:
    """Returns the keys of a list, without those of people whose UUID is unknown."""
    return tuple(
        Identity(
            person=person,
            is_trusted=(text_in(entry, "trustLevel") or text_in(entry, "status")) != "UNTRUSTED",
            key=text_in(entry, "fingerprint"),
            safety_number=text_in(entry, "safetyNumber") or text_in(entry, "safety_number"),
        )
        for entry in _entries(answer)
        if (person := person_in(entry, "uuid")) is not None
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
        for pack in _entries(answer)
        for sticker in map(as_object, items_in(pack, "stickers"))
        if (emoji := line_of(text_in(sticker, "emoji"), _MAX_EMOJI_CHARS)) and not any(map(str.isalpha, emoji))
    }


def account_in(entry: object) -> Account:
    """Returns the account that an object names; one without a name if it names none."""
    fields = as_object(entry)
    ids = (person_in(fields, field) for field in ("aci", "uuid", "number"))
    number = text_in(fields, "number")
    return Account(id=next(filter(None, ids), None), number=number if number.startswith("+") else None)


def with_id(account: Account, contacts: object) -> Account:
    """Returns the account with the UUID from its own list of contacts, if that has it."""
    own = [person_in(entry, "uuid") for entry in _entries(contacts) if _is_own(entry, account)]
    return replace(account, id=next(filter(None, own), account.id))


def _entries(answer: object) -> Iterator[Json]:
    return map(as_object, _items(answer))


def _items(answer: object) -> list[object]:
    if not isinstance(answer, list):
        raise Disconnected("the answer of the bridge to Signal cannot be read")
    return cast("list[object]", answer)


# The bridges name some fields differently: signal-cli has the first of two, but for the id of a group.


def _is_own(entry: Json, account: Account) -> bool:
    return account.is_called(text_in(entry, "number"), text_in(entry, "uuid"))


def _group_id(entry: Json) -> str:
    return text_in(entry, "internal_id") or text_in(entry, "id")


def _group(entry: Json) -> Group:
    listed = items_in(entry, "members")
    members = frozenset(filter(None, (person_in(as_object(member), "uuid") for member in listed)))
    return Group(
        id=_group_id(entry),
        name=name_of(text_in(entry, "name")) or "",
        members=members,
        is_complete=len(members) == len(listed) > 0,
    )


def _is_member(entry: Json) -> bool:
    return entry.get("isMember") is not False and entry.get("member") is not False


def _contact(entry: Json, person: PersonId) -> Contact:
    number = text_in(entry, "number")
    profile = object_in(entry, "profile")
    given = text_in(profile, "givenName") or text_in(profile, "given_name")
    family = text_in(profile, "familyName") or text_in(profile, "lastname")
    name = name_of(text_in(entry, "name"), number) or name_of(f"{given} {family}".strip(), number)
    return Contact(person=person, number=number or None, name=name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """The accounts that a bridge has, and those of them that match."""

    all: tuple[Account, ...]
    meant: tuple[Account, ...]


async def choice_of(linking: Linking, wanted: str | None) -> Choice:
    """Returns a bridge's accounts, and those that match a number or a UUID; all of them if none is wanted.

    A bridge that lists only numbers is asked for the UUID of each. A UUID can also match the only account that the
    bridge has and cannot name.

    Raises:
        Disconnected: as `Linking.accounts`.
    """
    found = await linking.accounts()
    if wanted is None:
        return Choice(all=found, meant=found)
    uuid = person_in({"": wanted}, "")
    if uuid is not None and not any(account.is_called(wanted) for account in found):
        found = tuple([await linking.identify(account) if account.name else account for account in found])
        unnamed = [account for account in found if not account.name]
        if len(unnamed) == 1 and not any(account.is_called(wanted) for account in found):
            found = (*(account for account in found if account.name), Account(id=uuid))
    return Choice(all=found, meant=tuple(account for account in found if account.is_called(wanted)))
