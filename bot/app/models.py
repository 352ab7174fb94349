"""The models: the providers that are set up, in their order, and what they cost.

A vendor's SDK is imported with the provider that needs it: each costs up to a second and 75 MB.
"""

from collections.abc import Callable

from bot.app.metering import Meter
from bot.doctor.troubles import ModelTroubles
from bot.errors import ConfigError, ProviderError
from bot.metrics import Counts
from bot.policy.budgets import Budgets
from bot.providers.base import Completion, Provider
from bot.providers.fallback import Fallback
from bot.providers.lessons import ModelLessons
from bot.providers.more_tools import MoreTools
from bot.providers.prices import Prices, published_prices, unknown_price
from bot.settings import Settings


def provider(
    settings: Settings,
    troubles: ModelTroubles | None = None,
    meter: Meter | None = None,
    lessons: ModelLessons | None = None,
) -> Provider:
    """The providers in their order, and those of the models that people may choose besides.

    `troubles` and `meter` are told what fails and what answers; `lessons` is what was learnt of models before.
    """
    llm = settings.llm
    providers = {
        llm.model_of(name): _offering(vendor(settings, name, lessons=lessons)) for name in llm.providers_in_order
    }
    others = [choice for choice in llm.choices if choice not in providers]
    chosen = {choice: _offering(vendor(settings, *choice.split("/", 1), lessons=lessons)) for choice in others}
    told = (troubles or ModelTroubles(), meter or Meter(Counts()))

    def on_error(error: ProviderError) -> None:
        for one in told:
            one.on_error(error)

    def on_answer(completion: Completion) -> None:
        for one in told:
            one.on_answer(completion)

    return Fallback([*providers.values()], choices=providers | chosen, on_error=on_error, on_answer=on_answer)


def _offering(provider: Provider) -> Provider:
    """The provider with a list of the seldom tools; without a model it knows all of them."""
    return provider if provider.name == "offline" else MoreTools(provider)


def vendor(settings: Settings, name: str, model: str | None = None, *, lessons: ModelLessons | None = None) -> Provider:
    """A provider for its configured model, or for another one of its models."""
    llm = settings.llm
    match name:
        case "anthropic":
            from bot.providers.anthropic.provider import Anthropic

            key = llm.anthropic.api_key
            return Anthropic(
                api_key=key.get_secret_value() if key else "",
                model=model or llm.anthropic.model,
                base_url=llm.anthropic.base_url,
                effort=llm.anthropic.effort,
                prices=prices(settings),
            )
        case "openai":
            from bot.providers.openai.provider import OpenAI

            key = llm.openai.api_key
            return OpenAI(
                api_key=key.get_secret_value() if key else None,
                model=model or llm.openai.chosen_model,
                base_url=llm.openai.base_url,
                api=llm.openai.api,
                sees=llm.openai.surely_sees,
                tool_mode=llm.openai.tool_mode,
                lessons=lessons,
                prices=prices(settings),
            )
        case _:
            from bot.providers.offline.provider import Offline

            return Offline()


def server_of(settings: Settings) -> Callable[[str | None], tuple[str, str] | None]:
    """Which server and model a choice means, `provider/model`, and None for the first one; None: nobody can say."""
    llm = settings.llm
    servers = {"anthropic": llm.anthropic.base_url or "", "openai": llm.openai.base_url or ""}

    def server(model: str | None) -> tuple[str, str] | None:
        provider, _, name = (model or llm.models_to_choose[0]).partition("/")
        return (servers.get(provider, ""), name) if name else None

    return server


def unpriced_models(settings: Settings) -> tuple[str, ...]:
    """The models that are or may be asked and whose price is unknown; empty for one that a server chooses itself."""
    llm, known = settings.llm, prices(settings)
    asked = (llm.model_of(name) for name in llm.providers_in_order if name != "offline")
    models = dict.fromkeys(name.partition("/")[2] for name in (*asked, *llm.choices))
    return tuple(model for model in models if known.of(model) is None)


def prices(settings: Settings) -> Prices:
    """What is known of prices: what vendors publish, and what the operator says.

    Raises:
        ConfigError: the operator's file of prices is none.
    """
    return published_prices().with_file(settings.budget.prices_file).with_own(settings.budget.own_prices)


def budgets(settings: Settings) -> Budgets:
    """What may be spent.

    Raises:
        ConfigError: something is limited, and a model has no price: what it costs would use up no budget; or the
            operator's file of prices is none.
    """
    prices(settings)  # also where nothing is limited: the ledger counts by them
    limits = Budgets(**settings.budget.model_dump(exclude={"prices", "prices_file"}))
    if limits.limit_anything(in_group=True) and (unpriced := unpriced_models(settings)):
        named = next(name for name, limit in settings.budget if name.endswith("_usd") and limit is not None)
        raise ConfigError("; ".join(f"BUDGET__{named.upper()}: {unknown_price(model)}" for model in unpriced))
    return limits
