"""The first page: what needs doing, then today; and boxes for what only a person can do: captchas, safety numbers."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from aiohttp import web

from bot.chat.captchas import PAGE as CAPTCHA_PAGE
from bot.chat.captchas import solution_in
from bot.doctor.findings import Level, wanting
from bot.errors import Disconnected
from bot.features.safety_numbers.service import Suspect
from bot.web.admin.context import AdminContext, NotDone, refusing
from bot.web.admin.guard import form_of
from bot.web.admin.world import RunningParts
from store import StoreError

_HOME = "/"
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Today:
    """What has happened since midnight, and what comes next."""

    messages: int
    people: int
    cost_usd: Decimal
    model: str
    reminders: tuple[datetime, ...]
    """When the next ones are due."""
    backed_up_at: datetime | None
    running_for: timedelta


class Overview:
    """The first page."""

    def __init__(self, context: AdminContext) -> None:
        self._context = context
        context.add_fragment("state", self._state)

    def routes(self) -> list[web.RouteDef]:
        """Returns its paths."""
        return [
            web.get(_HOME, self._show),
            web.post("/captcha", self._solve),
            web.post("/trust", self._trust),
        ]

    async def _show(self, request: web.Request) -> web.Response:
        suspects, is_silent = await self._suspects()
        return self._context.page(
            request,
            "overview",
            state=await self._context.fragment(request, "state"),
            suspects=suspects,
            is_silent=is_silent,
            captcha_page=CAPTCHA_PAGE,
            wants_captcha=self._context.world.running is not None
            and self._context.world.running.transport.challenge is not None,
        )

    async def _state(self) -> tuple[str, dict[str, object]]:
        running = self._context.world.running
        tasks = sorted([task async for task in self._tasks(running)], key=lambda task: task.level != "problem")
        return "part_state", {"tasks": tasks, "today": None if running is None else await self._today(running)}

    async def _tasks(self, running: RunningParts | None) -> AsyncIterator[Task]:
        """What needs doing: one thing, one remedy."""
        world = self._context.world
        for path, title, is_done in self._context.steps()[:-1]:
            if not is_done and path != "/setup/tools":
                yield Task(level="warning", what=f"Setup is not finished: {title}.", path=path, button=title)
        if running is None:
            if world.has_account or not world.is_unlinked:
                path, button = ("", "") if world.has_account else ("/setup/account", "The account")
                what = f"Aldis does not answer yet: {world.waits_for}."
                yield Task(level="warning", what=what, path=path, button=button)
            return
        if running.transport.challenge is not None:
            what = "Signal wants a captcha solved before it sends anything."
            yield Task(level="problem", what=what, path="#captcha-title", button="Solve it")
        state = await running.health.running_state()
        for words in state.problems:
            yield Task(level="problem", what=words)
        for concern in running.health.concerns:
            yield Task(level="problem" if concern.is_urgent else "warning", what=concern.words, advice=concern.advice)
        for finding in wanting(state.findings):
            yield Task(level=finding.level, what=finding.what, advice=finding.advice)

    async def _today(self, running: RunningParts) -> Today | None:
        settings = self._context.world.settings
        now = running.clock.now()
        midnight = now.astimezone(ZoneInfo(settings.locale.timezone)).replace(hour=0, minute=0, second=0, microsecond=0)
        try:
            messages, used, reminders = await running.store.read(
                lambda repos: (
                    repos.turns.count_since(midnight),
                    repos.ledger.usage(since=midnight),
                    repos.reminders.due_times(),
                )
            )
        except StoreError:
            return None
        backups = (settings.store.path.absolute().parent / "backups").rglob("aldis-*.db")
        return Today(
            messages=messages,
            people=len({one.person for one in used if one.person is not None}),
            cost_usd=sum((one.cost_usd for one in used), Decimal(0)),
            model=settings.llm.model_of(settings.llm.providers_in_order[0]),
            reminders=tuple(due_at for _, due_at in reminders[:_MAX_REMINDERS]),
            backed_up_at=max((datetime.fromtimestamp(one.stat().st_mtime, UTC) for one in backups), default=None),
            running_for=now - (self._context.world.began_at or now),
        )

    async def _suspects(self) -> tuple[tuple[Suspect, ...], bool]:
        """The people whose safety number is not trusted, and whether the bridge could not be asked."""
        running = self._context.world.running
        if running is None:
            return (), False
        try:
            return await running.identities.look(), False
        except (Disconnected, StoreError):
            return (), True

    async def _solve(self, request: web.Request) -> web.Response:
        running, pasted = self._context.running(_HOME), form_of(request).get("captcha", "")
        if solution_in(pasted) is None:
            raise NotDone(
                _HOME,
                (
                    "That is not a solved captcha. Copy the whole link behind “Open Signal”; it begins "
                    "with signalcaptcha://"
                ),
            )
        self._context.write_down(request, "captcha.handed_in")
        with refusing(_HOME):
            await running.captchas.solve(pasted)
        return self._context.done(request, _HOME, "Signal accepted it. What was waiting is on its way.")

    async def _trust(self, request: web.Request) -> web.Response:
        running, label = self._context.running(_HOME), form_of(request).get("label", "")
        compared = " ".join(form_of(request).get("safety_number", "").split()) or None
        self._context.write_down(request, "safety_number.trusted", label[:40])
        with refusing(_HOME):
            verdict = await running.identities.trust(label, safety_number=compared)
        if verdict.kind != "trusted":
            raise NotDone(_HOME, "That number is no longer the newest one. Look at it again.")
        return self._context.done(request, _HOME, "The new number is trusted. What was waiting is on its way.")
