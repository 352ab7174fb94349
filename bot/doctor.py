"""The doctor: looks at everything that Aldis stands on, and says what is wrong and what to do about it.

    machine, store, bridge and account, access lists, models, tools, a running Aldis --> findings --> lines

It opens the store as a start would, asks the bridge for its lists, and sends nothing to anybody; a model is asked only
where that is wanted, for it costs money. Phone numbers and names are shown: they are the operator's own, on their own
terminal. Keys never are.
Left to others: making transports and providers (`bot.app` hands over how), the verb (`bot.cli`).
"""

import asyncio
import http.client
import json
import shutil
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Literal

from bot.clock import Clock
from bot.errors import ConfigError, Disconnected, ProviderError
from bot.messages import UserMessage
from bot.policy.access import EVERYBODY
from bot.providers.base import Provider, Request
from bot.settings import ProviderName, Settings
from bot.transports.base import Contact, Group, Linking, Transport
from bot.transports.bridge import Bridge, bridge_at, check_about
from bot.transports.frame import Json, as_object, items_in, object_in, text_in
from store import Store, StoreError, StoreInUse, opened
from tools import CATALOG, Options

_ASK_SECONDS = 10.0
_MODEL_SECONDS = 60.0
_LITTLE_ROOM_BYTES, _NO_ROOM_BYTES = 500_000_000, 50_000_000
_CLOCK_SKEW = timedelta(minutes=1)
_WRITTEN = datetime(2026, 11, 1, tzinfo=UTC)
"""No clock that is right shows an earlier time."""

_RESET_BUG_FIXED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))
"""From each of these on within its line, and from the last on in all later ones, several connections are safe.

Source: https://sqlite.org/wal.html#walresetbug (2026-11).
"""

_TELLING_COUNTS = (
    ("envelopes_undecryptable", "messages that could not be decrypted", "look into the log of the bridge"),
    (
        "numbers_changed",
        "listed numbers with another account than before",
        "stop Aldis and run the doctor: it says which",
    ),
    ("turns_buried", "answers that were given up", "look into the log of Aldis"),
    ("refused_too_many", "messages that were too many for their minute", ""),
    ("refused_queue_full", "messages that were too many to wait", ""),
)
"""The counts of the health page that the operator should know of, in words, and what to do."""

Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that was looked at."""

    level: Level
    what: str
    todo: str = ""
    """What the operator can do; empty where there is nothing to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Means:
    """How the parts are made that only `bot.app` names."""

    linking: Callable[[Bridge], Linking]
    transport: Callable[[Bridge, str], Transport]
    """Of a bridge and the account's number."""
    provider: Callable[[ProviderName], Provider]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Signal:
    """What the bridge knows."""

    contacts: tuple[Contact, ...]
    groups: tuple[Group, ...]


async def examined(settings: Settings, means: Means, clock: Clock, *, asks_models: bool = False) -> tuple[Finding, ...]:
    """Everything that was found, in the order in which it is looked at; `asks_models` costs a little money."""
    found = [_ok("settings: every variable is understood"), *_machine(settings, clock)]
    async with AsyncExitStack() as stack:
        store, is_held, of_store = await _store(settings, stack)
        signal, of_signal = await _bridge(settings, means, clock)
        found += [
            *of_store,
            _room(_free_bytes(settings)),
            *of_signal,
            *_lists(settings, signal),
            *await _pins(settings, store, signal),
        ]
    found += [*await _models(settings, means, asks_models=asks_models), *_tools(settings)]
    return (*found, *await _running(settings, is_expected=is_held))


def printed(findings: Iterable[Finding]) -> str:
    """A line for each finding, and one below it for what to do."""
    lines: list[str] = []
    for finding in findings:
        lines.append(f"{finding.level:<8} {_plain(finding.what)}")
        lines += [f"{'':<8} -> {finding.todo}"] if finding.todo else []
    return "\n".join(lines)


def exit_status(findings: Iterable[Finding]) -> int:
    """1 when there is a problem, else 0; warnings are for reading."""
    return int(any(finding.level == "problem" for finding in findings))


def _ok(what: str, todo: str = "") -> Finding:
    return Finding(level="ok", what=what, todo=todo)


def _warning(what: str, todo: str = "") -> Finding:
    return Finding(level="warning", what=what, todo=todo)


def _problem(what: str, todo: str = "") -> Finding:
    return Finding(level="problem", what=what, todo=todo)


def _plain(text: str) -> str:
    """On one line, and without what a terminal would obey: names are chosen by strangers."""
    return "".join(character if character.isprintable() else " " for character in text)


# The machine and the store


def _machine(settings: Settings, clock: Clock) -> Iterator[Finding]:
    if clock.now() < _WRITTEN:
        yield _problem("clock: it is wrong by months or years", "set the machine's clock; Signal needs it to be right")
    else:
        yield _ok(f"clock: {clock.now():%Y-%m-%d %H:%M} UTC, people's time zone is {settings.locale.timezone}")
    version = sqlite3.sqlite_version
    if _has_reset_bug(sqlite3.sqlite_version_info):
        yield _warning(
            f"SQLite {version}: it can damage a database that several programs have open; Aldis alone is safe",
            "open the database with nothing else while Aldis runs (no sqlite3, no litestream), or update SQLite",
        )
    else:
        yield _ok(f"SQLite {version}")


def _has_reset_bug(version: tuple[int, ...]) -> bool:
    line = [fixed for fixed in _RESET_BUG_FIXED if fixed[:2] == version[:2]]
    return version < (line[0] if line else _RESET_BUG_FIXED[-1])


async def _store(settings: Settings, stack: AsyncExitStack) -> tuple[Store | None, bool, list[Finding]]:
    """The open store, where it can be opened, and whether somebody else holds it."""
    given = settings.store
    if not given.path.exists():
        return None, False, [_ok(f"store: {given.path} is made at the first start")]
    opening = opened(given.path, realm="signal", key=given.master_key, old_key=given.old_master_key)
    try:
        store = await stack.enter_async_context(opening)
        inbox = await store.read(lambda shelves: shelves.inbox.backlog())
        guests = await store.read(lambda shelves: shelves.people.allowed())
    except StoreInUse:
        return None, True, [_ok(f"store: {given.path} is held by a running Aldis")]
    except StoreError as error:
        return None, False, [_problem(f"store: {error}", "put it right before the next start")]
    found = [_ok(f"store: {given.path} opens with its key, is whole, and has {_size(settings)}")]
    if inbox.dead:
        found.append(_warning(f"store: {inbox.dead} messages of the last weeks were given up", "look into the log"))
    if guests:
        found.append(_ok(f"store: {len(guests)} people were let in by a code", "an admin sees them with /people"))
    return store, False, found


def _room(free_bytes: int) -> Finding:
    what = f"disk: {free_bytes // 1_000_000:,} MB are free where the store is"
    if free_bytes < _NO_ROOM_BYTES:
        return _problem(what, "make room: without it Aldis takes no messages in")
    if free_bytes < _LITTLE_ROOM_BYTES:
        return _warning(what, "make room before it is full")
    return _ok(what)


def _free_bytes(settings: Settings) -> int:
    """What is free in the nearest folder that exists."""
    return shutil.disk_usage(next(place for place in settings.store.path.absolute().parents if place.exists())).free


def _size(settings: Settings) -> str:
    path = settings.store.path
    files = [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-keys")]
    return f"{sum(file.stat().st_size for file in files if file.exists()) / 1_000_000:,.1f} MB"


# The bridge and the account


async def _bridge(settings: Settings, means: Means, clock: Clock) -> tuple[_Signal | None, list[Finding]]:
    """What the bridge knows, where it answers and has an account."""
    url, wanted = settings.signal.url, settings.signal.transport
    try:
        bridge = await bridge_at(url, timeout_seconds=_ASK_SECONDS)
    except (Disconnected, ConfigError) as error:
        return None, [_problem(f"bridge: {error}", f"SIGNAL__URL is {url}")]
    found = [await _described(bridge, url, clock)]
    if wanted not in {"auto", bridge}:
        found.append(_problem(f"bridge: SIGNAL__TRANSPORT says {wanted}", f"set it to {bridge}, or leave it out"))
    if bridge == "rest_api":
        found.append(
            _warning(
                "bridge: signal-cli-rest-api drops what arrives while Aldis is not connected",
                "use signal-cli's own daemon (see the README) where nothing may be lost",
            )
        )
    account, of_account = await _account(settings, means, bridge)
    found.append(of_account)
    if account is None:
        return None, found
    signal, of_lists = await _asked(means.transport(bridge, account))
    return signal, [*found, *of_lists]


async def _described(bridge: Bridge, url: str, clock: Clock) -> Finding:
    """Its name and version, and whether its clock is ours."""
    try:
        if bridge == "signal_cli":
            answer, date = await _fetched(f"{url}/api/v1/rpc", {"jsonrpc": "2.0", "id": 1, "method": "version"})
            what = f"bridge: signal-cli {text_in(object_in(answer, 'result'), 'version') or 'of unknown version'}"
        else:
            answer, date = await _fetched(f"{url}/v1/about")
            check_about(answer)
            what = f"bridge: signal-cli-rest-api {text_in(answer, 'version')}"
    except (OSError, ValueError, http.client.HTTPException) as error:
        return _problem(f"bridge: {bridge} does not tell its version ({type(error).__name__})", "look into its log")
    except ConfigError as error:
        return _problem(f"bridge: {error}")
    if date is not None and abs(date - clock.now()) > _CLOCK_SKEW:
        return _warning(f"{what} at {url}; its clock and ours differ", "set both clocks by NTP")
    return _ok(f"{what} at {url}")


async def _account(settings: Settings, means: Means, bridge: Bridge) -> tuple[str | None, Finding]:
    """The account to answer for, where it is clear which."""
    linking = means.linking(bridge)
    try:
        accounts = await linking.accounts()
    except (Disconnected, ConfigError) as error:
        return None, _problem(f"account: {error}")
    finally:
        await linking.aclose()
    if not accounts:
        return None, _problem("account: none is linked", "link one with: python -m bot link")
    chosen, *others = (settings.signal.account,) if settings.signal.account else accounts
    if others:
        what = f"account: the bridge has several: {', '.join(accounts)}"
        return None, _problem(what, "name the one that Aldis answers for in SIGNAL__ACCOUNT")
    if chosen not in accounts:
        what = f"account: the bridge does not have {chosen} (SIGNAL__ACCOUNT), but {', '.join(accounts)}"
        return None, _problem(what, "link it with `python -m bot link`, or name the one that there is")
    return chosen, _ok(f"account: {chosen} is linked")


async def _asked(transport: Transport) -> tuple[_Signal | None, list[Finding]]:
    try:
        signal = _Signal(contacts=await transport.contacts(), groups=await transport.groups())
    except (Disconnected, ConfigError) as error:
        return None, [_problem(f"account: its contacts and groups are not told: {error}", "look into the bridge's log")]
    finally:
        await transport.aclose()
    return signal, []


async def _fetched(url: str, body: Json | None = None) -> tuple[Json, datetime | None]:
    """The JSON object at an address, and the time that its server shows."""

    def fetched() -> tuple[Json, datetime | None]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})  # noqa: S310 - http by its type
        # The machine's proxies have no business on the way to what is close by.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            answer = opener.open(request, timeout=_ASK_SECONDS)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            date = answer.headers["Date"]
            return as_object(json.load(answer)), parsedate_to_datetime(date) if date else None

    async with asyncio.timeout(_ASK_SECONDS):
        return await asyncio.to_thread(fetched)


# Who may write


def _lists(settings: Settings, signal: _Signal | None) -> Iterator[Finding]:
    access = settings.access
    if not (access.allowed or access.admins or access.groups):
        yield _problem("access: nobody may write", "set ACCESS__ALLOWED to your number or uuid")
    for name, entries in (("ACCESS__ALLOWED", access.allowed), ("ACCESS__ADMINS", access.admins)):
        yield from (_person(name, entry, signal) for entry in entries)
    yield from (_group(entry, signal, is_asked=access.group_members_may_write) for entry in access.groups)
    if access.strangers == "ignore":
        yield _ok("access: strangers are told nothing")
    elif access.admins:
        yield _ok("access: strangers get a code, with which an admin can let them in")
    else:
        yield _warning("access: strangers get a code, but nobody is an admin who could use it", "set ACCESS__ADMINS")


def _person(name: str, entry: str, signal: _Signal | None) -> Finding:
    if entry == EVERYBODY:
        return _warning(f"{name}: everybody may write, at your cost", "name people, and set budgets")
    if signal is None:
        return _warning(f"{name}: {entry} could not be looked up")
    contact = _contact(entry, signal)
    if contact is None:
        how = "" if entry.startswith("+") else ", or look for a typing error"
        return _warning(f"{name}: {entry} is not known to the account", f"have them write once{how}")
    other = contact.person if entry.startswith("+") else contact.number or "who hides their number"
    return _ok(f"{name}: {entry} is {contact.name or 'somebody without a name'}, {other}")


def _contact(entry: str, signal: _Signal) -> Contact | None:
    return next((contact for contact in signal.contacts if entry in {contact.person, contact.number}), None)


def _group(entry: str, signal: _Signal | None, *, is_asked: bool) -> Finding:
    """`is_asked` tells whether the members may write directly, so that they have to be known."""
    if entry == EVERYBODY:
        return _ok("ACCESS__GROUPS: in every group, those who are named may write")
    if signal is None:
        return _warning(f"ACCESS__GROUPS: {entry} could not be looked up")
    group = next((group for group in signal.groups if group.id == entry), None)
    if group is None:
        known = ", ".join(f"{group.id} ({group.name})" for group in signal.groups) or "none"
        what = f"ACCESS__GROUPS: the account is in no group {entry}; it is in: {known}"
        return _warning(what, "invite it there, or correct the id: upper and lower case matter")
    what = f"ACCESS__GROUPS: {entry} is {group.name or 'a group without a name'}, {len(group.members)} members"
    if is_asked and not group.members:
        return _warning(f"{what}: none may write directly, for the bridge does not tell who they are")
    return _ok(what)


async def _pins(settings: Settings, store: Store | None, signal: _Signal | None) -> list[Finding]:
    """The listed numbers behind which there is another account than there was."""
    if store is None:
        return []
    found: list[Finding] = []
    numbers = {entry: None for entry in (*settings.access.allowed, *settings.access.admins) if entry.startswith("+")}
    for number in numbers:
        contact = _contact(number, signal) if signal else None
        person = contact.person if contact else ""
        pin = await store.read(lambda shelves, number=number, person=person: shelves.people.pinned(number, person))
        if pin is not None and contact is not None and not pin.is_theirs:
            found.append(
                _problem(
                    f"access: {number} now belongs to another account than since {pin.since:%Y-%m-%d}; it is refused",
                    f"if that is right, put {person} into the list; else take the number out and put their uuid in",
                )
            )
        elif pin is not None and pin.refused_at is not None:
            what = f"access: on {pin.refused_at:%Y-%m-%d} another account came with {number}, and was refused"
            found.append(_warning(what, "ask who they are whether they have a new phone or account"))
    return found


# What answers


async def _models(settings: Settings, means: Means, *, asks_models: bool) -> list[Finding]:
    found: list[Finding] = []
    for name in settings.llm.providers_in_order:
        found.append(_model(settings, name))
        if asks_models and found[-1].level == "ok":
            found.append(await _answered(means.provider(name)))
    return found


def _model(settings: Settings, name: ProviderName) -> Finding:
    llm = settings.llm
    match name:
        case "anthropic":
            return _ok(f"models: anthropic has a key and is asked for {llm.anthropic.model}")
        case "openai":
            place = "" if llm.openai.is_openai_itself else f" at {llm.openai.base_url}"
            return _ok(f"models: openai{place} is asked for {llm.openai.chosen_model or 'its first model'}")
        case "offline":
            return _warning("models: no key is set, so no model answers, only the offline one", "set LLM__..._API_KEY")


async def _answered(provider: Provider) -> Finding:
    """Whether a very small question is answered."""
    request = Request(
        system="Answer with one word.",
        messages=(UserMessage(text="Are you there?"),),
        tools=(),
        may_call_tools=False,
        max_output_tokens=256,
        timeout_seconds=_MODEL_SECONDS,
        conversation="doctor",
    )
    try:
        answer = await provider.complete(request)
    except ProviderError as error:
        return _problem(f"models: {provider.name} does not answer: {type(error).__name__}: {error}")
    finally:
        await provider.aclose()
    cost = "an unknown amount" if answer.cost_usd is None else f"{answer.cost_usd} USD"
    what = f"models: {answer.provider} answered as {answer.model} in {answer.latency_seconds:.1f} s, for {cost}"
    return _warning(what, "set its price in BUDGET__PRICES") if answer.cost_usd is None else _ok(what)


def _tools(settings: Settings) -> Iterator[Finding]:
    if not settings.tools.enabled:
        yield _ok("tools: all are switched off", "TOOLS__ENABLED=true switches them on")
        return
    for name, entry in CATALOG.items():
        options = settings.tools.options_by_name.get(name) or entry.options()
        if options.enabled:
            yield _ok(f"tools: {name} is on", "; ".join(_unset(name, options)))
        else:
            yield _ok(f"tools: {name} is off", f"TOOLS__{name.upper()}__ENABLED=true switches it on")


def _unset(name: str, options: Options) -> Iterator[str]:
    """What could be set besides."""
    for field, info in type(options).model_fields.items():
        if getattr(options, field) is None:
            yield f"TOOLS__{name.upper()}__{field.upper()} is not set. {info.description or ''}".strip()


# A running Aldis


async def _running(settings: Settings, *, is_expected: bool) -> list[Finding]:
    """What the health page says; `is_expected` tells whether somebody holds the store."""
    web = settings.web
    if web.port == 0:
        return [_ok("running: the health page is switched off, so nothing is known of a running Aldis")]
    place = f"[{web.host}]" if ":" in web.host else web.host
    try:
        state, _ = await _fetched(f"http://{place}:{web.port}/healthz")
    except (OSError, ValueError, http.client.HTTPException):
        if is_expected:
            return [_warning(f"running: no health page answers at {place}:{web.port}", "look into the log of Aldis")]
        return [_ok("running: Aldis is not running, or not here")]
    problems = [problem for problem in items_in(state, "problems") if isinstance(problem, str)]
    if not problems:
        return [_ok("running: Aldis is well"), *_counted(object_in(state, "counts"))]
    return [*(_problem(f"running: {problem}") for problem in problems), *_counted(object_in(state, "counts"))]


def _counted(counts: Json) -> Iterator[Finding]:
    """What has been counted since the start and is worth a look."""
    for name, words, todo in _TELLING_COUNTS:
        count = counts.get(name)
        if isinstance(count, int) and count > 0:
            yield _warning(f"running: {words}: {count} since its start", todo)
