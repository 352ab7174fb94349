"""The bridge to Signal and the account: whether it answers, which account it has, and whom it knows."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from bot.clock import Clock
from bot.doctor import phrases
from bot.doctor.deps import Deps
from bot.doctor.findings import Finding, ok, problem, warning
from bot.doctor.http import ASK_SECONDS, fetch_json
from bot.doctor.phrases import AREA_ACCOUNT, AREA_BRIDGE
from bot.doctor.servers import advice_on_address, is_loopback, without_password
from bot.errors import ConfigError, Disconnected
from bot.events import Account
from bot.i18n.statements import WordList, Words, fill
from bot.invocation import command_line
from bot.settings import Settings
from bot.transports.base import Contact, Group, Transport
from bot.transports.bridge_versions import Bridge, Release, warnings
from bot.transports.detect import bridge_at
from bot.transports.envelope.accounts import UNNAMED, Choice, choice_of
from bot.transports.envelope.json import object_in, text_in
from bot.transports.refusals import words_of
from bot.transports.rest_api.about import check_about
from bot.transports.signal_cli.lines import is_socket
from bot.transports.signal_cli.rpc import Rpc

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
        return None, [problem(AREA_BRIDGE, words_of(error), _advice(error, url, is_contained=deps.is_contained))]
    found = await _described(bridge, url, clock)
    if wanted not in {"auto", bridge}:
        what = fill(phrases.FOUND_BRIDGE_OTHER, wanted=wanted)
        found.append(problem(AREA_BRIDGE, what, fill(phrases.FOUND_BRIDGE_OTHER_SET, bridge=bridge)))
    found += _losses(settings, bridge)
    account, of_account = await _account(settings, deps, bridge)
    found.append(of_account)
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


def _advice(error: Disconnected | ConfigError, url: str, *, is_contained: bool) -> Words:
    """What to do where no bridge answers at the address, or something else does."""
    shown = without_password(url)
    if isinstance(error, ConfigError):
        path = urlsplit(shown).path.rstrip("/")
        return fill(phrases.FOUND_BRIDGE_LEAVE_OUT, path=path) if path else fill(phrases.FOUND_BRIDGE_URL_IS, url=shown)
    if is_contained and is_loopback(url):
        return advice_on_address(url, "SIGNAL__URL", is_contained=True)
    if url.startswith("unix:"):
        # Not taken away by --fix: a daemon that is just starting refuses for a moment, too.
        if _is_refused(error) and Path(path := urlsplit(url).path).is_socket():
            return fill(phrases.FOUND_BRIDGE_LEFT_OVER, path=path)
        return fill(phrases.FOUND_BRIDGE_START_SOCKET, user=os.geteuid(), url=shown)
    return fill(phrases.FOUND_BRIDGE_START, url=shown)


def _is_refused(error: BaseException | None) -> bool:
    """Whether nobody listens at the socket, for all that has come of it."""
    return error is not None and (isinstance(error, ConnectionRefusedError) or _is_refused(error.__cause__))


async def _described(bridge: Bridge, url: str, clock: Clock) -> list[Finding]:
    """Its name and version, whether its clock is ours, and what is known of the version."""
    try:
        release, date = await _release(bridge, url)
    except Disconnected as error:
        what = fill(phrases.FOUND_BRIDGE_VERSIONLESS, bridge=bridge, error=error)
        return [problem(AREA_BRIDGE, what, phrases.FOUND_LOOK_BRIDGE_LOG)]
    except ConfigError as error:
        return [problem(AREA_BRIDGE, str(error))]
    values = {"name": release.name, "url": without_password(url)}
    if date is not None and abs(date - clock.wall()) > _CLOCK_SKEW:
        found = warning(AREA_BRIDGE, fill(phrases.FOUND_BRIDGE_CLOCK, **values), phrases.FOUND_BRIDGE_CLOCK_SET)
    else:
        found = ok(AREA_BRIDGE, fill(phrases.FOUND_BRIDGE_IS, **values))
    return [found, *known_of(release, clock)]


def known_of(release: Release, clock: Clock) -> list[Finding]:
    """What is known of a release: that it is old, or bad."""
    concerns = warnings(release, clock.wall().date())
    return [(problem if one.is_urgent else warning)(AREA_BRIDGE, one.words, one.advice) for one in concerns]


def _losses(settings: Settings, bridge: Bridge) -> Iterator[Finding]:
    """What the bridge can lose, by the way that is set."""
    has_webhook = settings.signal.webhook_secret is not None
    if bridge == "signal_cli" and has_webhook:
        yield warning(AREA_BRIDGE, phrases.FOUND_WEBHOOK_FOREIGN, phrases.FOUND_LEAVE_OUT)
    elif bridge == "rest_api" and has_webhook:
        yield warning(AREA_BRIDGE, phrases.FOUND_BRIDGE_DROPS, phrases.FOUND_BRIDGE_DROPS_LESS)
    elif bridge == "rest_api":
        yield warning(AREA_BRIDGE, phrases.FOUND_BRIDGE_DROPS_BURSTS, phrases.FOUND_BRIDGE_DROPS_BURSTS_LESS)
    if bridge == "signal_cli" and not is_socket(settings.signal.url):
        yield warning(AREA_BRIDGE, phrases.FOUND_BRIDGE_HTTP, phrases.FOUND_BRIDGE_HTTP_LESS)


async def _release(bridge: Bridge, url: str) -> tuple[Release, datetime | None]:
    """What runs there, and what time it has; a socket tells no time, and is close by."""
    if bridge == "rest_api":
        answer, date = await fetch_json(f"{url}/v1/about")
        check_about(answer)
        return Release(bridge=bridge, version=text_in(answer, "version")), date
    if not is_socket(url):
        answer, date = await fetch_json(f"{url}/api/v1/rpc", {"jsonrpc": "2.0", "id": 1, "method": "version"})
        return Release(bridge=bridge, version=text_in(object_in(answer, "result"), "version"), is_http=True), date
    rpc = Rpc(url)
    try:
        return Release(bridge=bridge, version=await rpc.version(timeout_seconds=ASK_SECONDS)), None
    finally:
        await rpc.aclose()


async def _account(settings: Settings, deps: Deps, bridge: Bridge) -> tuple[Account | None, Finding]:
    """The account to answer for, where it is clear which."""
    linking, wanted = deps.linking(bridge), settings.signal.account
    try:
        choice = await choice_of(linking, wanted)
        account = await linking.identify(choice.meant[0]) if len(choice.meant) == 1 and choice.meant[0].name else None
    except (Disconnected, ConfigError) as error:
        return None, problem(AREA_ACCOUNT, str(error))
    finally:
        await linking.aclose()
    if account is None:
        return None, _no_account(choice, wanted)
    if account.id is None:
        what = fill(phrases.FOUND_ACCOUNT_NO_ID, name=account.name)
        return account, warning(AREA_ACCOUNT, what, phrases.FOUND_ACCOUNT_NO_ID_LOOK)
    how = phrases.FOUND_ACCOUNT_LINKED if account.number else phrases.FOUND_ACCOUNT_NUMBERLESS
    return account, ok(AREA_ACCOUNT, fill(how, name=account.name))


def _no_account(choice: Choice, wanted: str | None) -> Finding:
    """Why it is not clear which account is meant."""
    names = WordList(tuple(account.name or phrases.FOUND_ACCOUNT_NAMELESS for account in choice.all))
    if not choice.all:
        how = fill(phrases.FOUND_ACCOUNT_LINK, command=command_line("link"))
        return problem(AREA_ACCOUNT, phrases.FOUND_ACCOUNT_NONE, how)
    if not choice.meant:
        what = fill(phrases.FOUND_ACCOUNT_NOT_THERE, wanted=wanted, names=names)
        return problem(AREA_ACCOUNT, what, fill(phrases.FOUND_ACCOUNT_LINK_OR_NAME, command=command_line("link")))
    if len(choice.meant) > 1:
        return problem(AREA_ACCOUNT, fill(phrases.FOUND_ACCOUNT_SEVERAL, names=names), phrases.FOUND_ACCOUNT_CHOOSE)
    return problem(AREA_ACCOUNT, phrases.FOUND_ACCOUNT_MISSING, UNNAMED)


async def _asked(transport: Transport) -> tuple[BridgeState | None, list[Finding]]:
    try:
        signal = BridgeState(
            contacts=await transport.contacts(),
            groups=await transport.groups(),
            invitations=await transport.invitations(),
        )
    except (Disconnected, ConfigError) as error:
        what = fill(phrases.FOUND_BRIDGE_LISTS_NOT, error=error)
        return None, [problem(AREA_ACCOUNT, what, phrases.FOUND_LOOK_BRIDGE_LOG)]
    return signal, []


async def _receiving(transport: Transport) -> Finding:
    """Whether messages would come, without fetching any."""
    try:
        await transport.check_receiving()
    except (Disconnected, ConfigError) as error:
        return problem(AREA_BRIDGE, fill(phrases.FOUND_BRIDGE_RECEIVES_NOT, error=error), phrases.FOUND_LOOK_BRIDGE_LOG)
    return ok(AREA_BRIDGE, phrases.FOUND_BRIDGE_RECEIVES)
