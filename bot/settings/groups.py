"""The groups of settings: `ACCESS__STRANGERS` is the field `strangers` of `AccessSettings`.

Each field has its meaning below it; `docs/settings.md` is generated from them.
"""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, create_model
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

import store  # whose modules are loaded when a name is used
from bot.i18n.language import Language
from bot.settings.values import (
    BridgeAddress,
    Contact,
    DatabasePath,
    GroupOrAll,
    Hours,
    MasterKey,
    ModelName,
    ModelPrice,
    OnePerson,
    Person,
    PersonOrAll,
    Temperature,
    Zone,
    master_key_of,
)
from tools import CATALOG, FIXED, BaseUrl, CommaList, Key, Lowered, Options

SEPARATOR = "__"
"""Stands between the names of groups and fields in a variable."""


class SettingsGroup(BaseModel):
    """The base of all groups: frozen, without unknown fields, with errors that never show a value."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False, validate_default=True
    )


class AccessSettings(SettingsGroup):
    """Who can write to Aldis: only who is named here."""

    allowed: Annotated[tuple[PersonOrAll, ...], CommaList] = ()
    """The people who get answers: a comma-separated list of phone numbers and UUIDs, or * for everybody."""
    groups: Annotated[tuple[GroupOrAll, ...], CommaList] = ()
    """The groups that get answers, by ids in exact case, or *; invitations count with a listed id, or member for *."""
    admins: Annotated[tuple[Person, ...], CommaList] = ()
    """The people who can give the operator's commands: a comma-separated list of phone numbers and UUIDs."""
    group_members_may_write: bool = False
    """Whether members of the groups named above can also write directly."""
    strangers: Annotated[Literal["ignore", "pair"], Lowered] = "ignore"
    """What people who are not listed get: no reply, or (pair) a code with which an admin can let them in."""
    greeting: bool = True
    """Whether people are greeted when they first write directly: three lines with examples of what to ask."""


class ApprovalsSettings(SettingsGroup):
    """Tools that have an effect ask first if something that was read could have talked the model into it."""

    timeout: float = Field(default=600, ge=10, le=86_400)
    """How many seconds a tool waits for a yes; no reply by then counts as a no."""


class AudioSettings(SettingsGroup):
    """Speech to text and back, by OpenAI or a server with its API (Groq, speaches); off without an address."""

    base_url: BaseUrl | None = None
    """The address of the service, with /v1, such as https://api.openai.com/v1; setting it turns on voice notes."""
    api_key: Key | None = None
    """Its key; defaults to that of LLM__OPENAI if the address is the same."""
    model: str | None = None
    """The transcription model; defaults to `gpt-4o-mini-transcribe` at OpenAI itself, `whisper-1` elsewhere."""
    price: Decimal | None = Field(default=None, ge=0, le=1000)
    """The price of a minute in US dollars, for the ledger; unset means unknown. Budgets need it."""
    speak: bool = False
    """Whether a voice note is also answered with a voice note, besides the text."""
    speech_model: str | None = None
    """The speech model; defaults to `gpt-4o-mini-tts` at OpenAI itself, `tts-1` elsewhere."""
    voice: str = "alloy"
    """The voice that it speaks with."""
    speech_price: Decimal | None = Field(default=None, ge=0, le=100_000)
    """The price of a million spoken characters in US dollars, for the ledger; unset means unknown."""

    @property
    def is_openai_itself(self) -> bool:
        """Whether OpenAI's own service listens and speaks."""
        return _is_openai(self.base_url)

    @property
    def listening_model(self) -> str:
        """The transcription model."""
        return self.model or ("gpt-4o-mini-transcribe" if self.is_openai_itself else "whisper-1")

    @property
    def speaking_model(self) -> str:
        """The speech model."""
        return self.speech_model or ("gpt-4o-mini-tts" if self.is_openai_itself else "tts-1")


class BudgetSettings(SettingsGroup):
    """Spending limits in US dollars, by the ledger's prices. Unset means no limit, 0 means nothing."""

    person_day_usd: Decimal | None = Field(default=None, ge=0)
    """For one person per day. Questions that several people ask in a group at once are then answered one by one."""
    person_month_usd: Decimal | None = Field(default=None, ge=0)
    """For one person per month, with the same effect in groups."""
    group_day_usd: Decimal | None = Field(default=None, ge=0)
    """For one group per day."""
    group_month_usd: Decimal | None = Field(default=None, ge=0)
    """For one group per month."""
    all_day_usd: Decimal | None = Field(default=None, ge=0)
    """For everybody together per day."""
    all_month_usd: Decimal | None = Field(default=None, ge=0)
    """For everybody together per month."""
    prices: Annotated[tuple[ModelPrice, ...], CommaList] = ()
    """Prices that Aldis does not know, as model=input/output in dollars per million tokens, separated by commas."""


class GroupsSettings(SettingsGroup):
    """What Aldis reads in groups besides the messages addressed to it."""

    context_messages: int = Field(default=0, ge=0, le=100)
    """How many messages of others since its last answer go along with a question; 0 means none. Kept in memory only."""


class HistorySettings(SettingsGroup):
    """How much of a conversation the model reads again with each question."""

    max_turns: int = Field(default=20, ge=0, le=1000)
    """How many earlier questions with their answers."""
    max_tokens: int = Field(default=16_000, ge=0, le=1_000_000)
    """How many tokens of them, by estimate; the oldest turns are dropped first."""
    summaries: bool = True
    """Whether what no longer fits is summarized, at the cost of an extra model call now and then."""
    retention_days: int | None = Field(default=None, ge=1, le=36_500)
    """After how many days what was said is destroyed; unset, it stays until a person has it forgotten."""


class IntakeSettings(SettingsGroup):
    """Which messages are answered."""

    max_age: float = Field(default=86_400, ge=1)
    """The age in seconds up to which a message is answered; the sender of an older one reads that it came too late."""


class LimitsSettings(SettingsGroup):
    """How much people can write."""

    messages_per_minute: int = Field(default=60, ge=1, le=10_000)
    """How many messages of one person are accepted per minute, and edits that ask again; the next gets a notice."""
    conversation_messages_per_minute: int = Field(default=120, ge=1, le=10_000)
    """How many messages of one conversation are accepted per minute."""
    max_waiting: int = Field(default=200, ge=1, le=100_000)
    """How many messages of one conversation can wait at a time."""
    turns_at_once: int = Field(default=3, ge=1, le=1000)
    """In how many conversations one person is answered at a time."""


OPENAI_MODEL = "gpt-6-luna"
"""The default model at OpenAI itself: a small one of the newest family.

Source: the model list of the openai SDK 3.54.0, 2026-11-21.
"""

ProviderName = Literal["anthropic", "openai", "offline"]


def _is_openai(address: str | None) -> bool:
    """Whether the address is OpenAI's own rather than a compatible server's."""
    return address is not None and urlsplit(address).hostname == "api.openai.com"


class AnthropicSettings(SettingsGroup):
    """Claude models through Anthropic's own API."""

    api_key: Key | None = None
    """The key of Anthropic's API; setting it turns the provider on."""
    model: str = "claude-haiku-5-5"
    """The model that answers."""
    base_url: BaseUrl | None = None
    """Another address of the same API, without /v1; unset means Anthropic itself."""
    effort: Annotated[Literal["low", "medium", "high"], Lowered] | None = None
    """How much the model thinks before it answers; unset leaves it to the model. Older models do not know it."""


class OpenAISettings(SettingsGroup):
    """OpenAI itself, or any server with its API: Ollama, vLLM, NEAR AI, OpenRouter, LM Studio."""

    api_key: Key | None = None
    """The key of the API; setting it, or a base address, turns the provider on."""
    model: str | None = None
    """The model that answers; defaults to `gpt-6-luna` at OpenAI itself, elsewhere to the first one of its list."""
    base_url: BaseUrl | None = None
    """The address of a compatible server, with /v1; unset means OpenAI itself. Such a server needs no key."""
    api: Annotated[Literal["auto", "chat", "responses"], Lowered] = "auto"
    """Which of the two APIs to use; auto means responses with OpenAI itself and chat completions with all others."""
    effort: Annotated[Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"], Lowered] | None = None
    """How much the model thinks before it answers; unset leaves it to the model."""
    tool_mode: Annotated[Literal["auto", "native", "prompt"], Lowered] = "auto"
    """How the model is offered tools: natively or in the prompt; auto: natively unless the server shows otherwise."""

    @property
    def is_openai_itself(self) -> bool:
        """Whether OpenAI itself answers, rather than a compatible server."""
        return self.base_url is None or _is_openai(self.base_url)

    @property
    def chosen_model(self) -> str | None:
        """The model to ask; None means the first one that the server lists."""
        return self.model or (OPENAI_MODEL if self.is_openai_itself else None)


class LlmSettings(SettingsGroup):
    """The models that answer."""

    providers: Annotated[tuple[ProviderName, ...], CommaList, Lowered] = ()
    """The providers to ask, in order, of anthropic, openai and offline; unset means all with a key, or else offline."""
    choices: Annotated[tuple[ModelName, ...], CommaList] = ()
    """Models that people can choose with /model besides the first: a comma-separated list of provider/model."""
    anthropic: AnthropicSettings = AnthropicSettings()
    openai: OpenAISettings = OpenAISettings()
    max_output_tokens: int = Field(default=4096, ge=256, le=128_000)
    """The longest answer in tokens, thinking included."""
    timeout_seconds: float = Field(default=120, ge=1, le=3600)
    """How many seconds a model can take for an answer; one at home (such as Ollama) can take the whole turn's time."""
    system_prompt: str | None = None
    """What the model reads about itself; unset means the built-in text."""
    personas: Path | None = None
    """The folder with a file NAME.md for each persona that people can choose with /persona and /as."""
    skills: Path | None = None
    """The folder with instructions that models read when a task wants them, each NAME.md or NAME/SKILL.md."""
    temperature: Temperature | None = None
    """How freely it chooses words: 0 to 1, or auto: 0.7, and 0.2 once tools ran; unset, or refused: the model's own."""

    @property
    def usable(self) -> tuple[ProviderName, ...]:
        """The providers that can answer with these settings: with a key, or a server that needs none, and offline."""
        openai = self.openai.api_key is not None or not self.openai.is_openai_itself
        can: dict[ProviderName, bool] = {"anthropic": self.anthropic.api_key is not None, "openai": openai}
        return (*(name for name in can if can[name]), "offline")

    @property
    def providers_in_order(self) -> tuple[ProviderName, ...]:
        """The providers to ask, in order; never empty."""
        return tuple(dict.fromkeys(self.providers or self.usable[:-1] or self.usable))

    @property
    def models_to_choose(self) -> tuple[str, ...]:
        """What /model offers, without repeats; the first one answers unless another is chosen."""
        return tuple(dict.fromkeys((self.model_of(self.providers_in_order[0]), *self.choices)))

    def model_of(self, name: ProviderName) -> str:
        """A provider's usual model, as `provider/model`; only its name where the server chooses, or there are none."""
        model = {"anthropic": self.anthropic.model, "openai": self.openai.chosen_model}.get(name)
        return f"{name}/{model}" if model else name


class LocaleSettings(SettingsGroup):
    """Where people are, and what they speak."""

    timezone: Zone = "UTC"
    """Their time zone, like Europe/Berlin; defaults to the machine's. If only UTC is known, people are asked once."""
    place: str | None = Field(default=None, max_length=100)
    """Where they are, like Lyon, for weather questions that name no place; unset means that models ask."""
    language: Annotated[Language, Lowered] = "en"
    """The language of Aldis's own sentences until a person's is known: en, de, fr or es; defaults to the machine's."""


class LogSettings(SettingsGroup):
    """What is written to standard error. Never anything that a person wrote."""

    level: Annotated[Literal["debug", "info", "warning", "error"], Lowered] = "info"
    """The lowest level that is logged."""
    format: Annotated[Literal["text", "json"], Lowered] = "text"
    """One line of text, or one line of JSON, per entry."""


class SignalSettings(SettingsGroup):
    """The connection to Signal."""

    url: BridgeAddress = "http://127.0.0.1:8080"
    """Where signal-cli's daemon (unix:///path or tcp://host:port) or signal-cli-rest-api (http://host:port) listens."""
    account: OnePerson | None = None
    """The phone number or UUID of Aldis's own account; unset means the only one that the server has."""
    name: str = Field(default="Aldis", max_length=50)
    """The name by which people address Aldis in groups."""
    send_timeout_seconds: float = Field(default=60, ge=1, le=600)
    """How many seconds one send can take; after that its outcome is unknown."""
    unknown_grace_seconds: float = Field(default=90, ge=1, le=3600)
    """How many seconds to wait for the receipt of such a send before sending again; no less than a send can take."""
    ack: Annotated[Literal["reaction", "none"], Lowered] = "reaction"
    """How a message shows that it is being answered, if that takes more than seconds: with an emoji, or not at all."""
    live: Annotated[Literal["off", "status"], Lowered] = "status"
    """What people see of an answer that takes long: nothing, or its status."""
    delete_answers: bool = False
    """Whether Aldis also deletes its answer when a person deletes the message that it answers."""
    note_to_self: bool = False
    """Whether the account is your own: Aldis then answers your Note to Self and reads nothing else that arrives."""
    new_safety_numbers: Annotated[Literal["ask", "accept"], Lowered] = "ask"
    """What happens with a new safety number: ask waits until an admin says `/trust`, accept trusts it."""
    attachments: Path | None = None
    """The folder in which signal-cli keeps received files, so that Aldis can delete them; unset, they stay."""


class StoreSettings(SettingsGroup):
    """What is kept, and the key that seals it."""

    path: DatabasePath = Path("data/aldis.db")
    """The database; its folder is created if missing. The keys lie beside it."""
    key: MasterKey | None = None
    """The master key: 32 bytes in hex or base64; unset means the one created beside the database at the first start."""
    backup_days: int | None = Field(default=None, ge=1, le=3650)
    """How many days nightly backups are kept, in `backups/nightly` beside the database; unset means none are made."""

    @property
    def key_path(self) -> Path:
        """The file beside the database that holds the master key unless one is set."""
        return store.master_key_path(self.path)

    @property
    def master_key(self) -> bytes | None:
        """The 32 bytes of the key; None means the one in the file beside the database."""
        return master_key_of(self.key.get_secret_value()) if self.key else None


class ToolsSettings(SettingsGroup):
    """What the model can do besides answering. Each tool has a sub-group of its own."""

    enabled: bool = True
    """Whether the model is offered any tools at all."""
    max_tool_calls: int = Field(default=5, ge=0, le=50)
    """How often the model can call tools for one message; after that it answers with what it has."""
    max_calls_per_round: Annotated[int, FIXED] = 8
    """How many tools it can call each time, side by side."""
    timeout_seconds: float = Field(default=20, ge=0.1, le=600)
    """How many seconds a tool call can take, or web_fetch wait for a page; some tools have a limit of their own."""
    calls_per_minute: int = Field(default=30, ge=1, le=10_000)
    """How often one person can cause calls of one tool per minute."""
    approve: Annotated[tuple[str, ...], CommaList] = ()
    """The tools that ask in the conversation before they run: their names as models see them, or all."""
    contact: Contact | None = None
    """Your e-mail address, or a page about you, for services that tools query: Wikipedia then answers 200 times a
    minute, else 10; the SEC wants an address. Strangers' pages and feeds do not learn it."""

    @property
    def options_by_name(self) -> Mapping[str, Options]:
        """The options of each tool by its name in the catalogue, as `tools.build` takes them."""
        return {name: value for name, value in self if isinstance(value, Options)}


class WatchesSettings(SettingsGroup):
    """What Aldis watches for people, who ask for it in words."""

    least_minutes: int = Field(default=15, ge=1, le=1440)
    """How many minutes lie at least between two looks at the same thing."""
    messages_per_day: int = Field(default=10, ge=0, le=1000)
    """How many messages about it one person gets in a day; what is still so is said the next morning."""
    quiet_hours: Hours = "22-7"
    """The hours, by the person's clock, in which nothing is looked at; 0-0: none."""
    month_usd: Decimal = Field(default=Decimal(1), ge=0)
    """What one watch, or all that one message asks for, may cost in a month, in US dollars; people can ask for less."""
    report: str = ""
    """Where what is found also goes as JSON, with people's words: a file, or an address that takes POST; empty: off."""


class WebSettings(SettingsGroup):
    """The health page for monitoring, and the pages for setup and administration."""

    host: str = "127.0.0.1"
    """The address on which the health page listens."""
    port: int = Field(default=8787, ge=0, le=65_535)
    """Its port; 0 turns it off."""
    admin_host: str = "127.0.0.1"
    """The address on which the pages for administration listen; a network address needs WEB__ADMIN_TOTP."""
    admin_port: int = Field(default=0, ge=0, le=65_535)
    """Their port, such as 8789; 0 means no pages. `aldis admin` prints a link that opens them once."""
    admin_url: BaseUrl | None = None
    """Where other machines' browsers reach them, such as https://aldis.example.org; WEB__ADMIN_TOTP is then needed."""
    admin_totp: SecretStr | None = None
    """The base32 secret of that app, 26 letters or more; `head -c 20 /dev/urandom | base32` makes one."""

    @property
    def address(self) -> str:
        """The host and port of the health page, as a URL has them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class WorkerSettings(SettingsGroup):
    """How messages are processed."""

    conversations_at_once: int = Field(default=1000, ge=1, le=10_000)
    """How many conversations are answered side by side, those that only wait for a model or a person included."""
    turn_timeout_seconds: float = Field(default=900, ge=1, le=3600)
    """How many seconds one answer can take in all, tools included."""
    max_attempts: Annotated[int, FIXED] = 3
    """How often a message is tried before the person reads that it failed."""
    shutdown_seconds: float = Field(default=5, ge=0, le=6)
    """How many seconds a stop waits for running answers; the rest continue after the next start."""


class Settings(BaseSettings):
    """All settings of one process; `load_settings` makes them of `variables`, what is set by upper-case name."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        env_nested_delimiter=SEPARATOR,
        enable_decoding=False,  # a list is comma-separated, never JSON
    )

    llm: LlmSettings = LlmSettings()
    signal: SignalSettings = SignalSettings()
    access: AccessSettings = AccessSettings()
    groups: GroupsSettings = GroupsSettings()
    limits: LimitsSettings = LimitsSettings()
    budget: BudgetSettings = BudgetSettings()
    approvals: ApprovalsSettings = ApprovalsSettings()
    store: StoreSettings = StoreSettings()
    history: HistorySettings = HistorySettings()
    intake: IntakeSettings = IntakeSettings()
    audio: AudioSettings = AudioSettings()
    tools: ToolsSettings
    log: LogSettings = LogSettings()
    locale: LocaleSettings = LocaleSettings()
    watches: WatchesSettings = WatchesSettings()
    web: WebSettings = WebSettings()
    worker: WorkerSettings = WorkerSettings()

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], *_: PydanticBaseSettingsSource, **sources: PydanticBaseSettingsSource
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Returns the only source: the variables that `load_settings` has chosen, exploded into groups."""
        source = EnvSettingsSource(settings_cls)
        source.env_vars = {name.lower(): text for name, text in sources["init_settings"]()["variables"].items()}
        return (source,)

    @property
    def audio_key(self) -> SecretStr | None:
        """The key of the audio service; None if it needs none. OpenAI has one key for everything that it offers."""
        openai = self.llm.openai
        is_same = self.audio.is_openai_itself and openai.is_openai_itself
        is_same |= self.audio.base_url is not None and self.audio.base_url == openai.base_url
        return self.audio.api_key or (openai.api_key if is_same else None)


_OPTIONS: dict[str, Any] = {name: (entry.options, entry.options()) for name, entry in CATALOG.items()}
_TOOLS = create_model("ToolsSettings", __base__=ToolsSettings, __doc__=ToolsSettings.__doc__, **_OPTIONS)
USUAL: type[Settings] = create_model("Settings", __base__=Settings, __doc__=Settings.__doc__, tools=(_TOOLS, _TOOLS()))
"""All settings, with a sub-group for each tool of the catalogue."""
