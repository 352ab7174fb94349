"""Who may write: the lists of the settings, looked up at the bridge, and the numbers that have changed hands."""

from collections.abc import Iterator

from bot.doctor.bridge import BridgeState
from bot.doctor.findings import Finding, ok, problem, warning
from bot.policy.access import EVERYBODY
from bot.settings import Settings
from bot.transports.base import Contact
from store import Store


def check_access(settings: Settings, signal: BridgeState | None) -> Iterator[Finding]:
    """Who everybody on the lists is; `signal` None means that nobody could be looked up."""
    access = settings.access
    if settings.signal.note_to_self:
        yield ok("access: only what the account writes to itself is answered")
        return
    if not (access.allowed or access.admins or access.groups):
        yield problem("access: nobody may write", "set ACCESS__ALLOWED to your number or uuid")
    for name, entries in (("ACCESS__ALLOWED", access.allowed), ("ACCESS__ADMINS", access.admins)):
        yield from (_person(name, entry, signal) for entry in entries)
    yield from (_group(entry, signal, is_asked=access.group_members_may_write) for entry in access.groups)
    if access.strangers == "ignore":
        yield ok("access: strangers are told nothing")
    elif access.admins:
        yield ok("access: strangers get a code, with which an admin can let them in")
    else:
        yield warning("access: strangers get a code, but nobody is an admin who could use it", "set ACCESS__ADMINS")


def _person(name: str, entry: str, signal: BridgeState | None) -> Finding:
    if entry == EVERYBODY:
        return warning(f"{name}: everybody may write, at your cost", "name people, and set budgets")
    if signal is None:
        return warning(f"{name}: {entry} could not be looked up")
    contact = _contact(entry, signal)
    if contact is None:
        how = "" if entry.startswith("+") else ", or look for a typing error"
        return warning(f"{name}: {entry} is not known to the account", f"have them write once{how}")
    other = contact.person if entry.startswith("+") else contact.number or "who hides their number"
    return ok(f"{name}: {entry} is {contact.name or 'somebody without a name'}, {other}")


def _contact(entry: str, signal: BridgeState) -> Contact | None:
    return next((contact for contact in signal.contacts if entry in {contact.person, contact.number}), None)


def _group(entry: str, signal: BridgeState | None, *, is_asked: bool) -> Finding:
    """`is_asked` tells whether the members may write directly, so that they have to be known."""
    if entry == EVERYBODY:
        return ok("ACCESS__GROUPS: in every group, those who are named may write")
    if signal is None:
        return warning(f"ACCESS__GROUPS: {entry} could not be looked up")
    group = next((group for group in signal.groups if group.id == entry), None)
    if group is None and any(invited.id == entry for invited in signal.invitations):
        return ok(f"ACCESS__GROUPS: the account is invited to {entry}; Aldis joins it while it runs")
    if group is None:
        known = ", ".join(f"{group.id} ({group.name})" for group in signal.groups) or "none"
        what = f"ACCESS__GROUPS: the account is in no group {entry}; it is in: {known}"
        return warning(what, "invite it there, or correct the id: upper and lower case matter")
    what = f"ACCESS__GROUPS: {entry} is {group.name or 'a group without a name'}, {len(group.members)} members"
    if is_asked and not group.members:
        return warning(f"{what}: none may write directly, for the bridge does not tell who they are")
    return ok(what)


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
                    f"access: {number} now belongs to another account than since {pin.since:%Y-%m-%d}; it is refused",
                    f"if that is right, put {person} into the list; else take the number out and put their uuid in",
                )
            )
        elif pin is not None and pin.refused_at is not None:
            what = f"access: on {pin.refused_at:%Y-%m-%d} another account came with {number}, and was refused"
            found.append(warning(what, "ask who they are whether they have a new phone or account"))
    return found
