"""The models: the providers that are set up, in their order, and what they cost.

A vendor's SDK is imported with the provider that needs it: each costs up to a second and 75 MB.
"""

from bot.policy.budgets import Budgets
from bot.providers.base import Provider
from bot.providers.fallback import Fallback
from bot.providers.prices import PUBLISHED, Prices
from bot.settings import Settings


def provider(settings: Settings) -> Provider:
    """The providers in their order, and those of the models that people may choose besides."""
    llm = settings.llm
    providers = {llm.model_of(name): vendor(settings, name) for name in llm.providers_in_order}
    others = [choice for choice in llm.choices if choice not in providers]
    chosen = {choice: vendor(settings, *choice.split("/", 1)) for choice in others}
    return Fallback([*providers.values()], choices=providers | chosen)


def vendor(settings: Settings, name: str, model: str | None = None) -> Provider:
    """A provider for its configured model, or for another one of its models."""
    llm = settings.llm
    match name:
        case "anthropic":
            from bot.providers.anthropic import Anthropic

            key = llm.anthropic.api_key
            return Anthropic(
                api_key=key.get_secret_value() if key else "",
                model=model or llm.anthropic.model,
                base_url=llm.anthropic.base_url,
                effort=llm.anthropic.effort,
                prices=prices(settings),
            )
        case "openai":
            from bot.providers.openai import OpenAI

            key = llm.openai.api_key
            return OpenAI(
                api_key=key.get_secret_value() if key else None,
                model=model or llm.openai.chosen_model,
                base_url=llm.openai.base_url,
                api=llm.openai.api,
                sees=llm.openai.surely_sees,
                tool_mode=llm.openai.tool_mode,
                prices=prices(settings),
            )
        case _:
            from bot.providers.offline import Offline

            return Offline()


def unpriced_models(settings: Settings) -> tuple[str, ...]:
    """The models that are or may be asked and whose price is unknown, without those that a server chooses itself."""
    llm, known = settings.llm, prices(settings)
    names = dict.fromkeys((*map(llm.model_of, llm.providers_in_order), *llm.choices))
    models = [model for _, _, model in (name.partition("/") for name in names) if model]
    return tuple(dict.fromkeys(model for model in models if known.of(model) is None))


def prices(settings: Settings) -> Prices:
    """What is known of prices: what vendors publish, and what the operator says."""
    return PUBLISHED.with_own(settings.budget.own_prices)


def budgets(settings: Settings) -> Budgets:
    """What may be spent."""
    return Budgets(**settings.budget.model_dump(exclude={"prices"}))
