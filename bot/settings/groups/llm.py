"""The settings `LLM__...`."""

from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from bot.settings.groups.base import SettingsGroup
from bot.settings.values import ModelName
from tools import BaseUrl, CommaList, Lowered

OPENAI_MODEL = "gpt-6-luna"
"""The default model at OpenAI itself: a small one of the newest family.

Source: the model list of the openai SDK 3.54.0, 2026-11-21.
"""

ProviderName = Literal["anthropic", "openai", "offline"]


def _each_once(names: tuple[ProviderName, ...]) -> tuple[ProviderName, ...]:
    if len(set(names)) != len(names):
        raise ValueError("must name each provider at most once")
    return names


class AnthropicSettings(SettingsGroup):
    """Claude models through Anthropic's own API."""

    api_key: SecretStr | None = None
    """The key of Anthropic's API; setting it turns the provider on."""
    model: str = "claude-haiku-5-5"
    """The model that answers."""
    base_url: BaseUrl | None = None
    """Another address of the same API, without /v1; unset means Anthropic itself."""
    effort: Annotated[Literal["low", "medium", "high"], Lowered] | None = None
    """How much the model thinks before it answers; unset leaves it to the model. Older models have no effort
    setting."""


class OpenAISettings(SettingsGroup):
    """OpenAI itself, or any server with its API: Ollama, vLLM, NEAR AI, OpenRouter, LM Studio."""

    api_key: SecretStr | None = None
    """The key of the API; setting it, or a base address, turns the provider on."""
    model: str | None = None
    """The model that answers; defaults to `gpt-6-luna` at OpenAI itself, and elsewhere to the first one the server
    lists."""
    base_url: BaseUrl | None = None
    """The address of a compatible server, with /v1; unset means OpenAI itself. Such a server needs no key."""
    api: Annotated[Literal["auto", "chat", "responses"], Lowered] = "auto"
    """Which of the two APIs to use; auto means responses with OpenAI itself and chat completions with all others."""
    effort: Annotated[Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"], Lowered] | None = None
    """How much the model thinks before it answers; unset leaves it to the model. A compatible server that does not know
    the setting is asked without it."""

    sees: Annotated[Literal["auto", "true", "false"], Lowered] = "auto"
    """Whether the model is shown pictures; auto means as its server says, or else trying it until the model refuses."""

    tool_mode: Annotated[Literal["auto", "native", "prompt"], Lowered] = "auto"
    """How the model is offered tools: natively, or in the prompt if it does not know tools; auto means native unless
    the server says or shows otherwise. For chat completions; with responses it is always native."""

    @property
    def surely_sees(self) -> bool | None:
        """Whether the model is always or never shown pictures, whatever it says; None means trying it."""
        return {"true": True, "false": False}.get(self.sees)

    @property
    def is_openai_itself(self) -> bool:
        """Whether the address is OpenAI's own rather than a compatible server's."""
        return self.base_url is None or urlsplit(self.base_url).hostname == "api.openai.com"

    @property
    def chosen_model(self) -> str | None:
        """The model to ask; None means the first one that the server lists."""
        return self.model or (OPENAI_MODEL if self.is_openai_itself else None)

    @property
    def is_usable(self) -> bool:
        """Whether there is a key, or a server that needs none."""
        return self.api_key is not None or not self.is_openai_itself


class LlmSettings(SettingsGroup):
    """The models that answer."""

    providers: Annotated[tuple[ProviderName, ...], CommaList, Lowered, AfterValidator(_each_once)] = ()
    """The providers to ask, in order: a comma-separated list of anthropic, openai, offline; unset means all that have a
    key, or else offline."""
    choices: Annotated[tuple[ModelName, ...], CommaList] = ()
    """Models that people can choose with /model besides the first: a comma-separated list of provider/model."""
    anthropic: AnthropicSettings = AnthropicSettings()
    openai: OpenAISettings = OpenAISettings()
    max_output_tokens: int = Field(default=4096, ge=256, le=128_000)
    """The longest answer in tokens, thinking included."""
    timeout_seconds: float = Field(default=120, ge=1, le=3600)
    """How many seconds models can be silent, retries and other providers included: until an answer begins, and between
    its pieces. A server that does not send pieces has to send the whole answer in this time."""
    system_prompt: str | None = None
    """What the model is told about itself; unset means the built-in text."""

    @property
    def usable(self) -> tuple[ProviderName, ...]:
        """The providers that can answer with these settings, in the order of the names above; offline always can."""
        can = {"anthropic": self.anthropic.api_key is not None, "openai": self.openai.is_usable, "offline": True}
        names: tuple[ProviderName, ...] = get_args(ProviderName)
        return tuple(name for name in names if can[name])

    @property
    def providers_in_order(self) -> tuple[ProviderName, ...]:
        """The providers to ask, in order; never empty."""
        return self.providers or tuple(name for name in self.usable if name != "offline") or ("offline",)

    @property
    def models_to_choose(self) -> tuple[str, ...]:
        """What /model offers and `Request.model` can hold, without repeats; the first one answers unless another is
        chosen.
        """
        return tuple(dict.fromkeys((self.model_of(self.providers_in_order[0]), *self.choices)))

    def model_of(self, name: ProviderName) -> str:
        """The model that a provider is asked for unless another is chosen, as `provider/model`.

        Only the provider's name if the server chooses the model, and for the provider without models.
        """
        models = {"anthropic": self.anthropic.model, "openai": self.openai.chosen_model}
        model = models.get(name)
        return name if model is None else f"{name}/{model}"
