"""All settings of one process, with a sub-group for each tool that is installed here."""

from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr, create_model
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot.settings.env import SEPARATOR, Variable, variables_of
from bot.settings.groups.access import AccessSettings
from bot.settings.groups.answers import AnswersSettings
from bot.settings.groups.approvals import ApprovalsSettings
from bot.settings.groups.attestation import AttestationSettings
from bot.settings.groups.audio import AudioSettings
from bot.settings.groups.budget import BudgetSettings
from bot.settings.groups.groups import GroupsSettings
from bot.settings.groups.history import HistorySettings
from bot.settings.groups.intake import IntakeSettings
from bot.settings.groups.limits import LimitsSettings
from bot.settings.groups.llm import LlmSettings
from bot.settings.groups.locale import LocaleSettings
from bot.settings.groups.log import LogSettings
from bot.settings.groups.media import MediaSettings
from bot.settings.groups.signal import SignalSettings
from bot.settings.groups.store import StoreSettings
from bot.settings.groups.tools import ToolsSettings
from bot.settings.groups.web import WebSettings
from bot.settings.groups.worker import WorkerSettings
from tools import CATALOG, Extensions

ALSO = {
    "LLM__ANTHROPIC__API_KEY": "ANTHROPIC_API_KEY",
    "LLM__OPENAI__API_KEY": "OPENAI_API_KEY",
    "LLM__OPENAI__BASE_URL": "OPENAI_BASE_URL",
    "TOOLS__WEB_SEARCH__API_KEY": "BRAVE_API_KEY",
    "TOOLS__WEB_SEARCH__TAVILY_API_KEY": "TAVILY_API_KEY",
    "TOOLS__WEB_SEARCH__SERPAPI_API_KEY": "SERPAPI_API_KEY",
    "TOOLS__WEB_SEARCH__PERPLEXITY_API_KEY": "PERPLEXITY_API_KEY",
}
"""Names that many machines have set already; each is read if our own is left out."""


class Settings(BaseSettings):
    """All settings of one process; `load_settings` makes them."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        validate_default=True,
        enable_decoding=False,  # a list is comma-separated, never JSON
        env_nested_delimiter=SEPARATOR,
    )

    llm: LlmSettings = LlmSettings()
    signal: SignalSettings = SignalSettings()
    access: AccessSettings = AccessSettings()
    groups: GroupsSettings = GroupsSettings()
    limits: LimitsSettings = LimitsSettings()
    budget: BudgetSettings = BudgetSettings()
    approvals: ApprovalsSettings = ApprovalsSettings()
    answers: AnswersSettings = AnswersSettings()
    store: StoreSettings = StoreSettings()
    history: HistorySettings = HistorySettings()
    intake: IntakeSettings = IntakeSettings()
    media: MediaSettings = MediaSettings()
    audio: AudioSettings = AudioSettings()
    tools: ToolsSettings
    log: LogSettings = LogSettings()
    locale: LocaleSettings = LocaleSettings()
    web: WebSettings = WebSettings()
    worker: WorkerSettings = WorkerSettings()
    attestation: AttestationSettings = AttestationSettings()

    @property
    def audio_key(self) -> SecretStr | None:
        """The key of the audio service; None if it needs none. OpenAI has one key for everything that it offers."""
        openai = self.llm.openai
        is_same = self.audio.is_openai_itself and openai.is_openai_itself
        is_same |= self.audio.base_url is not None and self.audio.base_url == openai.base_url
        return self.audio.api_key or (openai.api_key if is_same else None)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - pydantic-settings passes its sources by name
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Uses only what `load_settings` passes: it reads the environment itself, to know where each value comes
        from.
        """
        return (init_settings,)


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """The settings available with a given set of installed tools."""

    model: type[Settings]
    known: tuple[Variable, ...]
    passed_over: tuple[str, ...] = ()
    """How the variables of tools that were not imported begin: what can be set for them is not known."""


def form_with(extensions: Extensions) -> Form:
    """The settings with a sub-group for each tool of the catalogue, and for each one found elsewhere."""
    classes = {name: entry.options for name, entry in CATALOG.items()}
    classes |= {extension.name: extension.options for extension in extensions.found}
    options: dict[str, Any] = {name: (kind, kind()) for name, kind in classes.items()}
    tools = create_model("ToolsSettings", __base__=ToolsSettings, __doc__=ToolsSettings.__doc__, **options)
    tools.extensions = extensions
    model = create_model("Settings", __base__=Settings, __doc__=Settings.__doc__, tools=(tools, tools()))
    unread = (*extensions.switched_off, *(failure.name for failure in extensions.failures))
    passed_over = tuple(f"TOOLS__{name.upper()}__" for name in unread if name not in {*TAKEN, *classes})
    return Form(model=model, known=tuple(variables_of(model, ALSO)), passed_over=passed_over)


TAKEN = frozenset({*CATALOG, *dir(ToolsSettings)})
"""Names that no tool of another distribution can have."""

USUAL = form_with(Extensions())
"""The settings if no other distribution brings a tool."""
