"""The first page: the state of Aldis, and boxes for what only a person can do: captchas and new safety numbers."""

from aiohttp import web

from bot.doctor.findings import wanting
from bot.errors import Disconnected
from bot.features.safety_numbers.service import Suspect
from bot.turn.captchas import PAGE as CAPTCHA_PAGE
from bot.turn.captchas import solution_in
from bot.web.admin.context import AdminContext, NotDone, refusing
from bot.web.admin.guard import form_of
from store import StoreError

_HOME = "/"


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
        if running is None:
            return "part_state", {"health": None, "findings": ()}
        health, state = await running.health.state(), await running.health.running_state()
        return "part_state", {
            "health": health,
            "problems": state.problems,
            "findings": wanting(state.findings),
            "release": running.health.release,
            "concerns": running.health.concerns,
        }

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
