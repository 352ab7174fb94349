"""The bridge to Signal and the account: whether it answers, which account it has, and whom it knows."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from bot.clock import Clock
from bot.doctor.deps import Deps
from bot.doctor.findings import Finding, join_words, ok, problem, warning
from bot.doctor.http import ASK_SECONDS, fetch_json
from bot.doctor.servers import advice_on_address, is_loopback, without_password
from bot.errors import ConfigError, Disconnected
from bot.events import Account
from bot.invocation import command_line
from bot.settings import Settings
from bot.signal.accounts import UNNAMED, Choice, choice_of
from bot.signal.bridge_versions import Bridge, Release, warnings
from bot.signal.detect import bridge_at
from bot.signal.json import text_in
from bot.signal.protocol import Contact, Group, Transport
from bot.signal.rest_api.about import check_about
from bot.signal.signal_cli.rpc import Rpc

_CLOCK_SKEW = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class BridgeState:
    """What the bridge knows."""

    contacts: tuple[Contact, ...]
    groups: tuple[Group, ...]
    invitations: tuple[Group, ...] = ()
    """The groups that the account is invited to."""


async def check_bridge(settings: Settings, deps: Deps, clock: Clock) -> tuple[BridgeState | None, list[Finding]]:
    """What the bridge knows, where it answers and has an account."""
    url, wanted = settings.signal.url, settings.signal.transport
    try:
        bridge = await bridge_at(url, timeout_seconds=ASK_SECONDS)
    except (Disconnected, ConfigError) as error:
        return None, [problem("bridge", str(error), _advice(error, url, is_contained=deps.is_contained))]
    found = await _described(bridge, url, clock)
    if wanted not in {"auto", bridge}:
        what = f"SIGNAL__TRANSPORT says {wanted}"
        found.append(problem("bridge", what, f"set it to {bridge}, or leave it out"))
    found += _losses(bridge)
    account, of_account = await _account(settings, deps, bridge)
    found += of_account
    if account is None:
        return None, found
    transport = deps.transport(bridge, account)
    try:
        signal, of_lists = await _asked(transport)
        if found[0].level != "problem":
            found.append(await _receiving(transport))
    finally:
        await transport.aclose()
    return signal, [*found, *of_lists]


def _advice(error: Disconnected | ConfigError, url: str, *, is_contained: bool) -> str:
    """What to do where no bridge answers at the address, or something else does."""
    shown = without_password(url)
    if isinstance(error, ConfigError):
        path = urlsplit(shown).path.rstrip("/")
        return f"leave out {path}: the address ends with the port" if path else f"SIGNAL__URL is {shown}"
    if is_contained and is_loopback(url):
        return advice_on_address(url, "SIGNAL__URL", is_contained=True)
    if url.startswith("unix:"):
        # Not taken away by --fix: a daemon that is just starting refuses for a moment, too.
        if _is_refused(error) and Path(path := urlsplit(url).path).is_socket():
            return f"{path} is left over from a signal-cli that was killed: remove it, then start signal-cli"
        return f"start the bridge, and let user {os.geteuid()} write to its socket: SIGNAL__URL is {shown}"
    return f"start the bridge, or say where it is: SIGNAL__URL is {shown}"


def _is_refused(error: BaseException | None) -> bool:
    """Whether nobody listens at the socket, for all that has come of it."""
    return error is not None and (isinstance(error, ConnectionRefusedError) or _is_refused(error.__cause__))


async def _described(bridge: Bridge, url: str, clock: Clock) -> list[Finding]:
    """Its name and version, whether its clock is ours, and what is known of the version."""
    try:
        release, date = await _release(bridge, url)
    except Disconnected as error:
        what = f"{bridge} does not report its version ({error})"
        return [problem("bridge", what, "look in the bridge's log")]
    except ConfigError as error:
        return [problem("bridge", str(error))]
    values = {"name": release.name, "url": without_password(url)}
    if date is not None and abs(date - clock.wall()) > _CLOCK_SKEW:
        found = warning(
            "bridge", "{name} at {url}; its clock and ours differ".format(**values), "set both clocks by NTP"
        )
    else:
        found = ok("bridge", "{name} at {url}".format(**values))
    return [found, *known_of(release, clock)]


def known_of(release: Release, clock: Clock) -> list[Finding]:
    """What is known of a release: that it is old, or bad."""
    concerns = warnings(release, clock.wall().date())
    return [(problem if one.is_urgent else warning)("bridge", one.words, one.advice) for one in concerns]


def _losses(bridge: Bridge) -> Iterator[Finding]:
    """What the bridge can lose."""
    if bridge == "rest_api":
        yield warning(
            "bridge",
            "signal-cli-rest-api is best effort: it drops what comes while Aldis is not connected, and some of a burst",
            "use signal-cli's own daemon, which loses neither (see docs/operating.md)",
        )


async def _release(bridge: Bridge, url: str) -> tuple[Release, datetime | None]:
    """What runs there, and what time it has; a socket tells no time, and is close by."""
    if bridge == "rest_api":
        answer, date = await fetch_json(f"{url}/v1/about")
        check_about(answer)
        return Release(bridge=bridge, version=text_in(answer, "version")), date
    return Release(bridge=bridge, version=await Rpc(url).version(timeout_seconds=ASK_SECONDS)), None


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
    if account is None:
        return None, [_no_account(choice, wanted)]
    found = [_named(account)]
    if bridge == "signal_cli" and len(choice.all) > 1:
        what = "signal-cli has several accounts: one that is added while Aldis runs loses messages until it is noticed"
        found.append(warning("account", what, "give each account a daemon of its own"))
    return account, found


def _named(account: Account) -> Finding:
    if account.id is None:
        what = f"{account.name} is linked, but the bridge does not report its id"
        return warning("account", what, "look in the bridge's log: people who hide their number cannot mention Aldis")
    how = "{name} is linked" if account.number else "{name} is linked, without a phone number"
    return ok("account", (how).format(name=account.name))


def _no_account(choice: Choice, wanted: str | None) -> Finding:
    """Why it is not clear which account is meant."""
    names = join_words(account.name or "one that it cannot name" for account in choice.all)
    if not choice.all:
        how = f"link one with: {command_line('link')}"
        return problem("account", "none is linked", how)
    if not choice.meant:
        what = f"the bridge does not have {wanted} (SIGNAL__ACCOUNT), but {names}"
        return problem("account", what, f"link it with `{command_line('link')}`, or name the one it has")
    if len(choice.meant) > 1:
        return problem(
            "account", f"the bridge has several: {names}", "name the one that Aldis answers for in SIGNAL__ACCOUNT"
        )
    return problem("account", "SIGNAL__ACCOUNT is missing", UNNAMED)


async def _asked(transport: Transport) -> tuple[BridgeState | None, list[Finding]]:
    try:
        signal = BridgeState(
            contacts=await transport.contacts(),
            groups=await transport.groups(),
            invitations=await transport.invitations(),
        )
    except (Disconnected, ConfigError) as error:
        what = f"it does not list its contacts and groups: {error}"
        return None, [problem("account", what, "look in the bridge's log")]
    return signal, []


async def _receiving(transport: Transport) -> Finding:
    """Whether messages would come, without fetching any."""
    try:
        await transport.check_receiving()
    except (Disconnected, ConfigError) as error:
        return problem("bridge", f"it does not let Aldis receive: {error}", "look in the bridge's log")
    return ok("bridge", "it lets Aldis receive")
