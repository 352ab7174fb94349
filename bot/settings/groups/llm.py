"""The settings `LLM__...`."""

from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from bot.settings.groups.base import SettingsGroup
from bot.settings.values import ModelName
from tools import BaseUrl, CommaList, Lowered

OPENAI_MODEL = "gpt-6-luna"
"""The model at OpenAI itself unless one is named: a small one of the newest family.

Source: the model list of the openai SDK 3.54.0, 2026-11-21.
"""

ProviderName = Literal["anthropic", "openai", "offline"]


def _each_once(names: tuple[ProviderName, ...]) -> tuple[ProviderName, ...]:
    if len(set(names)) != len(names):
        raise ValueError("must name each provider at most once")
    return names


class AnthropicSettings(SettingsGroup):
    """Claude models by Anthropic's own API."""

    api_key: SecretStr | None = None
    """The key of Anthropic's API; with it that provider is used."""
    model: str = "claude-haiku-5-5"
    """The model that answers."""
    base_url: BaseUrl | None = None
    """Another address of the same API, without /v1; none means Anthropic itself."""
    effort: Annotated[Literal["low", "medium", "high"], Lowered] | None = None
    """How much the model thinks before it answers; none leaves it to the model. Older models know no effort."""


class OpenAISettings(SettingsGroup):
    """OpenAI itself, or any server that speaks its API: Ollama, vLLM, NEAR AI, OpenRouter, LM Studio."""

    api_key: SecretStr | None = None
    """The key of the API; with it, or with a base address, that provider is used."""
    model: str | None = None
    """The model that answers; none means `gpt-6-luna` at OpenAI itself, elsewhere the first that the server lists."""
    base_url: BaseUrl | None = None
    """The address of a compatible server, with /v1; none means OpenAI itself. It needs no key."""
    api: Annotated[Literal["auto", "chat", "responses"], Lowered] = "auto"
    """Which of the two APIs is spoken; auto means responses with OpenAI itself and chat completions with all others."""
    effort: Annotated[Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"], Lowered] | None = None
    """How much a model thinks before it answers; left out, as the model does. A compatible server that knows no effort
    is asked without."""

    sees: Annotated[Literal["auto", "true", "false"], Lowered] = "auto"
    """Whether the model is shown pictures; auto means as its server says, else it is tried until it refuses."""

    tool_mode: Annotated[Literal["auto", "native", "prompt"], Lowered] = "auto"
    """How the model is offered tools: native, or in its prompt for a model that knows none; auto means native
    unless its server says or shows otherwise. For chat completions; in responses it is always native."""

    @property
    def surely_sees(self) -> bool | None:
        """Whether the model is shown pictures whatever it says, or never; None means that it is tried."""
        return {"true": True, "false": False}.get(self.sees)

    @property
    def is_openai_itself(self) -> bool:
        """Whether the address is OpenAI's own and not a compatible server's."""
        return self.base_url is None or urlsplit(self.base_url).hostname == "api.openai.com"

    @property
    def chosen_model(self) -> str | None:
        """The model to ask; None means: ask the server for its list and take the first."""
        return self.model or (OPENAI_MODEL if self.is_openai_itself else None)

    @property
    def is_usable(self) -> bool:
        """Whether there is a key, or a server that wants none."""
        return self.api_key is not None or not self.is_openai_itself


class LlmSettings(SettingsGroup):
    """The models that answer."""

    providers: Annotated[tuple[ProviderName, ...], CommaList, Lowered, AfterValidator(_each_once)] = ()
    """Who is asked, in order: a comma list of anthropic, openai, offline; none means all with a key, else offline."""
    choices: Annotated[tuple[ModelName, ...], CommaList] = ()
    """Models that people may choose by /model, besides the first: a comma list of provider/model."""
    anthropic: AnthropicSettings = AnthropicSettings()
    openai: OpenAISettings = OpenAISettings()
    max_output_tokens: int = Field(default=4096, ge=256, le=128_000)
    """The longest answer, thinking included."""
    timeout_seconds: float = Field(default=120, ge=1, le=3600)
    """How long one question to the models may take in all, retries and other providers included."""
    system_prompt: str | None = None
    """What the model is told about itself; none means the built-in text."""

    @property
    def usable(self) -> tuple[ProviderName, ...]:
        """The providers that can answer as things are set, in the order of the names above; offline always can."""
        can = {"anthropic": self.anthropic.api_key is not None, "openai": self.openai.is_usable, "offline": True}
        names: tuple[ProviderName, ...] = get_args(ProviderName)
        return tuple(name for name in names if can[name])

    @property
    def providers_in_order(self) -> tuple[ProviderName, ...]:
        """The providers to ask, in order; never empty."""
        return self.providers or tuple(name for name in self.usable if name != "offline") or ("offline",)

    @property
    def models_to_choose(self) -> tuple[str, ...]:
        """What /model offers and `Request.model` may hold, each once; the first answers unless another is chosen."""
        return tuple(dict.fromkeys((self.model_of(self.providers_in_order[0]), *self.choices)))

    def model_of(self, name: ProviderName) -> str:
        """The model that a provider asks unless another is chosen, as `provider/model`.

        The provider's name alone where the server chooses the model, and for the one without any model.
        """
        models = {"anthropic": self.anthropic.model, "openai": self.openai.chosen_model}
        model = models.get(name)
        return name if model is None else f"{name}/{model}"
