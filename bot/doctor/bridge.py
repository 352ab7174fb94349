"""The bridge to Signal: whether it answers, which account it has, and who the people and groups of the settings are."""

import os
from collections.abc import Iterator, Mapping
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
from bot.signal.protocol import Bridge, Release, SignalTransport
from bot.signal.rest_api.client import check_about
from bot.signal.signal_cli.rpc import Rpc

_BRIDGE_LOG = "look in the bridge's log"

Names = Mapping[str, str]
"""Who stands behind a number, a UUID or the id of a group, as the account knows them."""


async def check_bridge(settings: Settings, deps: Deps, clock: Clock) -> tuple[Names | None, list[Finding]]:
    """Returns whom the account knows, where the bridge answers and has an account, and what was found."""
    url = settings.signal.url
    shown = without_password(url)
    try:
        bridge = await bridge_at(url, timeout_seconds=ASK_SECONDS)
    except ConfigError as error:
        return None, [problem("bridge", str(error), f"SIGNAL__URL is {shown}; it ends with the port, without a path")]
    except Disconnected as error:
        how = f"start the bridge, or say where it is: SIGNAL__URL is {shown}"
        if deps.is_contained and is_loopback(url):
            how = advice_on_address(url, "SIGNAL__URL", is_contained=True)
        elif url.startswith("unix:"):
            how = f"start signal-cli (first remove what a killed one left at {urlsplit(url).path}), and let user "
            how += f"{os.geteuid()} write to its socket: SIGNAL__URL is {shown}"
        return None, [problem("bridge", str(error), how)]
    try:
        found = await _check_release(bridge, url, clock)
        account, of_account = await _account(settings, deps, bridge)
    except (Disconnected, ConfigError) as error:
        return None, [problem("bridge", f"{bridge} does not say what it is or has: {error}", _BRIDGE_LOG)]
    found += of_account
    if account is None:
        return None, found
    transport = deps.transport(bridge, account)
    try:
        await transport.check_receiving()  # fetches nothing
        return await _names(transport), [*found, ok("bridge", "it lets Aldis receive")]
    except (Disconnected, ConfigError) as error:
        what = f"it does not let Aldis receive, or list its contacts and groups: {error}"
        return None, [*found, problem("bridge", what, _BRIDGE_LOG)]
    finally:
        await transport.aclose()


async def _check_release(bridge: Bridge, url: str, clock: Clock) -> list[Finding]:
    """Its name and version, and what is known of that version."""
    if bridge == "rest_api":
        answer = await fetch_json(f"{url}/v1/about")
        check_about(answer)
        version = text_in(answer, "version")
    else:
        version = await Rpc(url).version(timeout_seconds=ASK_SECONDS)
    release = Release(bridge=bridge, version=version)
    found = [ok("bridge", f"{release.name} at {without_password(url)}")]
    concerns = warnings(release, clock.wall().date())
    found += [(problem if one.is_urgent else warning)("bridge", one.words, one.advice) for one in concerns]
    if bridge == "rest_api":
        what = "it drops what comes while Aldis is not connected, and some of a burst"
        found.append(warning("bridge", what, "use signal-cli's own daemon, which loses neither"))
    return found


async def _account(settings: Settings, deps: Deps, bridge: Bridge) -> tuple[Account | None, list[Finding]]:
    """The account to answer for, where it is clear which, and what is to be said of it."""
    linking, wanted = deps.linking(bridge), settings.signal.account
    try:
        choice = await choice_of(linking, wanted)
        account = await linking.identify(choice.meant[0]) if len(choice.meant) == 1 and choice.meant[0].name else None
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
    if bridge == "signal_cli" and len(choice.all) > 1:
        what = "signal-cli has several accounts: one that is added while Aldis runs loses messages until it is noticed"
        found.append(warning("account", what, "give each account a daemon of its own"))
    return account, found


async def _names(transport: SignalTransport) -> Names:
    names: dict[str, str] = {}
    for contact in await transport.contacts():
        number, name = contact.number or "who hides their number", contact.name or "a person without a name"
        names |= {contact.person: f"{name}, {number}", number: f"{name}, {contact.person}"}
    names |= {group.id: f"{group.name}, which Aldis joins while it runs" for group in await transport.invitations()}
    return names | {
        group.id: f"{group.name or 'a group without a name'}, {len(group.members)} members"
        for group in await transport.groups()
    }


def check_access(settings: Settings, names: Names | None) -> Iterator[Finding]:
    """Yields who the people and groups on the lists are; `names` None: no one can be looked up."""
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
    if names is None:
        return
    lists = {"ACCESS__ALLOWED": access.allowed, "ACCESS__ADMINS": access.admins, "ACCESS__GROUPS": access.groups}
    for name, entry in ((name, entry) for name, entries in lists.items() for entry in entries if entry != EVERYBODY):
        if entry in names:
            yield ok(name, f"{entry} is {names[entry]}")
        else:
            how = "check for a typo (in a group's id upper and lower case matter); a person has to write once"
            yield warning(name, f"{entry} is not known to the account", how)
