"""The model that answers: a key, a local server, or none for now; the list with prices, and a test question.

Keys are tried before they are kept, using what servers tell for free.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import get_args

from aiohttp import web

from bot.doctor.deps import Deps
from bot.doctor.findings import Finding
from bot.doctor.models import ask_models, find_servers, list_models
from bot.doctor.servers import ServerProbe
from bot.models.capabilities import NOTHING
from bot.models.prices import Price, published_prices
from bot.settings import ProviderName, Settings
from bot.web.admin.context import AdminContext, Changes, NotDone, refusing
from bot.web.admin.guard import form_of
from bot.web.admin.world import World

USUAL_SERVERS = (
    *(
        f"http://{host}:{port}/v1"
        for host in ("127.0.0.1", "host.docker.internal")
        for port in (11_434, 1_234, 8_000, 8_081)
    ),
    "http://ollama:11434/v1",
    "http://vllm:8000/v1",
)
"""Where Ollama, LM Studio, vLLM and llama.cpp listen: on this machine, on Docker's host, in the compose network."""

_MODEL = "/setup/model"
_MAX_LISTED = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """A model that can be chosen."""

    name: str
    window_tokens: int | None
    price: Price | None
    """None if unknown, as above."""
    is_chosen: bool


@asynccontextmanager
async def looking(world: World, settings: Settings) -> AsyncGenerator[Deps]:
    """Yields the doctor's parts for these settings, with open connections."""
    deps = world.deps(settings)
    async with deps.tool_deps.http:
        yield deps


class ModelPage:
    """The pages about the model."""

    def __init__(self, context: AdminContext) -> None:
        self._context = context

    def routes(self) -> list[web.RouteDef]:
        """Returns the paths of the pages."""
        return [
            web.get(_MODEL, self._show),
            web.post("/setup/model/key", self._take_key),
            web.post("/setup/model/server", self._take_server),
            web.post("/setup/model/choose", self._choose),
            web.post("/setup/model/none", self._go_without),
            web.post("/setup/model/test", self._test),
        ]

    async def _show(self, request: web.Request) -> web.Response:
        settings = self._context.world.settings
        vendor = settings.llm.providers_in_order[0]
        async with looking(self._context.world, settings) as deps:
            looked = None if vendor == "offline" else await list_models(vendor, settings, deps)
            found = await find_servers(deps, USUAL_SERVERS) if request.query.get("look") else None
        return self._context.page(
            request,
            "model",
            vendor=vendor,
            model=settings.llm.model_of(vendor).partition("/")[2],
            server=settings.llm.openai.base_url if vendor == "openai" else None,
            offers=_offers(looked, settings, vendor),
            findings=looked.findings if looked else (),
            found=found,
        )

    async def _take_key(self, request: web.Request) -> web.Response:
        form = form_of(request)
        vendor, key = form.get("vendor", ""), form.get("key", "").strip()
        if vendor not in {"anthropic", "openai"} or not key:
            raise NotDone(_MODEL, "Something is missing: choose, and fill in the field.")
        changes = {f"LLM__{vendor.upper()}__API_KEY": key, "LLM__PROVIDERS": vendor}
        return await self._try(
            request, vendor, changes | ({"LLM__OPENAI__BASE_URL": None} if vendor == "openai" else {})
        )

    async def _take_server(self, request: web.Request) -> web.Response:
        form = form_of(request)
        key = form.get("key", "").strip()
        changes = {
            "LLM__OPENAI__BASE_URL": form.get("url", "").strip() or None,
            "LLM__OPENAI__MODEL": form.get("model", "").strip() or None,
            "LLM__PROVIDERS": "openai",
        }
        return await self._try(request, "openai", changes | ({"LLM__OPENAI__API_KEY": key} if key else {}))

    async def _try(self, request: web.Request, vendor: str, changes: Changes) -> web.Response:
        """Keeps what was entered if the server accepts it."""
        with refusing(_MODEL):
            trial = self._context.world.file.preview(changes)
            async with looking(self._context.world, trial) as deps:
                looked = await list_models(vendor, trial, deps)
        if wrong := [finding for finding in looked.findings if finding.level == "problem"]:
            self._context.write_down(request, "model.refused", vendor)
            # Without its advice, which names variables: whoever sees this has just typed the value.
            raise NotDone(_MODEL, f"Nothing was saved: {wrong[0].words.rstrip('.')}.")
        if looked.names is None:
            await self._context.keep(request, _MODEL, changes)
            raise NotDone(
                _MODEL, "Saved, but the server lists no models: ask it something below to see whether one answers."
            )
        return await self._context.save(request, _MODEL, changes, "Saved: the server answers, and takes the key.")

    async def _choose(self, request: web.Request) -> web.Response:
        vendor, model = self._context.world.settings.llm.providers_in_order[0], form_of(request).get("model", "")
        if vendor == "offline" or not model:
            raise NotDone(_MODEL, "Something is missing: choose, and fill in the field.")
        return await self._context.save(
            request, _MODEL, {f"LLM__{vendor.upper()}__MODEL": model}, f"{model} answers from now on."
        )

    async def _go_without(self, request: web.Request) -> web.Response:
        return await self._context.save(
            request, _MODEL, {"LLM__PROVIDERS": "offline"}, "For now Aldis answers without a model."
        )

    async def _test(self, request: web.Request) -> web.Response:
        settings = self._context.world.settings
        self._context.write_down(request, "model.tested")
        async with looking(self._context.world, settings) as deps:
            found = await ask_models(settings, deps)
        if wrong := [finding for finding in found if finding.level == "problem"]:
            return self._context.wrong(request, _MODEL, _in_words(wrong[0]))
        if not found:
            raise NotDone(_MODEL, "For now Aldis answers without a model.")
        return self._context.done(request, _MODEL, f"It answers: {' '.join(map(_in_words, found))}")


def _offers(looked: ServerProbe | None, settings: Settings, vendor: ProviderName) -> list[Offer]:
    if looked is None or looked.names is None or vendor not in get_args(ProviderName):
        return []
    chosen = settings.llm.model_of(vendor).partition("/")[2] or next(iter(looked.names), "")
    names: dict[str, None] = dict.fromkeys([chosen] if chosen else [])
    names |= dict.fromkeys(looked.names[:_MAX_LISTED])
    told = {name: looked.told.get(name, NOTHING) for name in names}
    return [
        Offer(
            name=name,
            window_tokens=told[name].window_tokens,
            price=published_prices().of(name) or told[name].price,
            is_chosen=name == chosen,
        )
        for name in names
    ]


def _in_words(finding: Finding) -> str:
    advice = f" {finding.advice[:1].upper()}{finding.advice[1:]}" if finding.advice else ""
    return f"{finding.words}.{advice}"
