"""What answers: the models, asked a small question where that is wanted, and who listens to voice notes.

Left to others: making providers (`bot.app` hands over how).
"""

from bot.doctor.deps import Deps
from bot.doctor.findings import Finding, ok, problem, warning
from bot.errors import ConfigError, ProviderError
from bot.messages import UserMessage
from bot.providers.base import Provider, Request
from bot.settings import ProviderName, Settings

_MODEL_SECONDS = 60.0


async def check_models(settings: Settings, deps: Deps, *, asks_models: bool) -> list[Finding]:
    """Which models answer; `asks_models` asks each a very small question, which costs a little."""
    found: list[Finding] = []
    for name in settings.llm.providers_in_order:
        found.append(_model(settings, name))
        if asks_models and found[-1].level == "ok":
            found.append(await _answered(deps.provider(name)))
    _, *choices = settings.llm.models_to_choose
    for choice in choices:
        found.append(ok(f"models: people may choose {choice}"))
        if asks_models:
            found.append(await _answered(deps.choice(choice)))
    return [*found, *_check_budgets(deps)]


def _check_budgets(deps: Deps) -> list[Finding]:
    """Whether what is spent can be counted; nothing where nothing is limited."""
    try:
        budgets = deps.budgets()
    except ConfigError as error:
        return [problem(f"budgets: {error}")]
    return [ok("budgets: the price of each model is known")] if budgets.limit_anything(in_group=True) else []


def _model(settings: Settings, name: ProviderName) -> Finding:
    llm = settings.llm
    match name:
        case "anthropic":
            return ok(f"models: anthropic has a key and is asked for {llm.anthropic.model}")
        case "openai":
            place = "" if llm.openai.is_openai_itself else f" at {llm.openai.base_url}"
            return ok(f"models: openai{place} is asked for {llm.openai.chosen_model or 'its first model'}")
        case "offline":
            return warning("models: no key is set, so no model answers, only the offline one", "set LLM__..._API_KEY")


async def _answered(provider: Provider) -> Finding:
    """Whether a very small question is answered."""
    request = Request(
        system="Answer with one word.",
        messages=(UserMessage(text="Are you there?"),),
        tools=(),
        may_call_tools=False,
        max_output_tokens=256,
        timeout_seconds=_MODEL_SECONDS,
        conversation="doctor",
    )
    try:
        answer = await provider.complete(request)
    except ProviderError as error:
        return problem(f"models: {provider.name} does not answer: {type(error).__name__}: {error}")
    finally:
        await provider.aclose()
    cost = "an unknown amount" if answer.cost_usd is None else f"{answer.cost_usd} USD"
    what = f"models: {answer.provider} answered as {answer.model} in {answer.latency_seconds:.1f} s, for {cost}"
    return warning(what, "set its price in BUDGET__PRICES") if answer.cost_usd is None else ok(what)


def check_audio(settings: Settings) -> Finding:
    """Whether voice notes are understood, and by whom."""
    audio = settings.audio
    if audio.base_url is None:
        if audio.speak or audio.api_key is not None:
            return warning("audio: there are settings, but no address: nobody listens", "set AUDIO__BASE_URL")
        return ok("audio: voice notes are not understood", "AUDIO__BASE_URL switches that on")
    if audio.is_openai_itself and settings.audio_key is None:
        return problem("audio: OpenAI wants a key", "set AUDIO__API_KEY")
    speaks = f", and {audio.speaking_model} speaks" if audio.speak else ""
    return ok(f"audio: {audio.listening_model} at {audio.base_url} listens{speaks}")
