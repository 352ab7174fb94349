"""The seam to the tools: what a tool says of itself, what it is handed, what it gives back."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, Literal, Protocol, cast
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, SecretStr, model_validator

Effects = Literal["none", "repeatable", "once"]
"""What a call does to the world: nothing; something that may happen again; something that must not."""

Answers = Literal["anything", "names", "own", "catalogue"]
"""Whose words a tool's answers hold: anybody's; numbers, days, ids and names of one word alone, which is looked at each
time; those of the person and Aldis alone; those of the service's operator, and no secrets."""


class Arguments(BaseModel):
    """The base of every tool's arguments: unknown names are refused, so that a model learns of its typing errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    @classmethod
    def json_schema(cls) -> Mapping[str, Any]:
        """The JSON schema of the arguments object, without titles: they cost tokens and say nothing."""
        return _without_titles(cls.model_json_schema())


class Options(BaseModel):
    """The base of every tool's settings: what `TOOLS__<GROUP>__<FIELD>` may say.

    A variable that is set to nothing counts as not set. What was given is never repeated in an error: it may be a key.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True, hide_input_in_errors=True)

    enabled: bool = True
    """Whether models are offered the tool."""

    def missing(self) -> str | None:
        """Returns what has to be set before the tool works and is offered: variables of its group, such as `API_KEY` or
        `API_KEY or BASE_URL`; None where it works as it is.
        """
        return None

    def lacking(self) -> str | None:
        """Returns the extra of Aldis that these settings need and that is not installed; None: nothing is missing."""
        return None

    def idle_services(self) -> Mapping[str, str]:
        """Returns the services that a working tool could also ask, each with the variable that switches it on:
        `{"Brave Search": "API_KEY"}`; empty where there are none.
        """
        return {}

    def seen_by(self) -> tuple[str, ...] | None:
        """Returns who outside this machine sees what is asked: `("Open-Meteo: the place",)`; empty: nobody; None:
        unknown.
        """
        return None

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in cast("dict[str, Any]", given).items() if value != ""}


class LocalOptions(Options):
    """The settings of a tool that asks nobody and has nothing to set but whether it is on."""

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`: nobody."""
        return ()


def is_base_url(value: str) -> bool:
    """Whether it is what a `BaseUrl` may be."""
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
    return value.rstrip("/")


def _as_key(value: SecretStr) -> SecretStr:
    key = value.get_secret_value()
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ValueError("must be the key alone: letters, digits and signs on one line")
    return value


def _items(value: object) -> object:
    return tuple(item.strip() for item in value.split(",") if item.strip()) if isinstance(value, str) else value


class SecretText(SecretStr):
    """A secret of any number of words and lines, such as JSON with a password in it, which travels in no header."""


BaseUrl = Annotated[str, AfterValidator(_as_base_url)]
"""Where a service lives: http or https, a host, perhaps a port and a path; kept without the slash at the end."""

Key = Annotated[SecretStr, AfterValidator(_as_key)]
"""A service's key, fit to travel in a header."""

CommaList = BeforeValidator(_items)
"""Lets a tuple be written as a comma list; spaces around the items and empty items are dropped."""

Lowered = BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)
"""Lets a word, or a comma list of words, be written in any case."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What a call would do, for the person who is asked about it."""

    sentence: str
    """The name of the sentence that says it: `draw` for `DEED_DRAW` of `bot.turn.phrases`."""
    values: Mapping[str, object] = field(default_factory=dict[str, object])
    """What is filled in: a `str` is shown as a quotation, for anybody may have written it; `int`, `Decimal` and `date`
    as the language writes them; a `Wish` is shown as the time that it is for."""
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    """What is listed below the sentence, by name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Records:
    """What the records in a tool's answers are."""

    kind: str
    """`event`, `file`: tools of one server that give the same kind mean the same records."""
    key: str = ""
    """The field by which the server knows one; empty: the answers are lists of names, each of which stands for
    itself."""
    named_by: tuple[str, ...] = ()
    """The fields that hold what people call one."""


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """What a tool says of itself."""

    name: str
    """`^[a-z][a-z0-9_]{0,63}$`: what every model's API accepts."""
    description: str
    """One paragraph for the model: what it gives, when to use it, what it cannot do."""
    arguments: type[Arguments]
    """At once the JSON schema that the model sees and the validation of the call."""
    seldom: str = ""
    """A few words for a tool that is seldom needed: models see only these until one asks for the whole; empty: it is
    always shown in full."""
    rare_arguments: frozenset[str] = frozenset()
    """Optional arguments that are seldom needed: models see their names alone, as long as they can ask for the rest."""
    effects: Effects = "none"
    computes_only: bool = False
    """Whether it answers within milliseconds from its arguments and the clock alone, so that running it again costs
    nothing: its answer is then journaled together with the model's request for it."""
    own_words: bool = False
    """Whether its answers hold only what people had Aldis keep, and strangers' words only within that: the result says
    where these came from as its `origins`."""
    discloses: bool | None = None
    """Whether strangers see what it is called with: a service that searches, draws or translates. None: yes, unless it
    only computes, answers in `own_words`, or `fetches` what was given."""
    deeds: tuple[str, ...] = ()
    """How people ask for it, in all languages: the beginnings of words, or several words with spaces between. Where a
    person's message holds one of them and names all arguments, no further yes is asked for. Empty: always."""
    minor_arguments: frozenset[str] = frozenset()
    """Arguments that a message need not name, because their worst choice does no harm: a time, a unit; or one value of
    an argument: `action=set`."""
    shown_by: frozenset[str] = frozenset()
    """Arguments that let others see what a call does: `participants`. With one of them no argument is minor."""
    answers: Answers = "anything"
    """Whose words its answers hold."""
    records: Records | None = None
    """The records in its answers, which people call by their names; None: there are none."""
    takes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Arguments that may be taken out of a record that a message names: its key (`event`), or a field (`event.guests`)
    where the message has the word for it."""
    fills: frozenset[str] = frozenset()
    """Arguments in which values of a catalogue may stand between words of the message: `Dinner at {restaurant}`."""
    intent: Callable[[Any], Intent] | None = None
    """What a call with these `arguments` would do, in words for the person who is asked about it. None: they are shown
    its name and the arguments one by one."""
    server: str = ""
    """The server that it is a tool of, as the operator calls it; empty: none."""
    looking: frozenset[str] = frozenset()
    """Values of arguments with which a call of a tool with effects only looks: `action=list`."""
    fetches: str | None = None
    """The argument that holds an address of the web which a call reads; None: it reads none that a model names. Only
    addresses that were not the model's to make up are let through."""
    finds_pages: bool = False
    """Whether the `url` of each of the `results` is a page that it found, which may be fetched next in the turn."""
    reads_private: bool = False
    """Whether its answers hold what people trust Aldis with: notes, memory, databases."""
    needs_approval: bool = False
    """Whether a person has to agree to each call, whatever the turn has read."""
    needs_naming: bool = False
    """Whether a person has to agree to each call that their own words do not name, whatever the turn has read."""
    allows_always: bool = False
    """Whether a person may allow it for good in a chat, so that strangers' words are no reason to ask any more. Only
    where the worst that a page can make of it is seen and undone; never where it costs, nor for what is private."""
    asks_always: frozenset[str] = frozenset()
    """Arguments, or values of one such as `action=cancel`, with which a call asks all the same."""
    timeout_seconds: float | None = None
    """For one call; None means the setting `TOOLS__TIMEOUT_SECONDS`."""
    max_result_chars: int | None = None
    """Where its result is cut; None means the setting `TOOLS__MAX_RESULT_CHARS`. For a tool that cuts by itself."""
    cost_usd: Decimal = field(default=Decimal(0))
    """What one call costs the operator."""

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON schema of the arguments object, as the arguments say it themselves."""
        return self.arguments.json_schema()

    @property
    def is_disclosing(self) -> bool:
        """Whether strangers see what it is called with."""
        if self.discloses is not None:
            return self.discloses
        return not (self.computes_only or self.own_words or self.fetches is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolContext:
    """The surroundings of one call."""

    now: datetime
    """The present instant, aware, in UTC."""
    timezone: str
    """The IANA zone of the people who ask."""
    person: str = ""
    """Who asks: an opaque name, only to be handed to a port."""
    chat: str = ""
    """Where it was asked: likewise."""
    turn: int = 0
    """In which turn: likewise."""
    call: str = ""
    """The unique name of this call, which is the same when it is repeated after a crash."""
    origin: str = ""
    """Where its arguments come from: likewise opaque."""
    addresses: tuple[str, ...] = ()
    """The addresses of the web that stand in the person's own words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultFile:
    """A file that a tool has made: it goes to the person together with the answer. The model only hears of it."""

    name: str
    """A name with an ending that fits the type, without any folder."""
    content_type: str
    data: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What a tool found: a JSON object (str, int, float, bool, None, lists and dicts of them)."""

    data: Mapping[str, Any]
    cost_usd: Decimal | None = None
    """What this call cost where that is known only afterwards; None means the spec's."""
    files: tuple[ResultFile, ...] = ()
    origins: tuple[str, ...] = ()
    """Where what a port gave came from: the `origin` of each, handed on unread."""


class Tool(Protocol):
    """Does one thing for the model."""

    @property
    def spec(self) -> ToolSpec:
        """What it says of itself; constant."""
        ...

    async def run(self, arguments: Any, context: ToolContext) -> Result:
        """Runs one call. `arguments` is an instance of `spec.arguments`, validated. Cancellation stops the work.

        Raises:
            ToolError: one of its kinds; anything else is a bug and reaches the model as `unavailable`.
        """
        ...


class ToolSource(Protocol):
    """A source of tools that are known only while Aldis runs, and that may come and go."""

    async def tools(self) -> Sequence[Tool]:
        """Returns the tools that there are now, always in the same order; waits a bounded time for what is starting.

        Raises nothing but cancellation. Nothing is started before the first call.
        """
        ...

    @property
    def absent(self) -> Sequence[str]:
        """What should give tools and gives none at the moment, by the operator's names."""
        ...

    async def aclose(self) -> None:
        """Ends whatever runs for it; it is not used afterwards."""
        ...


def _without_titles(schema: Any, *, is_named: bool = False) -> Any:
    """`is_named`: the keys are names of arguments, of which one may be "title"."""
    if isinstance(schema, dict):
        items = cast("dict[str, Any]", schema).items()
        kept = ((key, item) for key, item in items if is_named or key != "title")
        return {key: _without_titles(item, is_named=key == "properties" and not is_named) for key, item in kept}
    if isinstance(schema, list):
        return [_without_titles(item) for item in cast("list[Any]", schema)]
    return schema
