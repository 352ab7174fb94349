"""Reads the settings: the environment, the `.env` file and the settings file beside the store, strongest first.

    the environment > .env > the settings file > the machine's own zone and language > the default

A variable has a name of its own, perhaps a well-known one (`ALSO`), which counts where its own is left out in the
environment and `.env`; a secret may be kept in a file, which `NAME_FILE` names. An empty value counts as unset.
Everything that is wrong is reported at once, a line each, which begins with the variable and never shows a value.
Both files have the format of `.env` as python-dotenv reads it.
"""

import io
import os
import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from dotenv.parser import Binding, parse_stream
from pydantic import SecretStr, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from bot.errors import ConfigError
from bot.i18n.language import LANGUAGES
from bot.settings.groups import SEPARATOR, TAKEN, USUAL, LlmSettings, Settings, StoreSettings, settings_with
from bot.settings.values import is_zone
from bot.settings.variables import (
    ALSO,
    FILE_SUFFIX,
    NUMBERS,
    Variable,
    hint,
    is_meant_for_us,
    kind_of,
    variables_of,
)
from tools import find_entry_points, import_extensions

ENV_FILE = Path(".env")
"""Read in addition to the environment, which overrides it."""
_LOCALTIME = Path("/etc/localtime")
"""A link to the zone of the machine's clock."""
SETTINGS_FILE_NAME = "settings.env"
"""The name of the file beside the store; both override it, see `bot.settings.file`."""
_STORE_PATH = "STORE__PATH"
_ENVIRONMENT = "the environment"
_ZONE_NAME = re.compile(r"[A-Za-z]+(/[A-Za-z_+-]+)+|[A-Z][a-z]+")
"""What nothing but a zone's name looks like; `CET-1CEST` is a rule of POSIX, which a clock understands."""
_QUOTED = re.compile(r"""(["'])(?:(?!\1).)*\1""", re.DOTALL)
_READ_DIFFERENTLY = {
    "'": re.compile(r"\\\\"),
    '"': re.compile(r"\$[{$A-Za-z_]|\\[$'0]"),
    "": re.compile(r"\$[{$A-Za-z_]|\t#"),
}
"""By the quote around a value, what docker compose reads in another way than python-dotenv, which reads `.env` here.

Source: compose-go 2.13.0, `dotenv/parser.go` and `template/template.go`; python-dotenv 1.2.4, `parser.py` (2026-11-27).
"""

Content = tuple[Path, Mapping[str, str]]
"""The settings file: its path, and its values by name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenValue:
    """A value that was set, under the name that was used."""

    name: str
    value: str
    where: str
    """`the environment`, or the name of the file that it comes from."""

    @property
    def whence(self) -> str:
        """The source, as the end of a complaint."""
        return f" (it is set in {self.where})"


Place = dict[str, GivenValue]
"""What is set in one place, by upper-case name."""


def load_settings(environ: Mapping[str, str] | None = None, env_file: Path | None = ENV_FILE) -> Settings:
    """Returns the settings from the environment, the `.env` file and the settings file beside the store.

    `environ` None means the process's own; a file that does not exist counts as empty, and `env_file` None means that
    no file is read, not even the settings file.

    Raises:
        ConfigError: names are unknown, or values are bad; its message has a line for each, for the operator.
    """
    file = None
    if env_file is not None:
        path = settings_file_path(environ, env_file)
        file = (path, read_settings_file(path))
    return values_from(environ, env_file, file=file)[0]


def settings_file_path(environ: Mapping[str, str] | None = None, env_file: Path | None = ENV_FILE) -> Path:
    """Returns the path of the settings file: in the folder of the store that the environment and `.env` name."""
    given = ChainMap(*_places(environ, env_file, None)[:2]).get(_STORE_PATH)
    return (Path(given.value) if given else StoreSettings().path).parent / SETTINGS_FILE_NAME


def read_settings_file(path: Path, text: str | None = None) -> dict[str, str]:
    """Returns the values in the settings file by upper-case name; empty if there is none. `text` replaces its content.

    Raises:
        ConfigError: it cannot be read, a line is no setting, or it sets the path of the store.
    """
    found = entries(read_text(path) if text is None else text, path.name)
    if _STORE_PATH in found:
        raise ConfigError(f"{_STORE_PATH}: cannot be set in {path.name}, which lies beside the store; set it in .env")
    return found


def read_text(path: Path) -> str:
    """Returns what is in the file; nothing if there is none.

    Raises:
        ConfigError: it cannot be read, or is not UTF-8 text.
    """
    try:
        return path.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):  # the doctor reports a folder that is none
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise unusable(path, "read", error) from error


def unusable(file: Path, done: str, error: OSError | UnicodeError) -> ConfigError:
    """Returns the error for a file that cannot be `done` ("read", "written"); it names the file's path."""
    why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
    return ConfigError(f"{file}: cannot be {done}: {why}")


def entries(text: str, where: str, *, is_shared: bool = False) -> dict[str, str]:
    """Returns the values in the text, by upper-case name; `where` is the name of its file.

    Values cannot refer to other variables: `$` is a dollar. `is_shared`: docker compose also reads the file; what it
    would read differently is refused.

    Raises:
        ConfigError: a line is no setting, or a name is set twice; the message has the line's number, but nothing of
            its content.
    """
    found: dict[str, tuple[str, int]] = {}
    for binding in bindings(text.removeprefix("\ufeff")):
        written = binding.original.string
        # The parser counts blank lines before a setting as part of it.
        line = binding.original.line + written[: len(written) - len(written.lstrip())].count("\n")
        if binding.error and re.match(r"\s*(export\s+)?\w+\s*=\s*['\"]", written):
            raise ConfigError(f"{where}: line {line} has a quote around its value that is not closed")
        if binding.error or (binding.key is not None and binding.value is None):
            raise ConfigError(f"{where}: line {line} is not NAME=value")
        if binding.key is None or binding.value is None:
            continue
        name = binding.key.upper()
        value, earlier = found.setdefault(name, (binding.value, line))
        if value != binding.value:
            raise ConfigError(f"{name}: lines {earlier} and {line} of {where} set it differently; remove one of them")
        if is_shared and _is_read_differently(written.partition("=")[2].lstrip()):
            raise ConfigError(
                f"{name}: line {line} of {where} is read differently by docker compose ($ begins a variable there, and"
                " backslashes count otherwise); write it in single quotes, or without these characters"
            )
    return {name: value for name, (value, _) in found.items()}


def bindings(text: str) -> Iterator[Binding]:
    """Yields the settings, comments and blank lines of a text."""
    return parse_stream(io.StringIO(text, newline=""))


def _is_read_differently(written: str) -> bool:
    quote = written[:1] if written[:1] in _READ_DIFFERENTLY else ""
    return bool(_READ_DIFFERENTLY[quote].search(written if quote else written.partition(" #")[0]))


def values_from(
    environ: Mapping[str, str] | None, env_file: Path | None, *, file: Content | None = None
) -> tuple[Settings, dict[str, GivenValue]]:
    """Returns the settings, and the values that are set, by variable name; `file` is the settings file.

    Raises:
        ConfigError: as `load_settings`.
    """
    environment, dotenv, in_file = places = _places(environ, env_file, file)
    given = ChainMap(*places)
    model, passed_over = _model_here(given)
    known = tuple(variables_of(model))
    wrong = list(_unknown(places, known, passed_over))
    try:
        machine = _of_machine(given, own_clock=environ is None)
    except ConfigError as error:
        wrong.append(str(error))
        machine = {}
    ranks = ((environment, dotenv), (in_file,), (machine,))
    values: dict[str, GivenValue] = {}
    for variable in known:
        try:
            if found := _strongest(variable, ranks):
                values[variable.name] = _checked(found, variable)
        except ConfigError as error:
            wrong.append(str(error))
    settings = None
    try:
        chosen: dict[str, Any] = {"variables": {name: given.value for name, given in values.items()}}
        settings = model(**chosen)
        wrong += _keyless(settings.llm)
    except ValidationError as error:
        wrong += complaints(error, known, values)
    if wrong or settings is None:
        raise ConfigError("\n".join(dict.fromkeys(wrong))) from None  # a cause would hold what was entered
    return settings, values


def known_variables(
    environ: Mapping[str, str] | None = None, env_file: Path | None = ENV_FILE, *, file: Content | None = None
) -> tuple[Variable, ...]:
    """Returns every setting available with what is installed on this machine, without tools that are turned off."""
    model, _ = _model_here(ChainMap(*_places(environ, env_file, file)))
    return tuple(variables_of(model))


def _places(environ: Mapping[str, str] | None, env_file: Path | None, file: Content | None) -> tuple[Place, ...]:
    """What is set in the environment, the `.env` file and the settings file; what is empty counts as unset."""
    nothing: tuple[str, Mapping[str, str]] = ("", {})
    contents: tuple[tuple[str, Mapping[str, str]], ...] = (
        (_ENVIRONMENT, os.environ if environ is None else environ),
        (env_file.name, entries(read_text(env_file), env_file.name, is_shared=True)) if env_file else nothing,
        (file[0].name, file[1]) if file else nothing,
    )
    return tuple(
        {
            name.upper(): GivenValue(name=name.upper(), value=value.strip(), where=where)
            for name, value in content.items()
            if value.strip()
        }
        for where, content in contents
    )


def _model_here(given: Mapping[str, GivenValue]) -> tuple[type[Settings], tuple[str, ...]]:
    """The settings available with what is installed on this machine; tools that are turned off are not imported.

    Beside them how the variables of tools begin that were not imported: what can be set for them is not known.
    """
    points = find_entry_points()
    if not points:
        return USUAL, ()
    off = frozenset(point.name for point in points if _is_false(given.get(f"TOOLS__{point.name.upper()}__ENABLED")))
    extensions = import_extensions(points, off=None if _is_false(given.get("TOOLS__ENABLED")) else off, taken=TAKEN)
    known = TAKEN | {extension.name for extension in extensions.found}
    left_out = {*extensions.switched_off, *(failure.name for failure in extensions.failures)} - known
    return settings_with(extensions), tuple(f"TOOLS__{name.upper()}__" for name in left_out)


def _is_false(given: GivenValue | None) -> bool:
    try:
        return given is not None and not TypeAdapter(bool).validate_python(given.value)
    except ValidationError:
        return False  # reading all values reports it


def _unknown(places: Iterable[Place], known: Iterable[Variable], passed_over: tuple[str, ...]) -> Iterator[str]:
    """A line for each name that can only be meant for Aldis, and is none of its settings."""
    names = frozenset(name for variable in known for name in variable.names)
    for given in (given for place in places for name, given in place.items() if name not in names):
        is_ours = is_meant_for_us(given.name, names, is_in_file=given.where != _ENVIRONMENT)
        if is_ours and not given.name.startswith(passed_over):
            yield f"{given.name}: there is no such setting{hint(given.name, names)}{given.whence}"


def _strongest(variable: Variable, ranks: Iterable[tuple[Place, ...]]) -> GivenValue | None:
    """The value that counts for a variable; None if it is not set anywhere."""
    for name, place in ((name, place) for rank in ranks for name in variable.own_names for place in rank):
        direct = place.get(name)
        file = place.get(name + FILE_SUFFIX) if variable.is_secret else None
        if direct and file:
            raise ConfigError(f"{name}: {file.name} is also set; remove one of the two{direct.whence}")
        if direct or file:
            return direct or _content(file)
    return None


def _content(given: GivenValue | None) -> GivenValue | None:
    """The secret in the file that a variable names."""
    if given is None:
        return None
    try:
        value = Path(given.value).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        # The path itself is left out: people paste the secret in its place.
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ConfigError(f"{given.name}: the file that it names cannot be read: {why}{given.whence}") from error
    if not value:
        raise ConfigError(f"{given.name}: the file that it names is empty{given.whence}")
    return replace(given, value=value)


def _checked(given: GivenValue, variable: Variable) -> GivenValue:
    """Returns the value if it is surely what was meant: `docker run --env-file` keeps quotes as part of it."""
    if _QUOTED.fullmatch(given.value):
        words = "has quotes around its value, which count as part of it here; remove them"
        raise ConfigError(f"{given.name}: {words}{given.whence}")
    if "_" in given.value and variable.kind in NUMBERS:  # Python ignores them
        raise ConfigError(f"{given.name}: must be {variable.number_words}{given.whence}")
    is_header = variable.kind is SecretStr  # a library that refuses a header would show it
    if is_header and not (given.value.isascii() and given.value.isprintable() and " " not in given.value):
        raise ConfigError(f"{given.name}: must be one word of printable ASCII characters{given.whence}")
    return given


def _of_machine(given: Mapping[str, GivenValue], *, own_clock: bool) -> Place:
    """The machine's own time zone and language, by `TZ` or its clock's file and `LANG`; UTC tells nothing of people.

    Raises:
        ConfigError: `TZ` looks like the name of a zone and is none.
    """
    found: dict[str, GivenValue] = {}
    clock = GivenValue(name="TZ", value=str(_LOCALTIME.resolve()), where=str(_LOCALTIME)) if own_clock else None
    if zone := given.get("TZ", clock):
        name = zone.value.removeprefix(":").rpartition("/zoneinfo/")[2]
        if is_zone(name) and not name.endswith(("UTC", "UCT", "GMT")):
            found["LOCALE__TIMEZONE"] = replace(zone, value=name)
        elif _ZONE_NAME.fullmatch(name) and not is_zone(name):
            raise ConfigError(f"TZ: must be a time zone like Europe/Berlin{zone.whence}")
    if said := next(filter(None, map(given.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), None):
        code = re.split("[_.@]", said.value.lower(), maxsplit=1)[0]
        if code in LANGUAGES:
            found["LOCALE__LANGUAGE"] = replace(said, value=code)
    return found


def _keyless(llm: LlmSettings) -> list[str]:
    """A line for each provider that is named but has no key; otherwise the first message would show the mistake."""
    chosen = dict.fromkeys((choice.partition("/")[0] for choice in llm.choices), "LLM__CHOICES")
    named = chosen | dict.fromkeys(llm.providers, "LLM__PROVIDERS")
    variables = {name: f"LLM__{name.upper()}__API_KEY" for name in named if name not in llm.usable}
    return [
        f"{variable}: must be set (or {ALSO[variable]}), because {named[name]} names {name}"
        for name, variable in variables.items()
    ]


def complaints(error: ValidationError, known: Sequence[Variable], values: Mapping[str, GivenValue]) -> list[str]:
    """Returns what pydantic found, one line for each variable."""
    lines: dict[str, str] = {}
    for one in error.errors(include_url=False, include_input=False):
        variable = next((each for each in known if each.path == tuple(one["loc"])[: len(each.path)]), None)
        name = variable.name if variable else SEPARATOR.join(map(str, one["loc"])).upper()
        given = values.get(name)
        shown, whence = (given.name, given.whence) if given else (name, "")
        lines.setdefault(name, f"{shown}: {_expectation(one, variable)}{whence}")
    return [*lines.values()]


def _expectation(error: ErrorDetails, variable: Variable | None) -> str:
    if error["type"] == "value_error":
        return str(error.get("ctx", {}).get("error", "is not valid"))
    kind = variable.kind if variable else None
    if kind is bool:
        return "must be true or false"
    if variable is not None and kind in NUMBERS:
        return f"must be {variable.number_words}"
    item = kind_of(get_args(kind)[0]) if get_origin(kind) is tuple else kind
    words = ", ".join(map(str, get_args(item))) if get_origin(item) is Literal else ""
    if words:
        return f"must be {'one' if item is kind else 'a comma-separated list'} of {words}"
    return f"is not valid: {error['msg']}"
