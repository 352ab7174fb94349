"""The first page: what needs doing, then today; and boxes for what only a person can do: captchas, safety numbers."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from bot.chat.captchas import PAGE as CAPTCHA_PAGE
from bot.doctor.findings import Level, wanting
from bot.errors import Disconnected
from bot.web.admin.forms import AdminPage, Ask, NotDone
from bot.web.admin.world import RunningParts
from store import StoreError

_MAX_REMINDERS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """One thing that needs doing, with one remedy."""

    level: Level
    what: str
    advice: str = ""
    path: str = ""
    """The page, or part of one, where it is done; empty if it is done elsewhere."""
    button: str = ""


async def _values(ask: Ask) -> dict[str, object]:
    running = ask.world.running
    tasks = sorted([task async for task in _tasks(ask)], key=lambda task: task.level != "problem")
    if running is None:
        return {"tasks": tasks, "today": None, "suspects": (), "wants_captcha": False}
    try:
        today, suspects = await _today(ask, running), await running.identities.look()
    except (Disconnected, StoreError) as error:
        tasks.insert(0, Task(level="problem", what=f"Something does not answer: {error}"))
        today, suspects = None, ()
    wants_captcha = getattr(running.transport, "challenge", None) is not None
    return {
        "tasks": tasks,
        "today": today,
        "suspects": suspects,
        "wants_captcha": wants_captcha,
        "captcha_page": CAPTCHA_PAGE,
    }


async def _tasks(ask: Ask) -> AsyncIterator[Task]:
    """What needs doing: one thing, one remedy."""
    world, running = ask.world, ask.world.running
    for path, title, is_done in world.steps[:-1]:
        if not is_done and path != "/setup/tools":
            yield Task(level="warning", what=f"Setup is not finished: {title}.", path=path, button=title)
    if running is None:
        if world.has_account or world.waits.ends_by != "link":
            path, button = ("", "") if world.has_account else ("/setup/account", "The account")
            what = f"Aldis does not answer yet: {world.waits.words}."
            yield Task(level="warning", what=what, path=path, button=button)
        return
    if getattr(running.transport, "challenge", None) is not None:
        what = "Signal wants a captcha solved before it sends anything."
        yield Task(level="problem", what=what, path="#captcha-title", button="Solve it")
    for words in await running.health.problems():
        yield Task(level="problem", what=words)
    for concern in running.health.watchdog.concerns:
        yield Task(level="problem" if concern.is_urgent else "warning", what=concern.words, advice=concern.advice)
    for finding in wanting(running.health.findings):
        yield Task(level=finding.level, what=finding.what, advice=finding.advice)


async def _today(ask: Ask, running: RunningParts) -> dict[str, object]:
    """What has happened since midnight, and what comes next."""
    settings, now = ask.settings, running.clock.now()
    midnight = now.astimezone(ZoneInfo(settings.locale.timezone)).replace(hour=0, minute=0, second=0, microsecond=0)
    messages, used, reminders = await running.store.read(
        lambda repos: (
            repos.turns.count_since(midnight),
            repos.ledger.usage(since=midnight),
            repos.reminders.due_times(),
        )
    )
    backups = (settings.store.path.absolute().parent / "backups").rglob("aldis-*.db")
    return {
        "messages": messages,
        "people": len({one.person for one in used if one.person is not None}),
        "cost_usd": sum((one.cost_usd for one in used), Decimal(0)),
        "model": settings.llm.model_of(settings.llm.providers_in_order[0]),
        "reminders": [due_at for _, due_at in reminders[:_MAX_REMINDERS]],
        "backed_up_at": max((datetime.fromtimestamp(one.stat().st_mtime, UTC) for one in backups), default=None),
        "running_for": now - (ask.world.began_at or now),
    }


async def _solve(ask: Ask) -> str:
    running = ask.running()
    await running.captchas.solve(ask.entry("captcha"))
    ask.write_down("captcha.handed_in")
    return "Signal accepted it. What was waiting is on its way."


async def _trust(ask: Ask) -> str:
    running, label = ask.running(), ask.entry("label")[:40]
    compared = " ".join(ask.entry("safety_number").split()) or None
    verdict = await running.identities.trust(label, safety_number=compared)
    if verdict.kind != "trusted":
        raise NotDone("That number is no longer the newest one. Look at it again.")
    ask.write_down("safety_number.trusted", label)
    return "The new number is trusted. What was waiting is on its way."


PAGE = AdminPage(path="/", template="overview", values=_values, actions={"captcha": _solve, "trust": _trust})
