"""The bridge to Signal: whether it answers, which account it has, and who the people and groups of the settings are."""

from collections.abc import Iterator, Mapping
from contextlib import aclosing

from bot.access.access import EVERYBODY
from bot.clock import Clock
from bot.doctor.findings import Deps, Finding, ok, problem, warning
from bot.doctor.models import TIMEOUT_SECONDS, advice_on_address, without_password
from bot.errors import ConfigError, Disconnected
from bot.events import Account
from bot.settings import Settings
from bot.signal.bridges import MAX_DAYS, WARN_DAYS, age_days, bridge_at
from bot.signal.directory import NO_ACCOUNT, account_meant
from bot.signal.protocol import BRIDGE_NAMES, Bridge, Release, SignalTransport


async def check_bridge(settings: Settings, deps: Deps, clock: Clock) -> list[Finding]:
    """Returns what was found of the bridge, its account, and the people and groups that the settings list."""
    url, found, names = settings.signal.url, list[Finding](), None
    try:
        bridge = await bridge_at(url, timeout_seconds=TIMEOUT_SECONDS)
        found.append(ok("bridge", f"{BRIDGE_NAMES[bridge]} answers at {without_password(url)}"))
        account, of_account = await _account(settings, deps, bridge)
        found += of_account
        async with aclosing(deps.transport(bridge, account)) as transport:
            release = await transport.release()
            found += [ok("bridge", f"it is {release.name}"), *check_release(release, clock)]
            if release.bridge == "rest_api":
                what = "it drops what comes while Aldis is not connected, and some of a burst"
                found.append(warning("bridge", what, "use signal-cli's own daemon, which loses neither"))
            names = await _names(transport)
    except ConfigError as error:  # it says what to do
        found.append(problem("bridge", str(error)))
    except Disconnected as error:
        how = advice_on_address(url, "SIGNAL__URL", is_contained=deps.is_contained)
        found.append(problem("bridge", str(error), "look in the bridge's log" if found else how))
    return [*found, *_check_access(settings, names)]


def check_release(release: Release, clock: Clock) -> list[Finding]:
    """Returns what is wrong with the bridge's version."""
    name = BRIDGE_NAMES[release.bridge]
    days = age_days(release, clock.now().date())
    if days is None:
        what = f"{name} does not report its version, so there is no telling how old it is"
        return [warning("bridge", what, "run a released image or package of it")]
    if days < WARN_DAYS:
        return []
    is_urgent = days >= MAX_DAYS
    when = ": Signal may drop it any day" if is_urgent else f"; from {MAX_DAYS} on Signal may drop it"
    what = f"{release.name} is {days} days old or more{when}, and the account with it"
    how = f"install a newer {name}; make a copy of its data folder first"
    return [(problem if is_urgent else warning)("bridge", what, how)]


async def _account(settings: Settings, deps: Deps, bridge: Bridge) -> tuple[Account, list[Finding]]:
    """The account to answer for, and what is to be said of it; raises as `account_meant`."""
    linking = deps.linking(bridge)
    account = await account_meant(linking, settings.signal.account)
    if account is None:
        raise ConfigError(NO_ACCOUNT)
    found = [ok("account", f"{account.name} is linked{'' if account.number else ', without a phone number'}")]
    if bridge == "signal_cli" and len(await linking.accounts()) > 1:
        what = "signal-cli has several accounts: one that is added while Aldis runs loses messages until it is noticed"
        found.append(warning("account", what, "give each account a daemon of its own"))
    return account, found


async def _names(transport: SignalTransport) -> Mapping[str, str]:
    """Who stands behind a number, a UUID or the id of a group, as the account knows them."""
    names: dict[str, str] = {}
    for one in await transport.contacts():
        name, number = one.name or "a person without a name", one.number or "who hides their number"
        names |= {one.person: f"{name}, {number}", number: f"{name}, {one.person}"}
    invitations = {
        group.id: f"{group.name}, which Aldis joins while it runs" for group in await transport.invitations()
    }
    groups = {group.id: group.name or "a group without a name" for group in await transport.groups()}
    return names | invitations | groups


def _check_access(settings: Settings, names: Mapping[str, str] | None) -> Iterator[Finding]:
    """Who the people and groups on the lists are; `names` None: no one can be looked up."""
    access = settings.access
    if settings.signal.note_to_self:
        yield ok("access", "only what the account writes to itself is answered")
        return
    if not (access.allowed or access.admins or access.groups):
        yield problem("access", "no one may write", "set ACCESS__ALLOWED to your number or uuid")
    if EVERYBODY in access.allowed:
        yield warning("ACCESS__ALLOWED", "everyone may write, at your expense", "list those who may, and set budgets")
    if access.strangers == "pair" and not access.admins:
        yield warning("access", "strangers get a code, but there is no admin who could use it", "set ACCESS__ADMINS")
    lists = {"ACCESS__ALLOWED": access.allowed, "ACCESS__ADMINS": access.admins, "ACCESS__GROUPS": access.groups}
    how = "check for a typo (in a group's id upper and lower case matter); a person has to write once"
    for name, entries in lists.items() if names is not None else ():
        for entry in entries:
            if names and entry in names:
                yield ok(name, f"{entry} is {names[entry]}")
            elif entry != EVERYBODY:
                yield warning(name, f"{entry} is not known to the account", how)
