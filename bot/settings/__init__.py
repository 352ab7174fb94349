"""Every setting of Aldis, grouped by concern; the only reader of the environment.

A setting is a variable `GROUP__NAME`, in the environment, in the `.env` file of the working directory, or in the
settings file beside the store. Groups: tools, llm, signal, access, groups, limits, budget, approvals, store, history,
intake, media, audio, log, locale, web, worker. The tools' own sub-groups come from the catalogue of `tools`, and from
the tools of other distributions that are installed here. `docs/settings.md` is generated from the docstrings here
(`table`).
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast, get_args
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    create_model,
)
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from bot.errors import ConfigError
from bot.i18n.language import LANGUAGES, Language
from bot.settings.env import (
    ENVIRONMENT,
    SEPARATOR,
    GivenValue,
    Variable,
    complaint,
    gather_values,
    names_not_read,
    resolve_values,
    variables_of,
)
from bot.settings.env_file import entries
from bot.settings.listing import markdown, plain
from bot.settings.values import (
    BridgeAddress,
    Contact,
    GroupOrAll,
    MasterKey,
    ModelName,
    ModelPrice,
    OnePerson,
    Person,
    PersonOrAll,
    WebhookSecret,
    Zone,
    is_zone_meant,
    master_key_of,
    model_price_of,
    zone_of,
)
from tools import CATALOG, BaseUrl, CommaList, Extensions, Lowered, Options, find_entry_points, import_extensions

ENV_FILE = Path(".env")
"""Read beside the environment, which wins over it."""
SETTINGS_FILE_NAME = "settings.env"
"""Of the file beside the store, over which both win: see `bot.settings.file`."""
_STORE_PATH = "STORE__PATH"

ALSO = {
    "LLM__ANTHROPIC__API_KEY": "ANTHROPIC_API_KEY",
    "LLM__OPENAI__API_KEY": "OPENAI_API_KEY",
    "LLM__OPENAI__BASE_URL": "OPENAI_BASE_URL",
    "TOOLS__WEB_SEARCH__API_KEY": "BRAVE_API_KEY",
    "TOOLS__WEB_SEARCH__TAVILY_API_KEY": "TAVILY_API_KEY",
    "TOOLS__WEB_SEARCH__SERPAPI_API_KEY": "SERPAPI_API_KEY",
    "TOOLS__WEB_SEARCH__PERPLEXITY_API_KEY": "PERPLEXITY_API_KEY",
}
"""Names that many machines have set already; each counts where our own is left out."""

OPENAI_MODEL = "gpt-6-luna"
"""The model at OpenAI itself unless one is named: a small one of the newest family.

Source: the model list of the openai SDK 3.54.0, 2026-11-21.
"""

ProviderName = Literal["anthropic", "openai", "offline"]


def _each_once(names: tuple[ProviderName, ...]) -> tuple[ProviderName, ...]:
    if len(set(names)) != len(names):
        raise ValueError("must name each provider at most once")
    return names


class SettingsGroup(BaseModel):
    """What all groups share: frozen, no unknown fields, and errors that never show a value."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        allow_inf_nan=False,
        validate_default=True,
    )


class ToolsSettings(SettingsGroup):
    """What the model may do besides answering. Each tool has a sub-group of its own."""

    extensions: ClassVar[Extensions] = Extensions()
    """The tools of other distributions that are installed here; each that was found has a sub-group, too."""

    enabled: bool = True
    """Whether the model is offered any tools at all."""
    max_tool_calls: int = Field(default=5, ge=0, le=50)
    """How often the model may call tools for one message; then it answers with what it has."""
    max_calls_per_round: int = Field(default=8, ge=1, le=64)
    """How many tools it may call each time, side by side."""
    timeout_seconds: float = Field(default=20, ge=0.1, le=600)
    """How long one tool call may take in all."""
    max_result_chars: int = Field(default=8000, ge=200, le=200_000)
    """Where a tool's result is cut before the model reads it."""
    calls_per_minute: int = Field(default=30, ge=1, le=10_000)
    """How often one person may cause calls of one tool."""
    approve: Annotated[tuple[str, ...], CommaList] = ()
    """Tools that ask in the conversation before they run: a comma list of their names, as models see them, or all."""
    contact: Contact | None = None
    """How the services that tools ask can reach you: an e-mail address, or the address of a page about you. Wikipedia
    answers 200 requests a minute with it and 10 without. Pages and feeds of strangers are not told."""

    @property
    def options_by_name(self) -> Mapping[str, Options]:
        """The options of each tool, by its name in the catalogue: what `tools.build` takes."""
        return {name: value for name, value in self if isinstance(value, Options)}


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


class SignalSettings(SettingsGroup):
    """The way to Signal."""

    url: BridgeAddress = "http://127.0.0.1:8080"
    """Where signal-cli's daemon (unix:///path, tcp://host:port or http://host:port) or signal-cli-rest-api listens."""
    account: OnePerson | None = None
    """The number or the uuid of the account that Aldis answers for; none means the only one that the server has."""
    transport: Annotated[Literal["auto", "signal_cli", "rest_api"], Lowered] = "auto"
    """Which of the two servers listens there; auto means that it is asked."""
    name: str = Field(default="Aldis", max_length=50)
    """How people address Aldis in groups."""
    device_name: str = Field(default="Aldis", max_length=50)
    """How the linked device is called in Signal's list of devices."""
    send_timeout_seconds: float = Field(default=60, ge=1, le=600)
    """How long one send may take; after that nobody knows whether it went out."""
    unknown_grace_seconds: float = Field(default=90, ge=1, le=3600)
    """How long to wait for the receipt of such a send before it is sent again; no shorter than a send."""
    max_parts: int = Field(default=5, ge=1, le=50)
    """Into how many messages a long answer is split where it cannot be sent as one; the rest is cut."""
    ack: Annotated[Literal["reaction", "none"], Lowered] = "reaction"
    """What shows on a message that it is being answered, where that takes more than seconds: an emoji, or nothing."""
    live: Annotated[Literal["off", "status", "stream"], Lowered] = "status"
    """What people see of an answer that takes long: nothing, what is going on, or also its words as they come."""
    delete_answers: bool = False
    """Whether Aldis deletes its answer, too, when somebody deletes the message that it answers."""
    round_trip_minutes: int = Field(default=0, ge=0, le=1440)
    """How often a note to self tests that messages still arrive; 0 means never. Needs another device of the account."""
    note_to_self: bool = False
    """Whether the account is your own: then Aldis answers your Note to Self and reads nothing else of what comes."""
    webhook_secret: WebhookSecret | None = None
    """What the posts of signal-cli-rest-api's RECEIVE_WEBHOOK_URL must show; with it Aldis listens for them."""
    webhook_host: str = "127.0.0.1"
    """The address on which it listens for them."""
    webhook_port: int = Field(default=8788, ge=1, le=65_535)
    """The port on which it listens for them."""
    new_safety_numbers: Annotated[Literal["ask", "accept"], Lowered] = "ask"
    """What a new safety number means: ask waits until somebody says `/trust`, accept trusts it as Signal's apps do."""
    attachments: Path | None = None
    """The folder in which signal-cli keeps the files that come, where Aldis may delete them; none means they stay."""


class AccessSettings(SettingsGroup):
    """Who may write. Nobody, unless named here."""

    allowed: Annotated[tuple[PersonOrAll, ...], CommaList] = ()
    """Who is answered: a comma list of phone numbers and uuids, or * for everybody."""
    groups: Annotated[tuple[GroupOrAll, ...], CommaList] = ()
    """In which groups: a comma list of group ids in their exact case, or * for every group."""
    admins: Annotated[tuple[Person, ...], CommaList] = ()
    """Who may give the operator's commands: a comma list of phone numbers and uuids."""
    group_members_may_write: bool = False
    """Whether the members of the groups named above may write directly, too."""
    strangers: Annotated[Literal["ignore", "pair"], Lowered] = "ignore"
    """What people hear who are not named: ignore means nothing; pair means a code by which an admin can let them in."""
    greeting: bool = True
    """Whether people are greeted when they first write directly: in three lines, with what they could ask."""


class GroupsSettings(SettingsGroup):
    """What Aldis takes note of in groups."""

    context_messages: int = Field(default=0, ge=0, le=100)
    """How many messages of others since its last answer go along with a question; 0 means none. Kept in memory only."""


class LimitsSettings(SettingsGroup):
    """How much people may write."""

    messages_per_minute: int = Field(default=60, ge=1, le=10_000)
    """How many messages of one person are taken in a minute; of those beyond, the first is told so."""
    conversation_messages_per_minute: int = Field(default=120, ge=1, le=10_000)
    """How many messages of one conversation are taken in a minute."""
    max_waiting: int = Field(default=200, ge=1, le=100_000)
    """How many messages of one conversation may wait at the same time."""
    turns_at_once: int = Field(default=3, ge=1, le=1000)
    """In how many conversations one person is answered at the same time."""


class BudgetSettings(SettingsGroup):
    """How much may be spent, in US dollars by the ledger's prices. None means without limit, 0 means nothing."""

    person_day_usd: Decimal | None = Field(default=None, ge=0)
    """For one person in a day."""
    person_month_usd: Decimal | None = Field(default=None, ge=0)
    """For one person in a month."""
    group_day_usd: Decimal | None = Field(default=None, ge=0)
    """For one group in a day."""
    group_month_usd: Decimal | None = Field(default=None, ge=0)
    """For one group in a month."""
    all_day_usd: Decimal | None = Field(default=None, ge=0)
    """For everybody together in a day."""
    all_month_usd: Decimal | None = Field(default=None, ge=0)
    """For everybody together in a month."""
    warn_at: Decimal = Field(default=Decimal("0.8"), gt=0, le=1)
    """From which part of a budget on the person is told once how much is used."""
    prices: Annotated[tuple[ModelPrice, ...], CommaList] = ()
    """Prices of models that Aldis does not know, or that you pay otherwise: a comma list of model=input/output in
    dollars per million tokens."""
    prices_file: Path | None = None
    """A file with newer prices, in the form of `bot/providers/prices.json`; `make prices` writes one."""

    @property
    def own_prices(self) -> tuple[tuple[str, Decimal, Decimal], ...]:
        """The model, the dollars for a million tokens in, and those for a million out, of each price."""
        return tuple(model_price_of(price) for price in self.prices)


class ApprovalsSettings(SettingsGroup):
    """Tools that do something ask first when what was read could have talked the model into it."""

    timeout: float = Field(default=600, ge=10, le=86_400)
    """How many seconds a tool waits for a yes; after that it is a no."""


class AnswersSettings(SettingsGroup):
    """What stands in answers besides the words of the model."""

    show_sources: bool = False
    """Whether a line below an answer tells what it rests on: "(from the web)", "(from your file)"."""


class StoreSettings(SettingsGroup):
    """What is kept, and the key that seals it."""

    path: Path = Path("data/aldis.db")
    """The database; its folder is made when missing. The keys stand beside it."""
    key: MasterKey | None = None
    """The master key: 32 bytes in hex or base64; none means the one made on first start beside the database."""
    old_key: MasterKey | None = None
    """The master key until now, where STORE__KEY is a new one: the next start turns from the old to the new."""

    @property
    def master_key(self) -> bytes | None:
        """The 32 bytes of the key; None means the one in the file beside the database."""
        return master_key_of(self.key.get_secret_value()) if self.key else None

    @property
    def old_master_key(self) -> bytes | None:
        """The 32 bytes of the key until now; None where it does not change."""
        return master_key_of(self.old_key.get_secret_value()) if self.old_key else None


class HistorySettings(SettingsGroup):
    """How much of a conversation the model reads again with each question."""

    max_turns: int = Field(default=20, ge=0, le=1000)
    """How many earlier questions with their answers."""
    max_tokens: int = Field(default=16_000, ge=0, le=1_000_000)
    """How many tokens of them, by estimate; the oldest turns go first."""
    summaries: bool = True
    """Whether what no longer fits is summed up, at the price of one more question to the model now and then."""
    retention_days: int | None = Field(default=None, ge=1, le=36_500)
    """After how many days what was said is destroyed; none means that it stays until somebody wants it forgotten."""


class IntakeSettings(SettingsGroup):
    """What is taken in."""

    max_age: float = Field(default=86_400, ge=1)
    """How many seconds a message may have waited before it is not answered as if it were new, but told so."""


class MediaSettings(SettingsGroup):
    """Pictures, PDFs, texts and recordings that come with messages."""

    max_files: int = Field(default=8, ge=0, le=50)
    """How many files are opened with one question; 0 means none."""
    max_bytes: int = Field(default=20_000_000, ge=1000, le=100_000_000)
    """The largest file that is fetched, in bytes."""
    max_pages: int = Field(default=50, ge=1, le=1000)
    """How many pages of a PDF are read."""
    max_text_chars: int = Field(default=30_000, ge=1000, le=1_000_000)
    """How much text of one file the model reads."""


class AudioSettings(SettingsGroup):
    """Spoken words, by OpenAI or any server with its API (Groq, speaches, whisper.cpp). Off without an address."""

    base_url: BaseUrl | None = None
    """The address of the service, with /v1, such as https://api.openai.com/v1; with it voice notes are understood."""
    api_key: SecretStr | None = None
    """Its key; left out, the one of LLM__OPENAI counts where the address is the same."""
    model: str | None = None
    """The model that listens; none means `gpt-4o-mini-transcribe` at OpenAI itself, `whisper-1` elsewhere."""
    language: str | None = Field(default=None, pattern="^[a-z]{2}$")
    """The language that people speak, like de; none lets the model find out."""
    price: Decimal | None = Field(default=None, ge=0, le=1000)
    """What a minute costs, in US dollars, for the ledger; none means that nobody knows. A budget wants it said."""
    speak: bool = False
    """Whether a voice note is answered by a voice note, besides the text."""
    speech_model: str | None = None
    """The model that speaks; none means `gpt-4o-mini-tts` at OpenAI itself, `tts-1` elsewhere."""
    voice: str = "alloy"
    """Its voice."""
    speech_price: Decimal | None = Field(default=None, ge=0, le=100_000)
    """What a million spoken characters cost, in US dollars, for the ledger; none means as above."""
    timeout_seconds: float = Field(default=60, ge=1, le=600)
    """How long listening to one recording, or speaking one answer, may take."""

    @property
    def is_openai_itself(self) -> bool:
        """Whether the address is OpenAI's own and not a compatible server's."""
        return self.base_url is not None and urlsplit(self.base_url).hostname == "api.openai.com"

    @property
    def listening_model(self) -> str:
        """The model that listens."""
        return self.model or ("gpt-4o-mini-transcribe" if self.is_openai_itself else "whisper-1")

    @property
    def speaking_model(self) -> str:
        """The model that speaks."""
        return self.speech_model or ("gpt-4o-mini-tts" if self.is_openai_itself else "tts-1")


class LogSettings(SettingsGroup):
    """What is written to standard error. Never anything that a person wrote."""

    level: Annotated[Literal["debug", "info", "warning", "error"], Lowered] = "info"
    """From which level on."""
    format: Annotated[Literal["text", "json"], Lowered] = "text"
    """One line of text, or one line of JSON."""


class LocaleSettings(SettingsGroup):
    """Where the people are, and what they speak."""

    timezone: Zone = "UTC"
    """Their time zone, like Europe/Berlin; left out, the machine's `TZ` counts."""
    place: str | None = Field(default=None, max_length=100)
    """Where they are, like Lyon, for questions about the weather that name no place; none means that models ask."""
    language: Annotated[Language, Lowered] = "en"
    """What Aldis itself speaks until it is known what people write: en, de, fr or es; models answer as asked.
    Left out, the machine's `LC_ALL`, `LC_MESSAGES` or `LANG` counts."""


class WebSettings(SettingsGroup):
    """The health page for the machine that watches over Aldis, and the pages for set-up and administration."""

    host: str = "127.0.0.1"
    """The address on which the health page listens."""
    port: int = Field(default=8787, ge=0, le=65_535)
    """Its port; 0 switches it off."""
    admin_host: str = "127.0.0.1"
    """The address on which the pages for set-up and administration listen; one of the network wants WEB__ADMIN_TOTP."""
    admin_port: int = Field(default=0, ge=0, le=65_535)
    """Their port, such as 8789; 0 means that there are none. `aldis admin` prints a link that opens them once."""
    admin_url: BaseUrl | None = None
    """Where browsers find them, where that is not this machine, such as https://aldis.example.org; then they want a
    code of an authenticator app, too."""
    admin_totp: SecretStr | None = None
    """The secret of that app in base32, 26 letters or more; `head -c 20 /dev/urandom | base32` makes one."""

    @property
    def address(self) -> str:
        """Where the health page is, as an address has it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class AttestationSettings(SettingsGroup):
    """What vouches for Aldis where it runs in a trusted execution environment (docs/attestation.md)."""

    socket: Path = Path("/var/run/dstack.sock")
    """The socket of dstack's guest agent, which gives quotes; where there is none, `/verify` says that nothing is
    proved."""


class WorkerSettings(SettingsGroup):
    """How messages are worked off."""

    conversations_at_once: int = Field(default=1000, ge=1, le=10_000)
    """How many conversations are answered side by side, those included that only wait for a model, a tool or a person.
    A bound for the memory: as many that wait in vain keep everybody else waiting."""
    turn_timeout_seconds: float = Field(default=300, ge=1, le=3600)
    """How long one answer may take in all, tools included."""
    max_attempts: int = Field(default=3, ge=1, le=20)
    """How often a message is tried before the person is told that it failed; a try counts that failed by itself, or
    that may have killed Aldis."""
    shutdown_seconds: float = Field(default=5, ge=0, le=6)
    """How long a stop waits for running answers; what is left is continued after the next start."""


class Settings(BaseSettings):
    """All settings of one process; `load_settings` makes them."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        validate_default=True,
        enable_decoding=False,  # a list is a comma list, never JSON
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
        """The key of the audio service; None where it wants none. OpenAI's is one for all that it offers."""
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
        """Only what `load_settings` hands over: it reads the environment itself, so that each value's origin is
        known.
        """
        return (init_settings,)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Form:
    """What may be set, where these tools of other distributions are installed."""

    model: type[Settings]
    known: tuple[Variable, ...]
    passed_over: tuple[str, ...] = ()
    """How the variables begin of tools that were not imported, so that nobody knows what may be set for them."""


def _form(extensions: Extensions) -> _Form:
    """The settings with a sub-group for each tool of the catalogue, and for each that was found elsewhere."""
    classes = {name: entry.options for name, entry in CATALOG.items()}
    classes |= {extension.name: extension.options for extension in extensions.found}
    options: dict[str, Any] = {name: (kind, kind()) for name, kind in classes.items()}
    tools = create_model("ToolsSettings", __base__=ToolsSettings, __doc__=ToolsSettings.__doc__, **options)
    tools.extensions = extensions
    model = create_model("Settings", __base__=Settings, __doc__=Settings.__doc__, tools=(tools, tools()))
    unread = (*extensions.switched_off, *(failure.name for failure in extensions.failures))
    passed_over = tuple(f"TOOLS__{name.upper()}__" for name in unread if name not in {*_TAKEN, *classes})
    return _Form(model=model, known=tuple(variables_of(model, ALSO)), passed_over=passed_over)


_TAKEN = frozenset({*CATALOG, *dir(ToolsSettings)})
"""What no tool of another distribution can be called."""

_USUAL = _form(Extensions())
_Settings, _KNOWN = _USUAL.model, _USUAL.known


def _form_here(given: Mapping[str, GivenValue]) -> _Form:
    """What may be set with what is installed on this machine; what is switched off is not imported."""
    points = find_entry_points()
    if not points:
        return _USUAL
    off = _switched_off(given, {point.name for point in points})
    return _form(import_extensions(points, off=off, taken=_TAKEN))


def _switched_off(given: Mapping[str, GivenValue], names: Iterable[str]) -> frozenset[str] | None:
    """Which of the tools `TOOLS__<NAME>__ENABLED` switches off; None where `TOOLS__ENABLED` does it with all."""
    if _is_false(given.get("TOOLS__ENABLED")):
        return None
    return frozenset(name for name in names if _is_false(given.get(f"TOOLS__{name.upper()}__ENABLED")))


def _is_false(given: GivenValue | None) -> bool:
    try:
        return given is not None and not TypeAdapter(bool).validate_python(given.value)
    except ValidationError:
        return False  # reading all values complains of it


def load_settings(environ: Mapping[str, str] | None = None, env_file: Path | None = ENV_FILE) -> Settings:
    """The settings that the environment, the `.env` file and the settings file beside the store give.

    `environ` None means the process's own; a file that is not there is no file, and `env_file` None means that no file
    is read, the settings file neither.

    Raises:
        ConfigError: names are unknown, or a value is bad; its message has a line for each, for the operator.
    """
    file = None
    if env_file is not None:
        path = settings_file_path(environ, env_file)
        file = (path, read_settings_file(path))
    return values_from(environ, env_file, file=file)[0]


def settings_file_path(environ: Mapping[str, str] | None = None, env_file: Path | None = ENV_FILE) -> Path:
    """Returns where the settings file lies: in the folder of the store that the environment and `.env` name."""
    return store_path(environ, env_file).with_name(SETTINGS_FILE_NAME)


def store_path(environ: Mapping[str, str] | None = None, env_file: Path | None = ENV_FILE) -> Path:
    """Returns where the store is, as the environment and `.env` say, whatever else is wrong with the settings."""
    given = _given(environ, env_file).get(_STORE_PATH)
    return Path(given.value) if given else StoreSettings().path


def read_settings_file(path: Path, text: str | None = None) -> dict[str, str]:
    """What stands in the settings file, by upper-case name; nothing where there is none. `text` is read in its place.

    Raises:
        ConfigError: it cannot be read, a line is no setting, or it says where the store is.
    """
    try:
        found = entries(path.read_bytes().decode() if text is None else text, path.name)
    except (FileNotFoundError, NotADirectoryError):  # the doctor names a folder that is none
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error
    if _STORE_PATH in found:
        raise ConfigError(f"{_STORE_PATH}: cannot stand in {path.name}, which lies beside the store; set it in .env")
    return found


def values_from(
    environ: Mapping[str, str] | None,
    env_file: Path | None,
    *,
    file: tuple[Path, Mapping[str, str]] | None = None,
    is_file_first: bool = False,
) -> tuple[Settings, dict[str, GivenValue]]:
    """The settings, and what is set of them by each variable's own name; `file` is the settings file and its content.

    `is_file_first`: as it would be if the file won over the environment and `.env`.

    Raises:
        ConfigError: as `load_settings`.
    """
    given = _given(environ, env_file)
    weaker = gather_values({file[0].name: file[1]}) if file else {}
    if is_file_first:
        given, weaker = weaker, given
    form = _form_here({**weaker, **given})
    merged = {**_without(weaker, given, form.known), **given}
    values = {
        **_machine_zone(merged),
        **_machine_language(merged),
        **resolve_values(merged, form.known, form.passed_over),
    }
    try:
        settings = form.model(**_nested(form.model, values))
    except ValidationError as error:
        raise ConfigError(complaint(error, form.known, values)) from None  # the cause would hold what was entered
    if not is_file_first:
        _refuse_keyless(settings.llm)
    return settings, values


def known_variables(
    environ: Mapping[str, str] | None = None,
    env_file: Path | None = ENV_FILE,
    *,
    file: tuple[Path, Mapping[str, str]] | None = None,
) -> tuple[Variable, ...]:
    """Returns every setting that there is with what is installed on this machine; what is switched off is left out."""
    weaker = gather_values({file[0].name: file[1]}) if file else {}
    return _form_here({**weaker, **_given(environ, env_file)}).known


def unread_names(environ: Mapping[str, str] | None = None, *, is_alone: bool = False) -> tuple[str, ...]:
    """Returns what the environment (None: the process's own) holds that may be meant for a setting and is not read.

    `is_alone`: nothing but Aldis runs there, so that it is all that is not known to be for something else.
    """
    form = _form_here(_given(environ, None))
    return names_not_read(os.environ if environ is None else environ, form.known, form.passed_over, is_alone=is_alone)


def table(model: type[Settings] = _Settings) -> str:
    """The settings as Markdown for `docs/settings.md`: for each group a heading, its purpose, and a table.

    `model`: the class of settings that were loaded, which has the sub-groups of what is installed on this machine, too.
    """
    return "\n".join(markdown(*group) for group in _groups(model))


def listing(model: type[Settings], columns: int | None) -> str:
    """The same for somebody at a terminal: each setting as a line of `.env`, and below it what it means.

    `columns`: how wide the lines may become; None: as wide as they are.
    """
    return "\n".join(plain(*group, columns=columns) for group in _groups(model))


def _groups(model: type[Settings]) -> Iterator[tuple[str, str, list[Variable]]]:
    """The groups in their order: name, purpose, and the variables of each."""
    known = tuple(variables_of(model, ALSO))
    for name, field in model.model_fields.items():
        group = cast("type[BaseModel]", field.annotation)
        yield name.upper(), group.__doc__ or "", [variable for variable in known if variable.path[0] == name]


def _read(env_file: Path | None) -> dict[str, Mapping[str, str]]:
    """What stands in the file, under its name; nothing where there is no file."""
    if env_file is None or not env_file.is_file():
        return {}
    try:
        return {env_file.name: entries(env_file.read_bytes().decode(), env_file.name, is_shared=True)}
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(env_file, error) from error


def _unreadable(file: Path, error: OSError | UnicodeDecodeError) -> ConfigError:
    why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
    return ConfigError(f"{file.name}: cannot be read: {why}")


def _given(environ: Mapping[str, str] | None, env_file: Path | None) -> dict[str, GivenValue]:
    """What the environment and the `.env` file say."""
    return gather_values({**_read(env_file), ENVIRONMENT: os.environ if environ is None else environ})


def _without(
    weaker: Mapping[str, GivenValue], given: Mapping[str, GivenValue], known: Iterable[Variable]
) -> dict[str, GivenValue]:
    """What is weaker, without the variables that are given, under whichever of their names."""
    beaten = {name for variable in known if any(name in given for name in variable.names) for name in variable.names}
    return {name: value for name, value in weaker.items() if name not in beaten}


def _machine_zone(given: Mapping[str, GivenValue]) -> dict[str, GivenValue]:
    """The machine's own time zone as the setting's default, where it names one that exists.

    Raises:
        ConfigError: it names one that does not, and nothing else is set.
    """
    zone = given.get("TZ")
    if zone is None or "LOCALE__TIMEZONE" in given:
        return {}
    name = zone_of(zone.value)
    if name is None and is_zone_meant(zone.value):
        close = next(iter(get_close_matches(zone.value, available_timezones(), n=1)), None)
        hint = f"; did you mean {close}?" if close else ", like Europe/Berlin"
        raise ConfigError(f"TZ: there is no such time zone{hint}")
    return {} if name is None else {"LOCALE__TIMEZONE": replace(zone, value=name)}


def _machine_language(given: Mapping[str, GivenValue]) -> dict[str, GivenValue]:
    """The machine's own language as the setting's default, where Aldis speaks it: `LANG=de_DE.UTF-8` is German."""
    said = next(filter(None, map(given.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), None)
    if said is None or "LOCALE__LANGUAGE" in given:
        return {}
    code = re.split("[_.@]", said.value.lower(), maxsplit=1)[0]
    return {"LOCALE__LANGUAGE": replace(said, value=code)} if code in LANGUAGES else {}


def unread_zone(environ: Mapping[str, str] | None = None) -> str | None:
    """Returns what `TZ` holds (in the environment; None: the process's own) where it is no name of a zone, so that
    people's times are those of UTC or of `LOCALE__TIMEZONE`; None where it is one, or is not set.
    """
    zone = (os.environ if environ is None else environ).get("TZ")
    return zone if zone and zone_of(zone) is None else None


def _nested(model: type[Settings], values: Mapping[str, GivenValue]) -> dict[str, Any]:
    """The values in the shape of the groups; pydantic-settings knows how."""
    source = EnvSettingsSource(model)
    source.env_vars = {name.lower(): given.value for name, given in values.items()}
    return source()


def _refuse_keyless(llm: LlmSettings) -> None:
    """A provider that is asked for by name must be usable; otherwise the mistake would show with the first message."""
    chosen = dict.fromkeys((choice.partition("/")[0] for choice in llm.choices), "LLM__CHOICES")
    for name, where in (chosen | dict.fromkeys(llm.providers, "LLM__PROVIDERS")).items():
        if name not in llm.usable:
            variable = f"LLM__{name.upper()}__API_KEY"
            raise ConfigError(f"{variable}: must be set (or {ALSO[variable]}), because {where} names {name}")
