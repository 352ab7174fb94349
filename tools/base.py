"""The interface of tools: their specification, the context of a call, and its result."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Protocol, runtime_checkable
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, SecretStr

Effects = Literal["none", "repeatable", "once"]
"""What a call changes outside: nothing; something that can happen twice; something that must not."""

Label = Literal["public", "local", "pages", "feeds", "sent", "kept", "computed", "operator", "private", "private_open"]
"""Whose words the answers of a tool contain, and who sees its arguments.

    value           its answers contain                                its arguments are seen by
    public          strangers' words                                   a stranger's service
    local           strangers' words                                   no one else
    pages           the same: `results` with a `url` each, which may   a stranger's service
                    be fetched later in the turn
    feeds           the same, from what Aldis has read before          no one else
    sent            nothing that was not asked for                     a stranger's service
    kept            what people had Aldis keep, with its `origins`     no one else
    operator        the operator's own words, to be followed           no one else
    computed        what follows from its arguments and the clock      no one else
    private         what people entrust to the operator, such as rows  the operator's service
    private_open    the same                                           a stranger's service
"""

Approval = Literal["by_labels", "each_by_labels", "unless_named", "always"]
"""When a person has to approve a call.

    value             asked
    by_labels         when something of strangers is in the request; the person may allow the tool for good in a chat
    each_by_labels    the same, and never allowed for good, nor by naming what it takes: it deletes, or acts later
    unless_named      unless the person's own message names what it takes; never allowed for good
    always            each time
"""


class Arguments(BaseModel):
    """Base class of tool arguments. Unknown names are refused, so that a model learns about its mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)
    rare: ClassVar[frozenset[str]] = frozenset()
    """Seldom needed optional arguments, which models see when they ask what the tool takes."""

    @classmethod
    def json_schema(cls) -> Mapping[str, Any]:
        """Returns the JSON schema of the arguments object, without titles, which only cost tokens."""
        return json.loads(json.dumps(cls.model_json_schema()), object_hook=_without_title)


class Options(BaseModel):
    """Base class of tool settings, read from `TOOLS__<GROUP>__<FIELD>`. No error repeats a value: it may be a key."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True, hide_input_in_errors=True)

    known_to: ClassVar[tuple[str, ...] | None] = None
    """Who outside this machine sees the arguments, such as `("Open-Meteo: the place",)`; None: unknown."""
    enabled: bool = True
    """Whether models are offered the tool."""

    def missing_settings(self) -> str | None:
        """Returns the variables of the group that the tool needs, such as `API_KEY or BASE_URL`; None: all are set."""
        return None

    def idle_services(self) -> Mapping[str, str]:
        """Returns further services that a working tool could use, such as `{"Brave Search": "API_KEY"}`."""
        return {}

    def seen_by(self) -> tuple[str, ...] | None:
        """Returns `known_to`, or what it is as things are set."""
        return self.known_to


def switch(*seen_by: str) -> type[Options]:
    """Returns the settings of a tool that can only be switched on or off, and whose arguments these services see."""

    class Switch(Options):
        known_to = seen_by

    return Switch


def is_base_url(value: str) -> bool:
    """Whether the value is a valid `BaseUrl`."""
    try:
        parts = urlsplit(value)
        parts.port  # noqa: B018 - reading it raises when it is no port
    except ValueError:
        return False
    is_whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and re.search(r"\s", value) is None
    return is_whole and not (parts.query or parts.fragment)


def _as_base_url(value: str) -> str:
    if not is_base_url(value):
        raise ValueError("must be an address like http://host:port, with nothing behind a ? or #")
    return urlsplit(value).geturl().rstrip("/")


def _as_key(value: SecretStr) -> SecretStr:
    key = value.get_secret_value()
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ValueError("must be the key alone: letters, digits and signs on one line")
    return value


def _items(value: object) -> object:
    return tuple(item.strip() for item in value.split(",") if item.strip()) if isinstance(value, str) else value


BaseUrl = Annotated[str, AfterValidator(_as_base_url)]
"""The address of a service: http or https, a host, optionally a port and a path, without a trailing slash."""

Key = Annotated[SecretStr, AfterValidator(_as_key)]
"""The key of a service, valid in a header."""

CommaList = BeforeValidator(_items)
"""Accepts a comma-separated list for a tuple; drops surrounding spaces and empty items."""

FIXED = "fixed"
"""Marks an option that no variable sets: a constant that tests, and the code that makes the options, can replace."""
Lowered = BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)
"""Accepts a word, or a comma-separated list of words, in any case."""

Every = Literal["hour", "day", "week", "month", "year"]
Weekday = Literal["mo", "tu", "we", "th", "fr", "sa", "su"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Repeat:
    """A repetition, by the wall clock of its time zone (`hour`: by elapsed time)."""

    every: Every
    interval: int = 1
    """Every how many hours, days, ..."""
    weekdays: tuple[Weekday, ...] = ()
    """Only on these days; with `month` exactly one, together with `nth`."""
    nth: int | None = None
    """Which of these weekdays of the month: 1 to 4, or -1 for the last."""
    count: int | None = None
    """How many times in all; None: without end."""
    until: date | None = None
    """The last day, by the time zone's calendar; None: without end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """A request for a reminder: a text, and a local time or a delay, once or repeatedly."""

    text: str
    prompt: str | None = None
    """A question to ask then on the person's behalf; None: they only read `text`."""
    local: str | None = None
    """`YYYY-MM-DDTHH:MM` on the wall clock of the zone; with `repeat`, the first time."""
    delay_seconds: int | None = None
    timezone: str | None = None
    """An IANA zone; None: the person's own."""
    repeat: Repeat | None = None
    names_half: bool = True
    """Whether the half of the day was said; if not ("at 5"), the hour is settled when it is planned."""
    names_day: bool = True
    """Whether a day was said; if not, the next time at that hour is meant."""


@dataclass(frozen=True, slots=True)
class Intent:
    """A description of what a call would do, for the person who has to approve it."""

    sentence: str
    """The name of the sentence: `draw` for `DEED_DRAW` of `bot.chat.phrases`."""
    values: Mapping[str, object] = field(default_factory=dict[str, object])
    """Values for the sentence: a `str` is quoted, as strangers may have written it; others are shown by language."""
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    """Values to list below the sentence, by name."""


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """The specification of a tool."""

    name: str
    """Matches `^[a-z][a-z0-9_]{0,63}$`, which every model API accepts."""
    description: str
    """One paragraph for the model: what the tool returns, when to use it, what it cannot do."""
    arguments: type[Arguments]
    """Both the JSON schema for the model and the validation of calls."""
    effects: Effects = "none"
    only_reads: frozenset[str] = frozenset()
    """Values of arguments with which a tool with effects only reads, such as `action=list`."""
    label: Label = "public"
    """Whose words its answers contain, and who sees its arguments."""
    fetches: str | None = None
    """The argument with a web address that a call reads, one that the model could not make up; None: it names none."""
    approval: Approval | Callable[[Any], Approval] = "by_labels"
    """When a person has to approve a call, or a function of its `arguments` that returns it."""
    intent: Callable[[Any], Intent] | None = None
    """Describes a call for the person who has to approve it. None: they see the name and each argument."""
    seldom: str = ""
    """A few words for a seldom needed tool in the list that models see; empty: the first sentence of `description`."""
    timeout_seconds: float | None = None
    """The time limit of one call; None means the setting `TOOLS__TIMEOUT_SECONDS`."""
    max_result_chars: int | None = None
    """Where its result is cut; None means after 8,000 characters. For tools that cut their results."""
    cost_usd: Decimal = field(default=Decimal(0))
    """What one call costs the operator."""
    server: str = ""
    """The server it belongs to, by the operator's name; empty: none."""

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON schema of the arguments object."""
        return self.arguments.json_schema()

    @property
    def is_disclosing(self) -> bool:
        """Whether strangers see its arguments; the address of a page is looked at by itself, see `fetches`."""
        return self.fetches is None and self.label in {"public", "pages", "sent", "private_open"}

    @property
    def is_private(self) -> bool:
        """Whether its answers contain what people entrust to the operator."""
        return self.label in {"private", "private_open"}

    @property
    def is_own(self) -> bool:
        """Whether its answers contain nothing but what was asked, computed or kept."""
        return self.label in {"sent", "kept", "computed", "operator"}

    @property
    def finds_pages(self) -> bool:
        """Whether its `results` have a `url` each, of a page that can be fetched later in the turn."""
        return self.label in {"pages", "feeds"}


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolContext:
    """The context of one call."""

    now: datetime
    """The present instant, aware, in UTC."""
    timezone: str
    """The IANA time zone of the people who ask."""
    language: str = "en"
    """The ISO code of the language of the answer, for what people see of a tool itself, such as a chart."""
    person: str = ""
    """Who asks, as an opaque name for ports."""
    chat: str = ""
    """The chat it was asked in; opaque."""
    turn: int = 0
    """The turn; opaque."""
    call: str = ""
    """The unique name of this call, which stays the same when it is repeated after a crash."""
    origin: str = ""
    """Where its arguments come from; opaque."""
    addresses: tuple[str, ...] = ()
    """The web addresses in the person's own words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultFile:
    """A file made by a tool and sent to the person with the answer. The model only reads that it exists."""

    name: str
    """A file name with a suffix that fits the type, without a folder."""
    content_type: str
    data: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """The result of a call: a JSON object (str, int, float, bool, None, lists and dicts of them)."""

    data: Mapping[str, Any]
    cost_usd: Decimal | None = None
    """The cost of this call if it is known only afterwards; None means that of the spec."""
    files: tuple[ResultFile, ...] = ()
    origins: tuple[str, ...] = ()
    """The `origin` of everything that a port returned, passed on unread."""


class Tool(Protocol):
    """A tool that a model can call."""

    @property
    def spec(self) -> ToolSpec:
        """Its specification, which does not change."""
        ...

    async def run(self, arguments: Any, context: ToolContext) -> Result:
        """Runs a call with validated `arguments` until it is cancelled; any error but a `ToolError` is a bug."""
        ...


@runtime_checkable
class CheckedTool(Tool, Protocol):
    """A tool that knows beforehand what it will refuse, so that no person is asked to agree to that."""

    async def check(self, arguments: Any, context: ToolContext) -> None:
        """Does nothing but raise the `ToolError` that `run` would raise, as far as that can be known beforehand."""
        ...


class ToolSource(Protocol):
    """A source of tools that are known only at run time and can come and go."""

    async def tools(self) -> Sequence[Tool]:
        """Returns the present tools in a fixed order, after a bounded wait for starting ones. Raises no error."""
        ...

    @property
    def absent(self) -> Sequence[str]:
        """What should provide tools but does not at the moment, by the operator's names."""
        return ()

    @property
    def unable(self) -> Sequence[str]:
        """Its tools that this machine cannot run, by name."""
        return ()

    async def aclose(self) -> None:
        """Stops everything that runs for it. It must not be used afterwards."""


class Quotas(Protocol):
    """Counts the use of outside services in the current day (UTC), across restarts."""

    async def take(self, service: str, *, limit: int, amount: int) -> bool:
        """Counts `amount` more of what the service charges for; False, and nothing counted, beyond the `limit`."""
        ...


def fit(asked: int, least: int, most: int, what: str) -> tuple[int, Mapping[str, str]]:
    """Returns the number that a service takes, and a `note` if it is not the one asked for; `what` is in the plural."""
    number = min(max(asked, least), most)
    bound = f"At most {most}" if asked > most else f"At least {least}"
    return number, {} if number == asked else {"note": f"{bound} {what} can be asked for at a time, not {asked}."}


def _without_title(schema: dict[str, Any]) -> dict[str, Any]:
    """Drops the title, which is a text; behind the name of an argument that is called so stands an object."""
    return {key: item for key, item in schema.items() if key != "title" or not isinstance(item, str)}
