"""The first page: what needs doing, then today, and boxes for what only a person can do (captchas, safety numbers);
and the page of usage: by day, person, model and tool, as bars with figures. People's names come from the bridge.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from bot.chat.captchas import PAGE as CAPTCHA_PAGE
from bot.doctor.findings import Level, wanting
from bot.errors import Disconnected
from bot.features.safety_numbers import TRUSTED
from bot.i18n.locale import day
from bot.i18n.phrases import duration
from bot.web.admin.forms import AdminPage, Ask, NotDone
from bot.web.admin.world import RunningParts
from store import SpentUsage, StoreError

_MAX_REMINDERS = 3
_DAYS, _MAX_BARS = 30, 8


@dataclass(frozen=True, slots=True)
class Task:
    """One thing that needs doing, with one remedy."""

    level: Level
    what: str
    advice: str = ""
    path: str = ""
    """The page, or part of one, where it is done; empty if it is done elsewhere."""
    button: str = ""


async def _values(ask: Ask) -> dict[str, object]:
    world = ask.world
    running = ask.world.running
    today = None
    suspects = ()
    tasks: list[Task] = []
    for path, title, is_done in world.steps[:-1]:
        if not is_done and path != "/setup/tools":
            tasks.append(Task("warning", f"Setup is not finished: {title}.", path=path, button=title))
    if running is None and (world.has_account or world.waits.ends_by != "link"):
        path, button = ("", "") if world.has_account else ("/setup/account", "The account")
        tasks.append(Task("warning", f"Aldis does not answer yet: {world.waits.words}.", path=path, button=button))
    wants_captcha = running is not None and running.health.watchdog.challenge is not None
    if wants_captcha:
        what = "Signal wants a captcha solved before it sends anything."
        tasks.append(Task("problem", what, path="#captcha-title", button="Solve it"))
    if running is not None:
        tasks += [Task("problem", words) for words in (await running.health.state())["problems"]]
        tasks += [Task(one.level, one.what, one.advice) for one in wanting(running.health.watchdog.findings)]
        try:
            today = await _today(ask, running)
            suspects = await running.identities.look()
        except (Disconnected, StoreError) as error:
            tasks.insert(0, Task("problem", f"Something does not answer: {error}"))
    tasks.sort(key=lambda task: task.level != "problem")
    boxes = {"suspects": suspects, "wants_captcha": wants_captcha, "captcha_page": CAPTCHA_PAGE}
    return {"tasks": tasks, "today": today, **boxes}


async def _today(ask: Ask, running: RunningParts) -> dict[str, object]:
    """What has happened since midnight, and what comes next."""
    settings, now = ask.settings, running.clock.now()
    midnight = now.astimezone(ZoneInfo(settings.locale.timezone)).replace(hour=0, minute=0, second=0, microsecond=0)
    messages, used, reminders = await running.store.read(
        lambda repos: (
            repos.turns.count_since(midnight),
            repos.ledger.usage(since=midnight),
            repos.reminders.next_times(_MAX_REMINDERS),
        )
    )
    backups = (settings.store.path.absolute().parent / "backups").rglob("aldis-*.db")
    return {
        "messages": messages,
        "people": len({one.person for one in used if one.person is not None}),
        "cost_usd": sum((one.cost_usd for one in used), Decimal(0)),
        "model": settings.llm.model_of(settings.llm.providers_in_order[0]),
        "reminders": reminders,
        "backed_up_at": max((datetime.fromtimestamp(one.stat().st_mtime, UTC) for one in backups), default=None),
        "running_for": duration((now - (ask.world.began_at or now)).total_seconds()),
    }


async def _solve(ask: Ask) -> str:
    running = ask.running()
    await running.captchas.solve(ask.entry("captcha"))
    ask.write_down("captcha.handed_in")
    return "Signal accepted it. What was waiting is on its way."


async def _trust(ask: Ask) -> str:
    running, label = ask.running(), ask.entry("label")[:40]
    outcome, _ = await running.identities.trust(label)
    if outcome is not TRUSTED:
        raise NotDone("That number is no longer the newest one. Look at it again.")
    ask.write_down("safety_number.trusted", label)
    return "The new number is trusted. What was waiting is on its way."


async def _usage_values(ask: Ask) -> dict[str, object]:
    running, used, names = ask.world.running, list[SpentUsage](), dict[bytes, str]()
    if running is not None:
        contacts = await running.audience.contacts() or ()
        since = running.clock.now() - timedelta(days=_DAYS)
        used, names = await running.store.read(
            lambda repos: (
                sorted(repos.ledger.usage(since=since), key=lambda one: one.day, reverse=True),
                {repos.ledger.keyring.handle(one.person): one.name or one.number or "?" for one in contacts},
            )
        )
    models = [one for one in used if one.kind == "model"]
    tools = [one for one in used if one.kind == "tool"]
    return {
        "days": _bars([one for one in used if one.cost_usd], lambda one: day(one.day)),
        "total": sum((one.cost_usd for one in used), Decimal(0)),
        "calls": sum(one.calls for one in models),
        "tokens": sum(one.input_tokens + one.output_tokens for one in models),
        "people": _largest(_bars(used, lambda one: names.get(one.person or b"", "unknown"))),
        "models": _largest(_bars(models, lambda one: one.name)),
        "tools": _largest(_bars(tools, lambda one: one.name, lambda one: Decimal(one.calls))),
    }


Bar = tuple[str, Decimal, float]
"""Its name, its value, and that as a percentage of the largest one."""


def _bars(
    used: Sequence[SpentUsage],
    key: Callable[[SpentUsage], str],
    amount: Callable[[SpentUsage], Decimal] = lambda one: one.cost_usd,
) -> list[Bar]:
    """The sums by key, in the order in which they come: of the cost, unless another amount is given."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for one in used:
        sums[key(one)] += amount(one)
    top = max(sums.values(), default=Decimal(0)) or Decimal(1)
    return [(name, value, round(float(value / top * 100), 1)) for name, value in sums.items()]


def _largest(found: Sequence[Bar]) -> Sequence[Bar]:
    return sorted(found, key=lambda bar: (-bar[1], bar[0]))[:_MAX_BARS]


PAGE = AdminPage(path="/", template="overview", values=_values, actions={"captcha": _solve, "trust": _trust})
USAGE = AdminPage(path="/usage", template="usage", values=_usage_values)
