"""The models: the configured providers in their order, what they cost, and what is learnt about them.

A vendor's SDK is imported with the provider that needs it: each costs up to a second and 55 MB.

    start           --> every model that may be asked -----> lessons --> the adapters, the room of a turn
    first answer    --> that model again: a server at home loads it then, and knows its real window only afterwards

No turn waits for a lesson; earlier knowledge applies until there is an answer.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from importlib import import_module
from typing import Any, cast

from bot.chat.journal import ToolRun
from bot.clock import Clock
from bot.doctor.models import ANTHROPIC_URL, OPENAI_URL, checked_server
from bot.doctor.servers import ask_capabilities
from bot.errors import ConfigError, ProviderError
from bot.metrics import Counts
from bot.models.base import Completion, Provider
from bot.models.capabilities import LESSON, NOTHING, Capabilities, ModelLessons
from bot.models.fallback import Fallback
from bot.models.more_tools import MoreTools
from bot.models.prices import Price, PricedModel, Prices, published_prices, unknown_price
from bot.money.budgets import limits_anything
from bot.settings import BudgetSettings, Settings
from store import Store, StoreError
from tools import Http, ImagesOptions

_log = logging.getLogger(__name__)

_KEPT = timedelta(days=30)
"""When it is learnt again, because the server was probably updated, or has another model under the same name."""


def provider(
    settings: Settings,
    lessons: ModelLessons | None = None,
    *,
    on_error: Sequence[Callable[[ProviderError], None]] = (),
    on_answer: Sequence[Callable[[Completion], None]] = (),
) -> Provider:
    """The providers in their order, and those of the other models that people can choose.

    `lessons` is what was learnt about models earlier; the callbacks receive each failed try and each answer.
    """
    llm = settings.llm
    providers = {
        llm.model_of(name): _offering(vendor(settings, name, lessons=lessons)) for name in llm.providers_in_order
    }
    others = [choice for choice in llm.choices if choice not in providers]
    chosen = {choice: _offering(vendor(settings, *choice.split("/", 1), lessons=lessons)) for choice in others}
    return Fallback(
        [*providers.values()],
        choices=providers | chosen,
        on_error=lambda error: [note(error) for note in on_error],
        on_answer=lambda completion: [note(completion) for note in on_answer],
    )


def has_model(settings: Settings) -> bool:
    """Whether a language model answers, rather than the forms that are understood without one."""
    return set(settings.llm.providers_in_order) != {"offline"}


def _offering(provider: Provider) -> Provider:
    """The provider with a list of rarely used tools; the one without a model knows all of them."""
    return provider if provider.name == "offline" else MoreTools(provider)


def import_sdks(settings: Settings) -> None:
    """Imports the SDKs of the providers in use. It takes a second or more, so run it in a thread beside other work."""
    for name in {choice.partition("/")[0] for choice in (*settings.llm.providers_in_order, *settings.llm.choices)}:
        import_module(f"bot.models.{name}")


def vendor(settings: Settings, name: str, model: str | None = None, *, lessons: ModelLessons | None = None) -> Provider:
    """A provider for its configured model, or for another of its models."""
    llm = settings.llm
    lessons = lessons or ModelLessons()
    server = _servers(settings).get(name, "")

    def asks(model: str) -> Price | None:
        return lessons.capabilities(server, model).price

    match name:
        case "anthropic":
            from bot.models.anthropic import Anthropic

            key = llm.anthropic.api_key
            return Anthropic(
                api_key=key.get_secret_value() if key else "",
                model=model or llm.anthropic.model,
                base_url=llm.anthropic.base_url,
                effort=llm.anthropic.effort,
                lessons=lessons,
                prices=replace(prices(settings), asks=asks),
            )
        case "openai":
            from bot.models.openai import OpenAI

            key = llm.openai.api_key
            return OpenAI(
                api_key=key.get_secret_value() if key else None,
                model=model or llm.openai.chosen_model,
                base_url=llm.openai.base_url,
                api=llm.openai.api,
                effort=llm.openai.effort,
                sees=llm.openai.surely_sees,
                tool_mode=llm.openai.tool_mode,
                lessons=lessons,
                prices=replace(prices(settings), asks=asks),
            )
        case _:
            from bot.models.offline import Offline

            return Offline()


def server_of(settings: Settings) -> Callable[[str | None], tuple[str, str] | None]:
    """Maps a choice (`provider/model`, None for the first one) to a server and a model; None if there is no server.

    The model's name is empty if the server chooses it itself.
    """
    first, servers = settings.llm.models_to_choose[0], _servers(settings)

    def server(model: str | None) -> tuple[str, str] | None:
        provider, _, name = (model or first).partition("/")
        return (servers[provider], name) if provider in servers else None

    return server


def _servers(settings: Settings) -> Mapping[str, str]:
    """The address of each vendor's server."""
    llm = settings.llm
    return {"anthropic": llm.anthropic.base_url or ANTHROPIC_URL, "openai": llm.openai.base_url or OPENAI_URL}


def known_models(settings: Settings, lessons: ModelLessons) -> Callable[[str | None], Capabilities]:
    """What is known about a choice, as in `server_of`: what its server says, at the price that counts."""
    server, own = server_of(settings), prices(settings)

    def known(model: str | None) -> Capabilities:
        place = server(model)
        if place is None:
            return NOTHING
        found = lessons.capabilities(*place)
        return found.model_copy(update={"price": own.of(place[1]) or found.price})

    return known


def priced_models(settings: Settings, lessons: ModelLessons) -> Callable[[str | None], PricedModel | None]:
    """Maps a choice, as in `server_of`, to a model with its price; None if unknown."""
    known, first = known_models(settings, lessons), settings.llm.models_to_choose[0]

    def priced(model: str | None) -> PricedModel | None:
        provider, _, name = (model or first).partition("/")
        price = known(model).price
        return None if price is None else PricedModel(provider=provider, name=name, price=price)

    return priced


def unpriced_models(settings: Settings) -> tuple[str, ...]:
    """The models in use with an unknown price; an empty name stands for one that a server chooses itself."""
    llm, known = settings.llm, prices(settings)
    asked = (llm.model_of(name) for name in llm.providers_in_order if name != "offline")
    models = dict.fromkeys(name.partition("/")[2] for name in (*asked, *llm.choices))
    return tuple(model for model in models if known.of(model) is None)


def prices(settings: Settings) -> Prices:
    """The known prices: those vendors publish, and the operator's own.

    Raises:
        ConfigError: the operator's file is not a table of prices.
    """
    return published_prices().with_file(settings.budget.prices_file).with_own(settings.budget.own_prices)


def budgets(settings: Settings) -> BudgetSettings:
    """The spending limits.

    Raises:
        ConfigError: something is limited although a model, speech or pictures have no price, so that their costs would
            use up no budget; or the operator's file is not a table of prices.
    """
    prices(settings)  # even without limits: the ledger uses them
    limits = settings.budget
    if limits_anything(limits, in_group=True) and (unpriced := unpriced_models(settings)):
        named = next(name for name, limit in settings.budget if name.endswith("_usd") and limit is not None)
        raise ConfigError("; ".join(f"BUDGET__{named.upper()}: {unknown_price(model)}" for model in unpriced))
    if limits_anything(limits, in_group=True) and (uncounted := next(_uncounted_services(settings), None)):
        raise ConfigError(f"{uncounted}: must be set where a budget is, which else would not count it; 0 for your own")
    return limits


def _uncounted_services(settings: Settings) -> Iterator[str]:
    """The missing settings that would give the prices of speech and pictures in use."""
    audio, images = settings.audio, settings.tools.options_by_name.get("images")
    if audio.base_url is not None and audio.price is None:
        yield "AUDIO__PRICE"
    if audio.base_url is not None and audio.speak and audio.speech_price is None:
        yield "AUDIO__SPEECH_PRICE"
    if not (settings.tools.enabled and isinstance(images, ImagesOptions) and images.enabled):
        return
    if images.missing_settings():
        return
    if "cost_usd" not in images.model_fields_set:
        yield "TOOLS__IMAGES__COST_USD"


class Meter:
    """Records what models and tools did, in the figures of one run."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def on_answer(self, completion: Completion) -> None:
        """Records a model's answer."""
        usage, provider = completion.usage, completion.provider
        self._counts.observe("model_call_seconds", completion.latency_seconds, provider=provider)
        self._counts.increase("model_tokens", usage.input_tokens, provider=provider, kind="input")
        self._counts.increase("model_tokens", usage.cached_input_tokens, provider=provider, kind="cached_input")
        self._counts.increase("model_tokens", usage.output_tokens, provider=provider, kind="output")
        if completion.cost_usd is None:
            self._counts.increase("model_calls_unpriced")
        else:
            self._charge("model", completion.cost_usd)

    def on_error(self, error: ProviderError) -> None:
        """Records a failed try."""
        self._counts.increase("model_failures", provider=error.provider, error=type(error).__name__)
        self._charge("model", error.cost_usd or Decimal(0))

    def on_run(self, run: ToolRun) -> None:
        """Records a tool run."""
        self._counts.observe("tool_call_seconds", run.latency_seconds, tool=run.tool)
        self._charge("tool", run.cost_usd)
        if run.outcome != "ok":
            self._counts.increase("tool_failures", error=run.outcome)

    def _charge(self, kind: str, cost_usd: Decimal) -> None:
        self._counts.increase("cost_usd", float(cost_usd), kind=kind)


class CapabilityProbe:
    """Learns what the models in use can do."""

    def __init__(self, settings: Settings, http: Http, lessons: ModelLessons) -> None:
        self._settings = settings
        self._http = http
        self._lessons = lessons
        self._server = server_of(settings)
        self._answered: set[str] = set()
        self._asking: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Asks about every model, side by side, in the background."""
        llm = self._settings.llm
        models = dict.fromkeys((*(llm.model_of(name) for name in llm.providers_in_order), *llm.choices))
        for model in models:
            self._ask(model)

    def on_answer(self, completion: Completion) -> None:
        """Asks about a model again after its first answer."""
        model = f"{completion.provider}/{completion.model}"
        if model not in self._answered and completion.provider == "openai":
            self._answered.add(model)
            self._ask(model if model in self._settings.llm.choices else self._settings.llm.model_of("openai"))

    async def aclose(self) -> None:
        """Stops asking."""
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)

    def _ask(self, model: str) -> None:
        task = asyncio.create_task(self._learn(model), name="capabilities")
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _learn(self, model: str) -> None:
        place = self._server(model)
        if place is None:
            return
        address, wanted = place
        server = checked_server(model.partition("/")[0], self._settings)
        name, found = await ask_capabilities(server, wanted, self._http)
        if found != NOTHING:
            for known_as in {wanted, name}:
                self._lessons.learn(address, known_as, **{LESSON: found.as_lesson()})


class KeptLessons:
    """The lessons in one store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._saving: set[asyncio.Task[None]] = set()

    async def read(self) -> ModelLessons:
        """What is known; further lessons are stored as they are learnt.

        Raises:
            StoreError: the store cannot be read.
        """
        since = self._clock.wall() - _KEPT
        rows = await self._store.read(lambda repos: repos.lessons.all(since=since))
        return ModelLessons({subject: found for subject, row in rows.items() if (found := _loaded(row))}, self._keep)

    async def aclose(self) -> None:
        """Waits until everything is written."""
        await asyncio.gather(*self._saving)

    def _keep(self, subject: str, lessons: Mapping[str, Any]) -> None:
        task = asyncio.create_task(self._save(subject, json.dumps(lessons, sort_keys=True)), name="lessons")
        self._saving.add(task)
        task.add_done_callback(self._saving.discard)

    async def _save(self, subject: str, lessons: str) -> None:
        now = self._clock.wall()
        try:
            await self._store.transaction(lambda repos: repos.lessons.keep(subject, lessons, now=now))
        except StoreError as error:
            _log.warning(
                "what was learnt about a model could not be stored and lasts only until the next start: %s", error
            )


def _loaded(row: str) -> dict[str, Any]:
    try:
        found = json.loads(row)
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
