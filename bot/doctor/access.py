"""Who may write: the lists of the settings, looked up at the bridge, and the numbers that have changed hands."""

from collections.abc import Iterator

from bot.doctor import phrases
from bot.doctor.bridge import BridgeState
from bot.doctor.findings import Finding, ok, problem, warning
from bot.doctor.phrases import AREA_ACCESS
from bot.i18n.statements import fill
from bot.policy.access import EVERYBODY
from bot.settings import Settings
from bot.transports.base import Contact
from store import Store

_GROUPS = "ACCESS__GROUPS"


def check_access(settings: Settings, signal: BridgeState | None) -> Iterator[Finding]:
    """Who everybody on the lists is; `signal` None means that nobody could be looked up."""
    access = settings.access
    if settings.signal.note_to_self:
        yield ok(AREA_ACCESS, phrases.FOUND_ACCESS_NOTES)
        return
    if not (access.allowed or access.admins or access.groups):
        yield problem(AREA_ACCESS, phrases.FOUND_ACCESS_NOBODY, phrases.FOUND_ACCESS_ALLOW)
    for name, entries in (("ACCESS__ALLOWED", access.allowed), ("ACCESS__ADMINS", access.admins)):
        yield from (_person(name, entry, signal) for entry in entries)
    yield from (_group(entry, signal, is_asked=access.group_members_may_write) for entry in access.groups)
    if access.strangers == "ignore":
        yield ok(AREA_ACCESS, phrases.FOUND_STRANGERS_IGNORED)
    elif access.admins:
        yield ok(AREA_ACCESS, phrases.FOUND_STRANGERS_CODE)
    else:
        yield warning(AREA_ACCESS, phrases.FOUND_STRANGERS_NO_ADMIN, fill(phrases.FOUND_SET, name="ACCESS__ADMINS"))


def _person(name: str, entry: str, signal: BridgeState | None) -> Finding:
    if entry == EVERYBODY:
        return warning(name, phrases.FOUND_EVERYBODY_WRITES, phrases.FOUND_EVERYBODY_BOUND)
    if signal is None:
        return warning(name, fill(phrases.FOUND_NOT_LOOKED_UP, entry=entry))
    contact = _contact(entry, signal)
    if contact is None:
        how = phrases.FOUND_PERSON_WRITES if entry.startswith("+") else phrases.FOUND_PERSON_WRITES_OR
        return warning(name, fill(phrases.FOUND_PERSON_UNKNOWN, entry=entry), how)
    other = contact.person if entry.startswith("+") else contact.number or phrases.FOUND_NUMBER_HIDDEN
    return ok(
        name,
        fill(phrases.FOUND_PERSON_IS, entry=entry, name=contact.name or phrases.FOUND_PERSON_NAMELESS, other=other),
    )


def _contact(entry: str, signal: BridgeState) -> Contact | None:
    return next((contact for contact in signal.contacts if entry in {contact.person, contact.number}), None)


def _group(entry: str, signal: BridgeState | None, *, is_asked: bool) -> Finding:
    """`is_asked` tells whether the members may write directly, so that they have to be known."""
    if entry == EVERYBODY:
        return ok(_GROUPS, phrases.FOUND_GROUPS_EVERY)
    if signal is None:
        return warning(_GROUPS, fill(phrases.FOUND_NOT_LOOKED_UP, entry=entry))
    group = next((group for group in signal.groups if group.id == entry), None)
    if group is None and any(invited.id == entry for invited in signal.invitations):
        return ok(_GROUPS, fill(phrases.FOUND_GROUP_INVITED, entry=entry))
    if group is None:
        known = ", ".join(f"{group.id} ({group.name})" for group in signal.groups) or phrases.FOUND_GROUP_NONE_KNOWN
        return warning(_GROUPS, fill(phrases.FOUND_GROUP_UNKNOWN, entry=entry, known=known), phrases.FOUND_GROUP_INVITE)
    name = group.name or phrases.FOUND_GROUP_NAMELESS
    if is_asked and not group.members:
        return warning(_GROUPS, fill(phrases.FOUND_GROUP_MUTE, entry=entry, name=name))
    return ok(_GROUPS, fill(phrases.FOUND_GROUP_IS, entry=entry, name=name, count=len(group.members)))


async def check_pins(settings: Settings, store: Store | None, signal: BridgeState | None) -> list[Finding]:
    """The listed numbers behind which there is another account than there was."""
    if store is None:
        return []
    found: list[Finding] = []
    numbers = {entry: None for entry in (*settings.access.allowed, *settings.access.admins) if entry.startswith("+")}
    for number in numbers:
        contact = _contact(number, signal) if signal else None
        person = contact.person if contact else ""
        pin = await store.read(lambda repos, number=number, person=person: repos.people.pin_of(number, person))
        if pin is not None and contact is not None and not pin.is_theirs:
            found.append(
                problem(
                    AREA_ACCESS,
                    fill(phrases.FOUND_NUMBER_CHANGED, number=number, day=f"{pin.since:%Y-%m-%d}"),
                    fill(phrases.FOUND_NUMBER_DECIDE, person=person),
                )
            )
        elif pin is not None and pin.refused_at is not None:
            what = fill(phrases.FOUND_NUMBER_REFUSED, day=f"{pin.refused_at:%Y-%m-%d}", number=number)
            found.append(warning(AREA_ACCESS, what, phrases.FOUND_NUMBER_ASK))
    return found
