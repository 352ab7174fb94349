"""The tools: what each costs, needs and tells whom; turning them on and off, search keys, and how long messages are
kept.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from aiohttp import web

from bot.doctor.search import check_search
from bot.doctor.tools import ToolGroup, inventory
from bot.i18n.catalogues import Sentence
from bot.i18n.statements import Words, fill
from bot.web.admin import phrases
from bot.web.admin.context import AdminContext, NotDone, refusing
from bot.web.admin.guard import form_of
from bot.web.admin.model import looking
from bot.web.admin.pages import words
from bot.web.admin.trial import may_be_tried
from tools import CATALOG, SearchOptions

_TOOLS = "/setup/tools"
_SERVERS_SECONDS = 5.0
"""For servers that offer tools; a page without these is better than none."""

_SEEN: Mapping[str, Sentence] = {
    sentence.text: sentence
    for sentence in (
        phrases.PAGE_SEEN_RATES,
        phrases.PAGE_SEEN_OWN_POSTGRES,
        phrases.PAGE_SEEN_QUESTION,
        phrases.PAGE_SEEN_SEARCHERS,
        phrases.PAGE_SEEN_CLAIM,
        phrases.PAGE_SEEN_DESCRIPTION,
        phrases.PAGE_SEEN_CALL,
        phrases.PAGE_SEEN_ASKERS,
        phrases.PAGE_SEEN_INSTEAD,
        phrases.PAGE_SEEN_PLACE,
        phrases.PAGE_SEEN_SITE,
    )
}
"""By what the tools say in English, to the shell and the docs (`Options.seen_by`)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A group of tools as the page lists it."""

    group: ToolGroup
    about: str
    """What they do: a sentence of ours, or the first one that models are told about them, in English."""
    is_own: bool
    """Whether Aldis itself brings them, so that `about` is in the page's language."""
    cost_usd: Decimal
    asks: bool
    """Whether it has an effect, so that it can ask first."""
    trials: tuple[str, ...]
    """The tools in it that can be tried."""
    seen_by: tuple[Words, ...] | None
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
            raise NotDone(_TOOLS, "TOOL_UNKNOWN")
        changes = {f"TOOLS__{name.upper()}__ENABLED": "true" if is_on else "false"}
        return await self._context.save(request, _TOOLS, changes)

    async def _take_key(self, request: web.Request) -> web.Response:
        """Keeps a key if its service accepts it; an empty one removes it."""
        form = form_of(request)
        name, value = form.get("name", ""), form.get("value", "").strip() or None
        service = SearchOptions.services().get(name)
        if service is None:
            raise NotDone(_TOOLS, "TOOL_UNKNOWN")
        if value is not None:
            with refusing(_TOOLS):
                trial = self._context.world.file.preview({name: value})
                async with looking(self._context.world, trial) as deps:
                    found = await check_search(trial, deps)
            wrong = [one for one in found if one.level == "problem" and service in one.what]
            if wrong:
                self._context.write_down(request, "key.refused", name)
                raise NotDone(_TOOLS, "REFUSED", words=wrong[0].what)
        return await self._context.save(request, _TOOLS, {name: value})

    async def _set_retention(self, request: web.Request) -> web.Response:
        days = form_of(request).get("days", "").strip() or None
        return await self._context.save(request, _TOOLS, {"HISTORY__RETENTION_DAYS": days})


def _field(variable: str) -> str:
    return variable.rpartition("__")[2].lower()


def _row(group: ToolGroup, asked: tuple[str, ...]) -> Row:
    """A row of the page; `asked` are the tools of a group that are known only by asking servers."""
    is_own = group.name in CATALOG
    return Row(
        group=group,
        about=words(f"ABOUT_{group.name.upper()}") if is_own else _first_sentence(group),
        is_own=is_own,
        cost_usd=max((tool.spec.cost_usd for tool in group.tools), default=Decimal(0)),
        asks=any(tool.spec.effects != "none" for tool in group.tools),
        trials=_trials(group, asked),
        seen_by=None if group.seen_by is None else tuple(map(_seen, group.seen_by)),
    )


def _seen(told: str) -> Words:
    """Who sees what, as the page says it; names, and what other people's tools say, stay as they are."""
    who, colon, what = told.partition(": ")
    if colon and what in _SEEN:
        return fill(phrases.PAGE_SEEN, who=_SEEN.get(who, who), what=_SEEN[what])
    return _SEEN.get(told, told)


def _first_sentence(group: ToolGroup) -> str:
    return group.tools[0].spec.description.partition(". ")[0].rstrip(".") + "." if group.tools else ""


def _trials(group: ToolGroup, asked: tuple[str, ...]) -> tuple[str, ...]:
    if group.state != "on":
        return ()
    return tuple(tool.spec.name for tool in group.tools if may_be_tried(tool.spec)) if group.tools else asked
