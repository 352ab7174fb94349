"""The models: the configured providers in their order, what they cost, and what is learnt about them.

A vendor's SDK is imported with the provider that needs it: each costs up to a second and 55 MB.

    start           --> every model that may be asked -----> lessons --> the adapters, the room of a turn
    first answer    --> that model again: a server at home loads it then, and knows its real window only afterwards

No turn waits for a lesson; earlier knowledge applies until there is an answer.
"""

from collections.abc import Callable, Sequence
from importlib import import_module

from bot.chat.steps import ToolRun
from bot.doctor.models import ask_capabilities, checked_server
from bot.errors import ConfigError, ProviderError
from bot.features.reminders import time_grammar
from bot.loops.doorkeeper import Aside
from bot.metrics import Counts
from bot.models.base import Completion, Provider
from bot.models.capabilities import NOTHING, Lesson, ModelLessons
from bot.models.fallback import Fallback
from bot.models.prices import PricedModel, Prices, published_prices, unknown_price
from bot.money.budgets import limits_anything
from bot.settings import BudgetSettings, Settings
from bot.settings.values import model_price_of
from tools import Http


def provider(
    settings: Settings,
    lessons: ModelLessons | None = None,
    *,
    on_error: Sequence[Callable[[ProviderError], None]] = (),
    on_answer: Sequence[Callable[[Completion], None]] = (),
) -> Provider:
    """The models that people can choose, the first ones in order; the callbacks get each failed try and each answer."""
    first = [settings.llm.model_of(name) for name in settings.llm.providers_in_order]
    made = {choice: vendor(settings, *_split(choice), lessons=lessons) for choice in _in_use(settings)}
    return Fallback(
        {choice: made[choice] for choice in first},
        made,
        on_error=lambda error: [note(error) for note in on_error],
        on_answer=lambda completion: [note(completion) for note in on_answer],
    )


def _in_use(settings: Settings) -> Sequence[str]:
    """Every model that may be asked, as `provider/model`, the first one first."""
    llm = settings.llm
    return tuple(dict.fromkeys((*map(llm.model_of, llm.providers_in_order), *llm.choices)))


def _split(choice: str) -> tuple[str, str]:
    """The provider and the model of `provider/model`."""
    provider, _, model = choice.partition("/")
    return provider, model


def has_model(settings: Settings) -> bool:
    """Whether a language model answers, rather than the forms that are understood without one."""
    return set(settings.llm.providers_in_order) != {"offline"}


def import_sdks(settings: Settings) -> None:
    """Imports the SDKs of the providers in use. It takes a second or more, so run it in a thread beside other work."""
    for name in {_split(choice)[0] for choice in _in_use(settings)}:
        import_module(f"bot.models.{name}")


def vendor(settings: Settings, name: str, model: str = "", *, lessons: ModelLessons | None = None) -> Provider:
    """A provider for its configured model, or for another of its models."""
    if name == "anthropic":
        from bot.models.anthropic import Anthropic

        return Anthropic(settings.llm.anthropic, model=model, lessons=lessons, prices=prices(settings))
    if name == "openai":
        from bot.models.openai import OpenAI

        return OpenAI(settings.llm.openai, model=model, lessons=lessons, prices=prices(settings))
    from bot.models.offline import Offline

    return Offline(lambda words, now: time_grammar.read(words, now=now, zone=str(now.tzinfo)))


def lesson_of(settings: Settings, lessons: ModelLessons) -> Callable[[str | None], Lesson]:
    """Maps a choice (`provider/model`, None for the first one) to what was learnt about it."""

    def lesson(choice: str | None) -> Lesson:
        provider, model = _split(choice or settings.llm.models_to_choose[0])
        return lessons.of(checked_server(provider, settings).base_url, model)

    return lesson


def priced_models(settings: Settings, lessons: ModelLessons) -> Callable[[str | None], PricedModel | None]:
    """Maps a choice, as in `lesson_of`, to a model with its price, its server's own if no other is known."""
    own, lesson = prices(settings), lesson_of(settings, lessons)

    def priced(choice: str | None) -> PricedModel | None:
        provider, model = _split(choice or settings.llm.models_to_choose[0])
        price = own.of(model) or lesson(choice).capabilities.price
        return None if price is None else PricedModel(provider=provider, name=model, price=price)

    return priced


def prices(settings: Settings) -> Prices:
    """The known prices: those vendors publish, and the operator's own."""
    return published_prices().with_own(map(model_price_of, settings.budget.prices))


def budgets(settings: Settings) -> BudgetSettings:
    """The spending limits; raises ConfigError if one is set and what is in use has no price."""
    known, limits = prices(settings), settings.budget
    if not limits_anything(limits, in_group=True):
        return limits
    models = dict.fromkeys(_split(choice)[1] for choice in _in_use(settings) if choice != "offline")
    if unpriced := [model for model in models if known.of(model) is None]:
        named = next(name for name, limit in limits if name.endswith("_usd") and limit is not None)
        raise ConfigError("; ".join(f"BUDGET__{named.upper()}: {unknown_price(model)}" for model in unpriced))
    audio, images = settings.audio, settings.tools.options_by_name["images"]
    draws = settings.tools.enabled and images.enabled and not images.missing_settings()
    recall = settings.tools.options_by_name["recall"]
    embeds = settings.tools.enabled and recall.enabled and recall.seen_by()
    uncounted = {
        "AUDIO__PRICE": audio.base_url and audio.price is None,
        "AUDIO__SPEECH_PRICE": audio.base_url and audio.speak and audio.speech_price is None,
        "TOOLS__RECALL__PRICE": embeds and "price" not in recall.model_fields_set,
        "TOOLS__IMAGES__COST_USD": draws and "cost_usd" not in images.model_fields_set,
    }
    for name, is_missing in uncounted.items():
        if is_missing:
            raise ConfigError(f"{name}: must be set where a budget is, which else would not count it; 0 for your own")
    return limits


def count_answer(counts: Counts, completion: Completion) -> None:
    """Adds a model's answer to the figures."""
    usage = completion.usage
    counts.observe("model_call", completion.latency_seconds, provider=completion.provider)
    counts.increase("model_tokens_total", usage.input_tokens, kind="input")
    counts.increase("model_tokens_total", usage.cached_input_tokens, kind="cached_input")
    counts.increase("model_tokens_total", usage.output_tokens, kind="output")
    counts.increase("cost_usd_total", float(completion.cost_usd or 0), kind="model")


def count_failure(counts: Counts, error: ProviderError) -> None:
    """Adds a failed try of a model to the figures."""
    counts.increase("model_failures_total", provider=error.provider, error=type(error).__name__)
    counts.increase("cost_usd_total", float(error.cost_usd or 0), kind="model")


def count_run(counts: Counts, run: ToolRun) -> None:
    """Adds a tool's run to the figures."""
    counts.observe("tool_call", run.latency_seconds, tool=run.tool)
    counts.increase("cost_usd_total", float(run.cost_usd), kind="tool")
    if run.outcome != "ok":
        counts.increase("tool_failures_total", error=run.outcome)


class CapabilityProbe:
    """Learns from their servers what the models in use can do."""

    def __init__(self, settings: Settings, http: Http, lessons: ModelLessons) -> None:
        self._settings, self._http, self._lessons = settings, http, lessons
        self._answered = set[str]()
        self.aside = Aside()

    def start(self) -> None:
        """Asks about every model, side by side, in the background."""
        for choice in _in_use(self._settings):
            if choice != "offline":
                self.aside.begin(self._ask(choice), "capabilities")

    def on_answer(self, completion: Completion) -> None:
        """Asks about a model again after its first answer."""
        choice, llm = f"{completion.provider}/{completion.model}", self._settings.llm
        if choice not in self._answered and completion.provider == "openai":
            self._answered.add(choice)
            known = choice if choice in llm.choices else llm.model_of("openai")
            self.aside.begin(self._ask(known), "capabilities")

    async def _ask(self, choice: str) -> None:
        provider, wanted = _split(choice)
        server = checked_server(provider, self._settings)
        name, found = await ask_capabilities(server, wanted, self._http)
        if found != NOTHING:
            for known_as in {wanted, name}:
                self._lessons.of(server.base_url, known_as).capabilities = found
