"""Reads the settings, and writes the settings file: what was set in a browser.

    the environment > .env > the settings file beside the store > the machine's own zone and language > the default

The leaf `max_tool_calls` of the group `tools` is the variable `TOOLS__MAX_TOOL_CALLS`. Some also have a well-known name
(`ALSO`); a secret may be kept in a file, which `NAME_FILE` names. An empty value counts as unset. Everything that is
wrong is reported at once, a line each, which begins with the variable and never shows a value.

Both files have the format of `.env` as python-dotenv reads it. `STORE__PATH` cannot be set in the settings file,
because it determines where that is.
"""

import io
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from dotenv.parser import parse_stream
from pydantic import BaseModel, SecretStr, ValidationError

from bot.errors import ConfigError
from bot.i18n.language import LANGUAGES
from bot.settings.groups import SEPARATOR, USUAL, LlmSettings, Settings, StoreSettings
from bot.settings.values import is_zone
from tools import FIXED

ENV_FILE = Path(".env")
"""Read in addition to the environment, which overrides it."""
SETTINGS_FILE_NAME = "settings.env"
"""The name of the file beside the store; both override it."""
_FILE = "_FILE"
_ENVIRONMENT = "the environment"
_LOCALTIME = Path("/etc/localtime")
"""A link to the zone of the machine's clock."""

ALSO = {
    "LLM__ANTHROPIC__API_KEY": "ANTHROPIC_API_KEY",
    "LLM__OPENAI__API_KEY": "OPENAI_API_KEY",
    "LLM__OPENAI__BASE_URL": "OPENAI_BASE_URL",
    "TOOLS__TWITTER__BEARER_TOKEN": "TWITTER_BEARER",
    "TOOLS__WEB_SEARCH__API_KEY": "BRAVE_API_KEY",
    "TOOLS__WEB_SEARCH__TAVILY_API_KEY": "TAVILY_API_KEY",
    "TOOLS__WEB_SEARCH__SERPAPI_API_KEY": "SERPAPI_API_KEY",
    "TOOLS__WEB_SEARCH__PERPLEXITY_API_KEY": "PERPLEXITY_API_KEY",
}
"""Names that many machines have set already; each is read if our own is left out."""
_OUTER = {
    "SERPAPI_KEY": "TOOLS__WEB_SEARCH__SERPAPI_API_KEY",
    "TOOLS_ENABLED": "TOOLS__ENABLED",
    "TOOLS_MAX_TOOL_CALLS": "TOOLS__MAX_TOOL_CALLS",
    "TOOLS_WEB_SEARCH_ENABLED": "TOOLS__WEB_SEARCH__ENABLED",
    "TOOLS_WEB_SEARCH_MAX_RESULTS": "TOOLS__WEB_SEARCH__MAX_RESULTS",
    "TOOLS_WEATHER_ENABLED": "TOOLS__WEATHER__ENABLED",
    "TOOLS_CALCULATOR_ENABLED": "TOOLS__CALCULATOR__ENABLED",
}
"""Names of other compose files for what is exactly one of our settings, read likewise."""
_ELSEWHERE = {
    "DEEP_ANALYSIS_": "TOOLS__VERIFY_NEWS__",
    "SEARCH_": "TOOLS__WEB_SEARCH__",
    "CLAUDE_": "ANTHROPIC_",
    "OPENAI_API_BASE": "OPENAI_BASE_URL",
    "ALDIS_": "",
}
"""How names of other programs begin, and how Aldis's begin for the same."""
_OTHERS = re.compile(
    r"TZ|LANG|LC_\w+|EXTRAS|(HTTPS?|ALL|NO|FTP)_PROXY|(COMPOSE|DOCKER|PYTHON|SSL_CERT|PIP|MAKE|MFLAGS)_?\w*"
)
"""What a `.env` file can also hold, for the container, its engine and Python."""
_COMMON = re.compile("LOG_(LEVEL|FORMAT)|WEB_(HOST|PORT)|ANTHROPIC_(MODEL|BASE_URL)|TWITTER_API_KEY")
"""Names so common in an environment that they are probably meant for another program."""
_LIKENESS = 0.84
"""How alike (difflib's ratio) a name must be to ours; this keeps `OPENAI_API_TYPE` apart."""
_READ_DIFFERENTLY = {"'": r"\\\\", '"': r"\$[{$A-Za-z_]|\\[$'0]", "": r"\$[{$A-Za-z_]|\t#"}
"""By the quote around a value, what docker compose reads in another way than python-dotenv, which reads `.env` here.

Source: compose-go 2.13.0, `dotenv/parser.go` and `template/template.go`; python-dotenv 1.2.4, `parser.py` (2026-11-27).
"""
_COMPOSE = "is read differently by docker compose; write it in single quotes, or without $, backslash and tab"
_HEAD = "# Settings of Aldis, written by its pages. The environment and .env win over these.\n"


@dataclass(frozen=True, slots=True)
class Variable:
    """One leaf of the settings."""

    name: str
    """Its own name in the environment, such as `LLM__OPENAI__MODEL`: its groups and its field."""
    is_secret: bool
    """Whether its value is a secret: never shown, and allowed to be kept in a file."""

    @property
    def own_names(self) -> tuple[str, ...]:
        """Its own name, and those that are read if its own is not set."""
        known = (ALSO[self.name],) if self.name in ALSO else ()
        return (self.name, *known, *(outer for outer, own in _OUTER.items() if own == self.name))

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which it is read, its own first."""
        return tuple(name + end for name in self.own_names for end in (("", _FILE) if self.is_secret else ("",)))


def variables_of(model: type[BaseModel], *groups: str) -> Iterator[Variable]:
    """Yields the leaves of a settings model that can be set, in its own order; it is the innermost of these groups."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from variables_of(inner, *groups, name)
        elif FIXED not in field.metadata:
            yield Variable(SEPARATOR.join((*groups, name)).upper(), is_secret=_is_secret(inner))


def _is_secret(annotation: Any) -> bool:
    is_one = isinstance(annotation, type) and issubclass(annotation, SecretStr)
    return is_one or any(_is_secret(part) for part in get_args(annotation))


KNOWN = tuple(variables_of(USUAL))
"""Every setting."""
NAMES: Mapping[str, Variable] = {name: variable for variable in KNOWN for name in variable.names}
"""Every setting by each of its names."""
_GROUPS = {*map(str.upper, Settings.model_fields), "ANSWERS", "ATTESTATION", "MEDIA"}
"""How our names begin; of the last three groups no setting is left."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenValue:
    """A value that was set, under the name that was used."""

    name: str
    value: str
    where: str
    """`the environment`, or the name of the file that it comes from."""

    def wrong(self, words: str) -> str:
        """Returns a complaint about it."""
        return f"{self.name}: {words} (it is set in {self.where})"


def load_settings(environ: Mapping[str, str] | None = None, env_file: Path | None = ENV_FILE) -> Settings:
    """Returns the settings from the environment, the `.env` file and the settings file beside the store.

    `environ` None means the process's own; `env_file` None means that no file is read, not even the settings file. A
    ConfigError has a line for each unknown name and bad value, for the operator.
    """
    file = SettingsFile(environ=environ, env_file=env_file)
    return file.load({} if env_file is None else file.read())[0]


class SettingsFile:
    """The settings file at a path, together with the environment and the `.env` file that override it.

    `environ` None means the process's own; `env_file` None means no such file. Its methods block on the disk: call them
    in a thread from async code. They raise `ConfigError` where a file cannot be read, or a line is no setting.
    """

    def __init__(
        self, path: Path | None = None, *, environ: Mapping[str, str] | None = None, env_file: Path | None = ENV_FILE
    ) -> None:
        """`path` None means the one that Aldis itself would read with this environment and `.env`."""
        self._environ = environ
        self._env_file = env_file
        store = next((one.value for one in self._above() if one.name == "STORE__PATH"), StoreSettings().path)
        self.path = path or Path(store).parent / SETTINGS_FILE_NAME

    def _above(self) -> Iterator[GivenValue]:
        """What is set in the environment, then what is set in `.env`."""
        yield from _filled(os.environ if self._environ is None else self._environ, _ENVIRONMENT)
        if file := self._env_file:
            yield from _filled(entries(_text(file), file.name, is_shared=True), file.name)

    def read(self) -> Mapping[str, str]:
        """Returns the file's settings by upper-case name, secrets included; empty if there is no file."""
        return entries(_text(self.path), self.path.name)

    def load(self, content: Mapping[str, str]) -> tuple[Settings, Mapping[str, GivenValue]]:
        """Returns the settings with this content of the file, and what is set anywhere by its own name, in the order of
        the settings; a ConfigError has a line for each unknown name and bad value, and shows no value.
        """
        given = [*self._above(), *_filled(content, self.path.name)]
        wrong = [one.wrong(words) for one in given if (words := self._refusal(one))]
        chosen = _of_machine({one.name: one for one in reversed(given)}, wrong, own_clock=self._environ is None)
        for one in sorted((one for one in given if one.name in NAMES), key=self._rank):
            chosen[NAMES[one.name].name] = one
        values: dict[str, GivenValue] = {}
        for variable in KNOWN:
            if one := chosen.get(variable.name):
                try:
                    values[variable.name] = replace(one, value=_value_of(one))
                except ValueError as error:
                    wrong.append(one.wrong(str(error)))
        settings = None
        try:
            arguments: dict[str, Any] = {"variables": {name: one.value for name, one in values.items()}}
            settings = USUAL(**arguments)
            wrong += _keyless(settings.llm)
        except ValidationError as error:
            wrong += _complaints(error, values)
        if wrong or settings is None:
            raise ConfigError("\n".join(dict.fromkeys(wrong))) from None  # a cause would hold what was entered
        return settings, values

    def _rank(self, given: GivenValue) -> tuple[bool, ...]:
        """A variable has the value of the highest rank."""
        # What is set for Aldis in `.env` is not beaten by what the environment has for other programs.
        is_own = SEPARATOR in given.name
        is_here = given.where == _ENVIRONMENT
        return given.where != self.path.name, is_own, is_here, not given.name.endswith(_FILE)

    def _refusal(self, given: GivenValue) -> str:
        """Why a name is refused; empty if it is a setting's, or another program may mean it.

        Refused is in a file every name but those of the container, in the environment what is near to one of ours or
        begins like a group of ours.
        """
        name = given.name
        if name in NAMES:
            is_in_itself = name == "STORE__PATH" and given.where == self.path.name
            words = f"cannot be set in {given.where}, which lies beside the store; set it in .env"
            return words if is_in_itself else ""
        begin = next((begin for begin in _ELSEWHERE if name.startswith(begin)), "")
        wanted = _ELSEWHERE.get(begin, "") + name.removeprefix(begin)
        flat = {one.replace("_", ""): one for one in sorted(NAMES)}
        found = get_close_matches(wanted.replace("_", ""), flat, n=1, cutoff=_LIKENESS)
        is_ours = SEPARATOR in name and name.partition(SEPARATOR)[0] in _GROUPS
        is_near = bool(found) and "_" in name and not _COMMON.fullmatch(name)
        is_meant = is_ours or is_near or name.startswith("DEEP_ANALYSIS_")
        if not is_meant if given.where == _ENVIRONMENT else _OTHERS.fullmatch(name):
            return ""
        hint = f"; did you mean {flat[found[0]]}?" if found else ", or no longer" if is_ours else ""
        return f"there is no such setting{hint}"

    def write(self, changes: Mapping[str, str | None]) -> None:
        """Changes these settings, whatever name they had before, and leaves all others; None or nothing removes one.

        The file is replaced whole or not at all, and only its owner can read it. It is as it was after a ConfigError:
        anything is wrong with the result, or the file cannot be written.
        """
        content = self._changed(changes)
        self.load(content)
        new = self.path.with_name(f".{self.path.name}.new")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new.unlink(missing_ok=True)
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(text_of(content).encode())
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
        except (OSError, UnicodeEncodeError) as error:
            new.unlink(missing_ok=True)
            raise ConfigError(f"{self.path}: cannot be written: {_why(error)}") from error

    def preview(self, changes: Mapping[str, str | None]) -> Settings:
        """Returns the settings as they would be with these changes; writes nothing. Raises as `write`."""
        return self.load(self._changed(changes))[0]

    def winner(self, name: str) -> str:
        """Returns what overrides this file for a setting: the environment or `.env`; empty if nothing does."""
        return next((one.where for one in self._above() if one.name in NAMES[name].names), "")

    def _changed(self, changes: Mapping[str, str | None]) -> dict[str, str]:
        """What the file holds with these changes, and without every other name under which the same was set."""
        given = {name.upper(): (value or "").strip() for name, value in changes.items()}
        removed = {each for name in given if name in NAMES for each in NAMES[name].names}
        kept = {name: value for name, value in self.read().items() if name not in removed}
        return kept | {name: value for name, value in given.items() if value}


def entries(text: str, where: str, *, is_shared: bool = False) -> dict[str, str]:
    """Returns the values in the text of a file, by upper-case name, of which the last counts; `$` is a dollar.

    Raises ConfigError, with the line's number but nothing of its content, if one is no setting, or docker compose, if
    it also reads the file (`is_shared`), would read it differently.
    """
    found: dict[str, str] = {}
    for binding in parse_stream(io.StringIO(text, newline="")):
        written = binding.original.string
        # The parser counts blank lines before a setting as part of it.
        line = binding.original.line + written[: len(written) - len(written.lstrip())].count("\n")
        if binding.error or (binding.key is not None and binding.value is None):
            raise ConfigError(f"{where}: line {line} is not NAME=value, or a quote in it is not closed")
        if binding.key is None or binding.value is None:
            continue
        value = written.partition("=")[2].lstrip()
        quote = value[:1] if value[:1] in _READ_DIFFERENTLY else ""
        if is_shared and re.search(_READ_DIFFERENTLY[quote], value if quote else value.partition(" #")[0]):
            raise ConfigError(f"{binding.key.upper()}: line {line} of {where} {_COMPOSE}")
        found[binding.key.upper()] = binding.value
    return found


def _text(path: Path) -> str:
    """What is in the file; nothing if there is none."""
    try:
        return path.read_bytes().decode("utf-8-sig") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {_why(error)}") from error


def _why(error: OSError | ValueError) -> str:
    return error.strerror or "" if isinstance(error, OSError) else "it is not UTF-8 text"


def _filled(content: Mapping[str, str], where: str) -> Iterator[GivenValue]:
    """What is set there; what is empty counts as unset."""
    for name, value in content.items():
        if value.strip():
            yield GivenValue(name=name.upper(), value=value.strip(), where=where)


def _value_of(given: GivenValue) -> str:
    """The value, from its file if it names one; raises ValueError if it is surely not what was meant."""
    value = given.value
    if given.name.endswith(_FILE):
        try:
            value = Path(value).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            # The path itself is left out: people paste the secret in its place.
            raise ValueError(f"the file that it names cannot be read: {_why(error)}") from None
        if not value:
            raise ValueError("the file that it names is empty")
    if len(value) > 1 and value[0] in "\"'" and value.find(value[0], 1) == len(value) - 1:
        # As `docker run --env-file` keeps them.
        raise ValueError("has quotes around its value, which count as part of it here; remove them")
    return value


def _of_machine(given: Mapping[str, GivenValue], wrong: list[str], *, own_clock: bool) -> dict[str, GivenValue]:
    """The machine's own time zone and language, by `TZ` or its clock's file and `LANG`; UTC tells nothing of people."""
    found: dict[str, GivenValue] = {}
    clock = GivenValue(name="TZ", value=str(_LOCALTIME.resolve()), where=str(_LOCALTIME)) if own_clock else None
    if zone := given.get("TZ", clock):
        name = zone.value.removeprefix(":").rpartition("/zoneinfo/")[2]
        if is_zone(name) and not name.endswith(("UTC", "UCT", "GMT")):
            found["LOCALE__TIMEZONE"] = replace(zone, value=name)
        # `CET-1CEST,M3.5.0,M10.5.0/3` is a rule of POSIX.
        elif re.fullmatch("[A-Z][a-z]+|[A-Za-z_]+/.+", name) and not is_zone(name):
            wrong.append(zone.wrong("must be a time zone like Europe/Berlin"))
    if said := next(filter(None, map(given.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), None):
        code = re.split("[_.@]", said.value.lower(), maxsplit=1)[0]
        if code in LANGUAGES:
            found["LOCALE__LANGUAGE"] = replace(said, value=code)
    return found


def _keyless(llm: LlmSettings) -> Iterator[str]:
    """A line for each provider that is named but has no key; otherwise the first message would show the mistake."""
    named = dict.fromkeys((choice.partition("/")[0] for choice in llm.choices), "LLM__CHOICES")
    for name, where in (named | dict.fromkeys(llm.providers, "LLM__PROVIDERS")).items():
        if name not in llm.usable:
            key = f"LLM__{name.upper()}__API_KEY"
            yield f"{key}: must be set (or {ALSO[key]}), because {where} names {name}"


def _complaints(error: ValidationError, values: Mapping[str, GivenValue]) -> list[str]:
    """What pydantic found, a line for each variable."""
    lines: dict[str, str] = {}
    for one in error.errors(include_url=False, include_input=False):
        place = SEPARATOR.join(map(str, one["loc"])).upper()
        name = next((each.name for each in KNOWN if f"{place}__".startswith(f"{each.name}__")), place)
        words = str(one.get("ctx", {}).get("error") or one["msg"].removeprefix("Input ").partition(", unable to")[0])
        lines.setdefault(name, values[name].wrong(words) if name in values else f"{name}: {words}")
    return [*lines.values()]


def text_of(values: Mapping[str, str]) -> str:
    """Returns the content of a settings file with these values."""
    escaped = {name: value.replace("\\", "\\\\").replace("'", "\\'") for name, value in values.items()}
    return _HEAD + "".join(f"{name}='{value}'\n" for name, value in escaped.items())
