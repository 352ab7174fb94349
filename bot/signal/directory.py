"""The lists of groups, contacts, keys, accounts and devices of either bridge.

Tolerant about what people choose, strict if the answer as a whole is unreadable. Left to others: asking for the lists
(`signal_cli`, `rest_api`).

Source: signal-cli 0.14.6, `ListGroupsCommand`, `ListContactsCommand`, `ListIdentitiesCommand` and `ListDevicesCommand`
in `org.asamk.signal.commands`; signal-cli-rest-api, commit a08db23, `src/client/client.go` (2026-11-21).
"""

from dataclasses import replace
from typing import cast

from bot.errors import Disconnected
from bot.events import Account, PersonId
from bot.signal.json import Json, as_object, items_in, name_of, object_in, person_in, text_in, whole_in
from bot.signal.profiles import AccountProfile
from bot.signal.protocol import Contact, Group, Identity

_PHONE = 1
_SAFETY_NUMBER_CHARS = 71
"""Twelve groups of five digits."""


def entries(answer: object) -> tuple[Json, ...]:
    """Returns the entries of a list from a bridge.

    Raises:
        Disconnected: it is something else; ask again.
    """
    if not isinstance(answer, list):
        raise Disconnected("the answer of the bridge to Signal cannot be read")
    return tuple(as_object(item) for item in cast("list[object]", answer))


def groups_in(answer: object, *, id_field: str) -> tuple[Group, ...]:
    """Returns the groups of a list that the account is in; `id_field` holds the id as in envelopes.

    Raises:
        Disconnected: as `entries`.
    """
    return tuple(_group(entry, id_field) for entry in entries(answer) if text_in(entry, id_field) and _is_member(entry))


def invitations_in(answer: object, *, id_field: str, account: Account) -> tuple[Group, ...]:
    """Returns the groups of a list that the account is invited to and not in; `id_field` as for `groups_in`.

    Raises:
        Disconnected: as `entries`.
    """
    return tuple(
        _group(entry, id_field)
        for entry in entries(answer)
        if text_in(entry, id_field) and not _is_member(entry) and _is_invited(entry, account)
    )


def former_groups_in(answer: object, *, id_field: str, account: Account) -> frozenset[str]:
    """Returns the ids of the groups of a list that the account was in and is not any more; `id_field` as for
    `groups_in`.

    Raises:
        Disconnected: as `entries`.
    """
    return frozenset(
        text_in(entry, id_field)
        for entry in entries(answer)
        if text_in(entry, id_field) and not _is_member(entry) and not _is_invited(entry, account)
    )


def contacts_in(answer: object, *, account: Account) -> tuple[Contact, ...]:
    """Returns the people of a list, without the account itself and without people whose UUID is unknown.

    Raises:
        Disconnected: as `entries`.
    """
    found = (_contact(entry) for entry in entries(answer) if not _is_own(entry, account))
    return tuple(contact for contact in found if contact is not None)


def identities_in(answer: object) -> tuple[Identity, ...]:
    """Returns the keys of a list, without those of people whose UUID is unknown.

    Raises:
        Disconnected: as `entries`.
    """
    return tuple(
        Identity(
            person=person,
            # signal-cli-rest-api has another name for it.
            is_trusted=(text_in(entry, "trustLevel") or text_in(entry, "status")) != "UNTRUSTED",
            key=text_in(entry, "fingerprint"),
            safety_number=(text_in(entry, "safetyNumber") or text_in(entry, "safety_number"))[:_SAFETY_NUMBER_CHARS],
        )
        for entry in entries(answer)
        if (person := person_in(entry, "uuid")) is not None
    )


def accounts_in(answer: object) -> tuple[Account, ...]:
    """Returns the accounts of a list: objects with a number, a UUID or both, or strings with either or nothing.

    Source: signal-cli's `listAccounts`, with `aci` since pull request 2123; signal-cli-rest-api's `/v1/accounts` only
    gives numbers, and lists an account without one as an empty string (commit a08db23, 2026-11-22).

    Raises:
        Disconnected: as `entries`.
    """
    if not isinstance(answer, list):
        raise Disconnected("the bridge's list of accounts cannot be read")
    items = cast("list[object]", answer)
    return tuple(account_in({"number": item} if isinstance(item, str) else item) for item in items)


def account_in(entry: object) -> Account:
    """Returns the account that an object names; one without a name if it names none."""
    fields = as_object(entry)
    ids = (person_in(fields, field) for field in ("aci", "uuid", "number"))
    number = text_in(fields, "number")
    return Account(id=next(filter(None, ids), None), number=number if number.startswith("+") else None)


def with_id(account: Account, contacts: object) -> Account:
    """Returns the account with the UUID from its own list of contacts, if that has it.

    Raises:
        Disconnected: as `entries`.
    """
    own = [person_in(entry, "uuid") for entry in entries(contacts) if _is_own(entry, account)]
    return replace(account, id=next(filter(None, own), account.id))


def profile_in(answer: object, *, account: Account) -> AccountProfile:
    """Returns the profile of the account itself, from its own entry in its list of contacts.

    Raises:
        Disconnected: as `entries`, or it is not in there.
    """
    own = next((entry for entry in entries(answer) if _is_own(entry, account)), None)
    if own is None:
        raise Disconnected("the bridge does not tell the profile of the account; try again")
    profile = object_in(own, "profile")
    return AccountProfile(
        name=_profile_name(profile),
        about=text_in(profile, "about"),
        has_picture=profile.get("hasAvatar") is True or profile.get("has_avatar") is True,
        username=text_in(own, "username") or None,
    )


def _is_own(entry: Json, account: Account) -> bool:
    return account.is_called(text_in(entry, "number")) or account.is_called(text_in(entry, "uuid"))


def device_named(answer: object, name: str) -> int | None:
    """Returns the only other device of an account with this name; None if there is none, or several.

    The first device is the phone itself, whatever its name.

    Raises:
        Disconnected: as `entries`.
    """
    named = [whole_in(entry, "id") for entry in entries(answer) if text_in(entry, "name") == name]
    further = [device for device in named if device not in {None, _PHONE}]
    return further[0] if len(further) == 1 else None


def _group(entry: Json, id_field: str) -> Group:
    members = _members(entry)
    return Group(
        id=text_in(entry, id_field),
        name=name_of(text_in(entry, "name")) or "",
        members=members,
        is_complete=len(members) == len(items_in(entry, "members")) > 0,
    )


def _is_member(entry: Json) -> bool:
    return entry.get("isMember") is not False and entry.get("member") is not False


def _is_invited(entry: Json, account: Account) -> bool:
    """Whether the account is among the invited; signal-cli-rest-api has another name for the field."""
    invited = (*items_in(entry, "pendingMembers"), *items_in(entry, "pending_invites"))
    return any(_is_own(as_object(one), account) for one in invited)


def _members(entry: Json) -> frozenset[PersonId]:
    members = (person_in(as_object(member), "uuid") for member in items_in(entry, "members"))
    return frozenset(member for member in members if member is not None)


def _contact(entry: Json) -> Contact | None:
    person, number = person_in(entry, "uuid"), text_in(entry, "number")
    if person is None:
        return None
    chosen = (text_in(entry, "name"), _profile_name(object_in(entry, "profile")))
    names = (name_of(name, number) for name in chosen)
    return Contact(person=person, number=number or None, name=next(filter(None, names), None))


def _profile_name(profile: Json) -> str:
    """Given and family name; signal-cli and signal-cli-rest-api name the fields differently."""
    given = text_in(profile, "givenName") or text_in(profile, "given_name")
    family = text_in(profile, "familyName") or text_in(profile, "lastname")
    return f"{given} {family}".strip()
