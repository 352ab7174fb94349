"""The bridge to Signal: whether it answers, which account it has, and who the people and groups of the settings are."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from bot.access.access import EVERYBODY
from bot.clock import Clock
from bot.doctor.findings import Deps, Finding, join_words, ok, problem, warning
from bot.doctor.servers import ASK_SECONDS, advice_on_address, fetch_json, is_loopback, without_password
from bot.errors import ConfigError, Disconnected
from bot.events import Account
from bot.invocation import command_line
from bot.settings import Settings
from bot.signal.bridges import bridge_at, warnings
from bot.signal.directory import UNNAMED, choice_of
from bot.signal.json import text_in
from bot.signal.protocol import Bridge, Contact, Group, Release
from bot.signal.rest_api.client import check_about
from bot.signal.signal_cli.rpc import Rpc

_BRIDGE_LOG = "look in the bridge's log"


@dataclass(frozen=True, kw_only=True, slots=True)
class BridgeState:
    """What the bridge knows."""

    contacts: tuple[Contact, ...]
    groups: tuple[Group, ...]
    invitations: tuple[Group, ...]
    """The groups that the account is invited to."""

    def contact(self, entry: str) -> Contact | None:
        """Returns who has that number or uuid."""
        return next((contact for contact in self.contacts if entry in {contact.person, contact.number}), None)


async def check_bridge(settings: Settings, deps: Deps, clock: Clock) -> tuple[BridgeState | None, list[Finding]]:
    """Returns what the bridge knows, where it answers and has an account, and what was found."""
    url = settings.signal.url
    shown = without_password(url)
    try:
        bridge = await bridge_at(url, timeout_seconds=ASK_SECONDS)
    except ConfigError as error:
        path = urlsplit(shown).path.rstrip("/")
        how = f"leave out {path}: the address ends with the port" if path else f"SIGNAL__URL is {shown}"
        return None, [problem("bridge", str(error), how)]
    except Disconnected as error:
        how = f"start the bridge, or say where it is: SIGNAL__URL is {shown}"
        if deps.is_contained and is_loopback(url):
            how = advice_on_address(url, "SIGNAL__URL", is_contained=True)
        elif url.startswith("unix:"):
            how = f"start signal-cli (first remove what a killed one left at {urlsplit(url).path}), and let user "
            how += f"{os.geteuid()} write to its socket: SIGNAL__URL is {shown}"
        return None, [problem("bridge", str(error), how)]
    found = await _check_release(bridge, url, clock)
    if bridge == "rest_api":
        what = "it drops what comes while Aldis is not connected, and some of a burst"
        found.append(warning("bridge", what, "use signal-cli's own daemon, which loses neither"))
    account, of_account = await _account(settings, deps, bridge)
    found += of_account
    if account is None:
        return None, found
    transport = deps.transport(bridge, account)
    refuses = "let Aldis receive"
    try:
        if found[0].level != "problem":
            await transport.check_receiving()  # fetches nothing
            found.append(ok("bridge", "it lets Aldis receive"))
        refuses = "list its contacts and groups"
        contacts, groups = await transport.contacts(), await transport.groups()
        return BridgeState(contacts=contacts, groups=groups, invitations=await transport.invitations()), found
    except (Disconnected, ConfigError) as error:
        return None, [*found, problem("bridge", f"it does not {refuses}: {error}", _BRIDGE_LOG)]
    finally:
        await transport.aclose()


async def _check_release(bridge: Bridge, url: str, clock: Clock) -> list[Finding]:
    """Its name and version, and what is known of that version."""
    try:
        if bridge == "rest_api":
            answer = await fetch_json(f"{url}/v1/about")
            check_about(answer)
            version = text_in(answer, "version")
        else:
            version = await Rpc(url).version(timeout_seconds=ASK_SECONDS)
    except Disconnected as error:
        return [problem("bridge", f"{bridge} does not report its version ({error})", _BRIDGE_LOG)]
    except ConfigError as error:
        return [problem("bridge", str(error))]
    release = Release(bridge=bridge, version=version)
    concerns = warnings(release, clock.wall().date())
    found = ok("bridge", f"{release.name} at {without_password(url)}")
    return [found, *((problem if one.is_urgent else warning)("bridge", one.words, one.advice) for one in concerns)]


async def _account(settings: Settings, deps: Deps, bridge: Bridge) -> tuple[Account | None, list[Finding]]:
    """The account to answer for, where it is clear which, and what is to be said of it."""
    linking, wanted = deps.linking(bridge), settings.signal.account
    try:
        choice = await choice_of(linking, wanted)
        account = await linking.identify(choice.meant[0]) if len(choice.meant) == 1 and choice.meant[0].name else None
    except (Disconnected, ConfigError) as error:
        return None, [problem("account", str(error))]
    finally:
        await linking.aclose()
    names, to_link = join_words(one.name or "one that it cannot name" for one in choice.all), command_line("link")
    if not choice.all:
        return None, [problem("account", "none is linked", f"link one with: {to_link}")]
    if not choice.meant:
        what = f"the bridge does not have {wanted} (SIGNAL__ACCOUNT), but {names}"
        return None, [problem("account", what, f"link it with `{to_link}`, or name the one it has")]
    if len(choice.meant) > 1:
        how = "name the one that Aldis answers for in SIGNAL__ACCOUNT"
        return None, [problem("account", f"the bridge has several: {names}", how)]
    if account is None:
        return None, [problem("account", "SIGNAL__ACCOUNT is missing", UNNAMED)]
    found = [ok("account", f"{account.name} is linked{'' if account.number else ', without a phone number'}")]
    if account.id is None:
        what = f"{account.name} is linked, but the bridge does not report its id"
        found = [warning("account", what, f"{_BRIDGE_LOG}: people who hide their number cannot mention Aldis")]
    if bridge == "signal_cli" and len(choice.all) > 1:
        what = "signal-cli has several accounts: one that is added while Aldis runs loses messages until it is noticed"
        found.append(warning("account", what, "give each account a daemon of its own"))
    return account, found


def check_access(settings: Settings, signal: BridgeState | None) -> Iterator[Finding]:
    """Yields who the people and groups on the lists are; `signal` None: no one can be looked up."""
    access = settings.access
    if settings.signal.note_to_self:
        yield ok("access", "only what the account writes to itself is answered")
        return
    if not (access.allowed or access.admins or access.groups):
        yield problem("access", "nobody may write", "set ACCESS__ALLOWED to your number or uuid")
    for name, entries in (("ACCESS__ALLOWED", access.allowed), ("ACCESS__ADMINS", access.admins)):
        yield from (_person(name, entry, signal) for entry in entries)
    yield from (_group(entry, signal, may_write=access.group_members_may_write) for entry in access.groups)
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
    if (contact := signal.contact(entry)) is None:
        return warning(name, f"{entry} is not known to the account", "ask them to write once, or check for a typo")
    other = contact.person if entry.startswith("+") else contact.number or "who hides their number"
    return ok(name, f"{entry} is {contact.name or 'a person without a name'}, {other}")


def _group(entry: str, signal: BridgeState | None, *, may_write: bool) -> Finding:
    """`may_write` tells whether the members may write directly, so that they have to be known."""
    name = "ACCESS__GROUPS"
    if entry == EVERYBODY:
        return ok(name, "in every group, the people listed may write")
    if signal is None:
        return warning(name, f"{entry} could not be looked up")
    if any(invited.id == entry for invited in signal.invitations):
        return ok(name, f"the account is invited to {entry}; Aldis joins it while it runs")
    group = next((group for group in signal.groups if group.id == entry), None)
    if group is None:
        known = ", ".join(f"{group.id} ({group.name})" for group in signal.groups) or "none"
        how = "invite it there, or correct the id: upper and lower case matter"
        return warning(name, f"the account is not in the group {entry}; it is in: {known}", how)
    what = f"{entry} is {group.name or 'a group without a name'}"
    if may_write and not group.members:
        return warning(name, f"{what}: none of its members may write directly, as the bridge does not name them")
    return ok(name, f"{what}, {len(group.members)} members")
