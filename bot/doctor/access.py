"""Who may write: the lists of the settings, looked up at the bridge, and the numbers that have changed hands."""

from collections.abc import Iterator

from bot.access.access import EVERYBODY
from bot.doctor.bridge import BridgeState
from bot.doctor.findings import Finding, ok, problem, warning
from bot.settings import Settings
from bot.signal.protocol import Contact
from store import Store

_GROUPS = "ACCESS__GROUPS"


def check_access(settings: Settings, signal: BridgeState | None) -> Iterator[Finding]:
    """Who everybody on the lists is; `signal` None means that nobody could be looked up."""
    access = settings.access
    if settings.signal.note_to_self:
        yield ok("access", "only what the account writes to itself is answered")
        return
    if not (access.allowed or access.admins or access.groups):
        yield problem("access", "nobody may write", "set ACCESS__ALLOWED to your number or uuid")
    for name, entries in (("ACCESS__ALLOWED", access.allowed), ("ACCESS__ADMINS", access.admins)):
        yield from (_person(name, entry, signal) for entry in entries)
    yield from (_group(entry, signal, is_asked=access.group_members_may_write) for entry in access.groups)
    if access.strangers == "ignore":
        yield ok("access", "strangers get no reply")
    elif access.admins:
        yield ok("access", "strangers get a code, with which an admin can let them in")
    else:
        yield warning("access", "strangers get a code, but there is no admin who could use it", "set ACCESS__ADMINS")


def _person(name: str, entry: str, signal: BridgeState | None) -> Finding:
    if entry == EVERYBODY:
        return warning(name, "anybody may write, at your expense", "list the people who may, and set budgets")
    if signal is None:
        return warning(name, f"{entry} could not be looked up")
    contact = _contact(entry, signal)
    if contact is None:
        how = "ask them to write once" if entry.startswith("+") else "ask them to write once, or check for a typo"
        return warning(name, f"{entry} is not known to the account", how)
    other = contact.person if entry.startswith("+") else contact.number or "who hides their number"
    return ok(
        name,
        f"{entry} is {contact.name or 'somebody without a name'}, {other}",
    )


def _contact(entry: str, signal: BridgeState) -> Contact | None:
    return next((contact for contact in signal.contacts if entry in {contact.person, contact.number}), None)


def _group(entry: str, signal: BridgeState | None, *, is_asked: bool) -> Finding:
    """`is_asked` tells whether the members may write directly, so that they have to be known."""
    if entry == EVERYBODY:
        return ok(_GROUPS, "in every group, the people listed may write")
    if signal is None:
        return warning(_GROUPS, f"{entry} could not be looked up")
    group = next((group for group in signal.groups if group.id == entry), None)
    if group is None and any(invited.id == entry for invited in signal.invitations):
        return ok(_GROUPS, f"the account is invited to {entry}; Aldis joins it while it runs")
    if group is None:
        known = ", ".join(f"{group.id} ({group.name})" for group in signal.groups) or "none"
        return warning(
            _GROUPS,
            f"the account is not in the group {entry}; it is in: {known}",
            "invite it there, or correct the id: upper and lower case matter",
        )
    name = group.name or "a group without a name"
    if is_asked and not group.members:
        return warning(
            _GROUPS,
            (
                f"{entry} is {name}: none of its members may write directly, because the bridge does "
                "not say who they are"
            ),
        )
    return ok(
        _GROUPS,
        (
            f"{entry} is {name}, {len(group.members)} member"
            if len(group.members) == 1
            else f"{entry} is {name}, {len(group.members)} members"
        ),
    )


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
                    "access",
                    (
                        "{number} has belonged to one account since {day} and now belongs to another, which is refused"
                    ).format(number=number, day=f"{pin.since:%Y-%m-%d}"),
                    (
                        f"if that is right, add {person} to the list; if not, replace the number with the "
                        "uuid of the person you mean"
                    ),
                )
            )
        elif pin is not None and pin.refused_at is not None:
            what = "on {day} another account wrote with {number} and was refused".format(
                day=f"{pin.refused_at:%Y-%m-%d}", number=number
            )
            found.append(warning("access", what, "ask the person whether they have a new phone or account"))
    return found
