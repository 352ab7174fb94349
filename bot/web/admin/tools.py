"""The tools: what each costs, needs and tells whom; turning them on and off, search keys, and how long messages are
kept.
"""

import asyncio
from dataclasses import dataclass
from decimal import Decimal

from aiohttp import web

from bot.doctor.search import check_search
from bot.doctor.tools import ToolGroup, inventory
from bot.web.admin.context import AdminContext, NotDone, refusing
from bot.web.admin.guard import form_of
from bot.web.admin.model import looking
from bot.web.admin.trial import may_be_tried
from tools import CATALOG, SearchOptions

_TOOLS = "/setup/tools"
_SERVERS_SECONDS = 5.0
"""For servers that offer tools; a page without these is better than none."""

_ABOUT = {
    "calculator": "Works sums out exactly.",
    "weather": "Tells the weather of a place, now and for the next days, with air quality and pollen, also as a chart.",
    "clock": "Tells the time anywhere in the world.",
    "convert": "Converts units and currencies.",
    "web_search": "Searches the web, or Wikipedia where no search service is set up.",
    "verify_news": "Gathers evidence for and against a claim by several searches.",
    "twitter": "Searches posts on X.",
    "wikipedia": "Reads articles of Wikipedia.",
    "markets": "Looks up prediction markets: what traders think is likely.",
    "news": "Searches what the news feeds of your choice have reported.",
    "web_fetch": "Reads web pages and PDFs.",
    "images": "Draws pictures.",
    "db_query": "Looks things up in your own databases, without changing anything.",
    "mcp": "Offers what MCP servers of your choice can do.",
    "remind": "Reminds people of something, once or again and again.",
    "remember": "Remembers what people want remembered about themselves.",
    "predictions": "Records what people predict, and how often they were right.",
}
"""What a group of tools does; of one that is not listed, the first sentence that models are given is shown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A group of tools as the page lists it."""

    group: ToolGroup
    about: str
    """What they do, in a sentence; empty if unknown."""
    cost_usd: Decimal
    asks: bool
    """Whether it has an effect, so that it can ask first."""
    trials: tuple[str, ...]
    """The tools in it that can be tried."""
    seen_by: tuple[str, ...] | None
    """Who outside sees what is asked; None if unknown."""


class ToolPage:
    """The page of the tools."""

    def __init__(self, context: AdminContext) -> None:
        self._context = context

    def routes(self) -> list[web.RouteDef]:
        """Returns the paths of the page."""
        return [
            web.get(_TOOLS, self._show),
            web.post("/setup/tools/switch", self._switch),
            web.post("/setup/tools/key", self._take_key),
            web.post("/setup/tools/retention", self._set_retention),
        ]

    async def _show(self, request: web.Request) -> web.Response:
        settings = self._context.world.settings
        groups = inventory(settings, self._context.world.deps(settings).tool_deps)
        asked = await self._asked() if any(group.state == "on" and not group.tools for group in groups) else ()
        search = settings.tools.options_by_name["web_search"]
        return self._context.page(
            request,
            "tools",
            rows=[_row(group, asked) for group in groups],
            searches=[
                {"name": name, "service": service, "is_set": getattr(search, _field(name), None) is not None}
                for name, service in SearchOptions.services().items()
            ],
            retention=settings.history.retention_days,
        )

    async def _asked(self) -> tuple[str, ...]:
        """The tools that are known only by asking their servers, as far as they can be tried."""
        running = self._context.world.running
        if running is None:
            return ()
        try:
            async with asyncio.timeout(_SERVERS_SECONDS):
                offers = await running.toolbox.offers()
        except TimeoutError:
            return ()
        specs = (running.toolbox.spec(offer.name) for offer in offers)
        return tuple(spec.name for spec in specs if spec is not None and spec.server and may_be_tried(spec))

    async def _switch(self, request: web.Request) -> web.Response:
        form, settings = form_of(request), self._context.world.settings
        name, is_on = form.get("tool", ""), form.get("to") == "on"
        if name not in settings.tools.options_by_name:
            raise NotDone(_TOOLS, "There is no such tool.")
        changes = {f"TOOLS__{name.upper()}__ENABLED": "true" if is_on else "false"}
        return await self._context.save(request, _TOOLS, changes)

    async def _take_key(self, request: web.Request) -> web.Response:
        """Keeps a key if its service accepts it; an empty one removes it."""
        form = form_of(request)
        name, value = form.get("name", ""), form.get("value", "").strip() or None
        service = SearchOptions.services().get(name)
        if service is None:
            raise NotDone(_TOOLS, "There is no such tool.")
        if value is not None:
            with refusing(_TOOLS):
                trial = self._context.world.file.preview({name: value})
                async with looking(self._context.world, trial) as deps:
                    found = await check_search(trial, deps)
            wrong = [one for one in found if one.level == "problem" and service in one.what]
            if wrong:
                self._context.write_down(request, "key.refused", name)
                raise NotDone(_TOOLS, f"It was refused: {wrong[0].what}")
        return await self._context.save(request, _TOOLS, {name: value})

    async def _set_retention(self, request: web.Request) -> web.Response:
        days = form_of(request).get("days", "").strip() or None
        return await self._context.save(request, _TOOLS, {"HISTORY__RETENTION_DAYS": days})


def _field(variable: str) -> str:
    return variable.rpartition("__")[2].lower()


def _row(group: ToolGroup, asked: tuple[str, ...]) -> Row:
    """A row of the page; `asked` are the tools of a group that are known only by asking servers."""
    return Row(
        group=group,
        about=_ABOUT.get(group.name) or _first_sentence(group),
        cost_usd=max((tool.spec.cost_usd for tool in group.tools), default=Decimal(0)),
        asks=any(tool.spec.effects != "none" for tool in group.tools),
        trials=_trials(group, asked),
        seen_by=group.seen_by,
    )


def _first_sentence(group: ToolGroup) -> str:
    if group.tools:
        return group.tools[0].spec.description.partition(". ")[0].rstrip(".") + "."
    return CATALOG[group.name].summary if group.name in CATALOG else ""


def _trials(group: ToolGroup, asked: tuple[str, ...]) -> tuple[str, ...]:
    if group.state != "on":
        return ()
    return tuple(tool.spec.name for tool in group.tools if may_be_tried(tool.spec)) if group.tools else asked
