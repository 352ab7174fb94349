"""Reads the settings: the environment, the `.env` file and the settings file beside the store, strongest first.

An empty value counts as unset. Everything that is wrong is reported at once, a line each, which begins with the
variable and never shows a value.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from zoneinfo import available_timezones

from annotated_types import Ge, Gt, Le, Lt
from pydantic import SecretStr, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from bot.errors import ConfigError
from bot.i18n.language import LANGUAGES
from bot.settings.env_file import entries
from bot.settings.groups import TAKEN, USUAL, LlmSettings, Settings, StoreSettings, settings_with
from bot.settings.names import ALSO, FILE_SUFFIX, SEPARATOR, Variable, hint, is_meant_for_us, kind_of, variables_of
from bot.settings.values import is_zone_meant, zone_of
from tools import Extensions, find_entry_points, import_extensions

ENV_FILE = Path(".env")
"""Read in addition to the environment, which overrides it."""
_LOCALTIME = Path("/etc/localtime")
"""A link to the zone of the machine's clock."""
SETTINGS_FILE_NAME = "settings.env"
"""The name of the file beside the store; both override it, see `bot.settings.file`."""
ENVIRONMENT = "the environment"
"""The source of a value that comes from no file."""
_STORE_PATH = "STORE__PATH"
_QUOTED = re.compile(r"""(["'])(?:(?!\1).)*\1""", re.DOTALL)
_NUMBERS = frozenset({int, float, Decimal})


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """The settings available with the tools that are installed here."""

    model: type[Settings]
    known: tuple[Variable, ...]
    passed_over: tuple[str, ...] = ()
    """How the variables of tools that were not imported begin: what can be set for them is not known."""

    @property
    def names(self) -> frozenset[str]:
        """Every name that is read."""
        return frozenset(name for variable in self.known for name in variable.names)


_USUAL_FORM = Form(model=USUAL, known=tuple(variables_of(USUAL)))


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
    return store_path(environ, env_file).parent / SETTINGS_FILE_NAME


def store_path(environ: Mapping[str, str] | None = None, env_file: Path | None = ENV_FILE) -> Path:
    """Returns the path of the store by the environment and `.env`, whatever else is wrong with the settings."""
    given = _given(environ, env_file).get(_STORE_PATH)
    return Path(given.value) if given else StoreSettings().path


def read_settings_file(path: Path, text: str | None = None) -> dict[str, str]:
    """Returns the values in the settings file by upper-case name; empty if there is none. `text` replaces its content.

    Raises:
        ConfigError: it cannot be read, a line is no setting, or it sets the path of the store.
    """
    try:
        found = entries(path.read_bytes().decode() if text is None else text, path.name)
    except (FileNotFoundError, NotADirectoryError):  # the doctor reports a folder that is none
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise unusable(path, "read", error) from error
    if _STORE_PATH in found:
        raise ConfigError(f"{_STORE_PATH}: cannot be set in {path.name}, which lies beside the store; set it in .env")
    return found


def values_from(
    environ: Mapping[str, str] | None,
    env_file: Path | None,
    *,
    file: tuple[Path, Mapping[str, str]] | None = None,
    is_file_first: bool = False,
) -> tuple[Settings, dict[str, GivenValue]]:
    """Returns the settings, and the values that are set, by variable name; `file` is the settings file and its content.

    `is_file_first`: as if the file overrode the environment and `.env`.

    Raises:
        ConfigError: as `load_settings`.
    """
    wrong: list[str] = []
    given, weaker = _given(environ, env_file, wrong), _in_file(file)
    if is_file_first:
        given, weaker = weaker, given
    form = _form_here({**weaker, **given})
    merged = {**_without(weaker, given, form.known), **given}
    values = _resolved(merged, form, wrong)
    settings = None
    try:
        settings = form.model.model_validate(_nested({name: one.value for name, one in values.items()}))
    except ValidationError as error:
        wrong += complaints(error, form.known, values)
    if settings is not None and not is_file_first:
        wrong += _keyless(settings.llm)
    if wrong or settings is None:
        raise ConfigError("\n".join(dict.fromkeys(wrong))) from None  # a cause would hold what was entered
    return settings, values


def known_variables(
    environ: Mapping[str, str] | None = None,
    env_file: Path | None = ENV_FILE,
    *,
    file: tuple[Path, Mapping[str, str]] | None = None,
) -> tuple[Variable, ...]:
    """Returns every setting available with what is installed on this machine, without tools that are turned off."""
    return _form_here({**_in_file(file), **_given(environ, env_file)}).known


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


def unread_zone(environ: Mapping[str, str] | None = None) -> str | None:
    """Returns the value of `TZ` (in the environment; None: the process's own) if it is not a zone's name.

    Times are then those of UTC or of `LOCALE__TIMEZONE`. None if it is a zone's name, or not set.
    """
    zone = (os.environ if environ is None else environ).get("TZ")
    return zone if zone and zone_of(zone) is None else None


def unusable(file: Path, done: str, error: OSError | UnicodeError) -> ConfigError:
    """Returns the error for a file that cannot be `done` ("read", "written"); it names the file's path."""
    why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
    return ConfigError(f"{file}: cannot be {done}: {why}")


def _form_here(given: Mapping[str, GivenValue]) -> Form:
    """The settings available with what is installed on this machine; tools that are turned off are not imported."""
    points = find_entry_points()
    if not points:
        return _USUAL_FORM
    off = frozenset(point.name for point in points if _is_false(given.get(f"TOOLS__{point.name.upper()}__ENABLED")))
    extensions = import_extensions(points, off=None if _is_false(given.get("TOOLS__ENABLED")) else off, taken=TAKEN)
    model = settings_with(extensions)
    return Form(model=model, known=tuple(variables_of(model)), passed_over=_not_imported(extensions))


def _not_imported(extensions: Extensions) -> tuple[str, ...]:
    names = {*extensions.switched_off, *(failure.name for failure in extensions.failures)}
    known = TAKEN | {extension.name for extension in extensions.found}
    return tuple(f"TOOLS__{name.upper()}__" for name in names if name not in known)


def _is_false(given: GivenValue | None) -> bool:
    try:
        return given is not None and not TypeAdapter(bool).validate_python(given.value)
    except ValidationError:
        return False  # reading all values reports it


def _given(
    environ: Mapping[str, str] | None, env_file: Path | None, wrong: list[str] | None = None
) -> dict[str, GivenValue]:
    """The values from the environment and the `.env` file by upper-case name; complaints are added to `wrong`."""
    found: dict[str, GivenValue] = {}
    try:
        if env_file is not None:
            values = entries(env_file.read_bytes().decode(), env_file.name, is_shared=True)
            found = {name: GivenValue(name=name, value=value, where=env_file.name) for name, value in values.items()}
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError) as error:
        raise unusable(env_file or ENV_FILE, "read", error) from error
    for name, value in (os.environ if environ is None else environ).items():
        own = GivenValue(name=name.upper(), value=value.strip(), where=ENVIRONMENT)
        other = found.get(own.name)
        if own.value and other and other.where == ENVIRONMENT and other.value != own.value and SEPARATOR in own.name:
            words = "is set twice, in different capitals; remove one of the two"
            (wrong if wrong is not None else []).append(f"{own.name}: {words}{own.whence}")
        if own.value:
            found[own.name] = own
    if environ is None:
        found.setdefault("TZ", GivenValue(name="TZ", value=str(_LOCALTIME.resolve()), where=str(_LOCALTIME)))
    return {name: one for name, one in found.items() if one.value.strip()}


def _in_file(file: tuple[Path, Mapping[str, str]] | None) -> dict[str, GivenValue]:
    if file is None:
        return {}
    path, values = file
    return {
        name.upper(): GivenValue(name=name.upper(), value=value.strip(), where=path.name)
        for name, value in values.items()
        if value.strip()
    }


def _without(
    weaker: Mapping[str, GivenValue], given: Mapping[str, GivenValue], known: Iterable[Variable]
) -> dict[str, GivenValue]:
    """The weaker values, without variables that are given under any of their names."""
    beaten = {name for variable in known if any(name in given for name in variable.names) for name in variable.names}
    return {name: value for name, value in weaker.items() if name not in beaten}


def _resolved(given: Mapping[str, GivenValue], form: Form, wrong: list[str]) -> dict[str, GivenValue]:
    """The value of each variable that is set, by the variable's own name; what is wrong is added to `wrong`."""
    names = form.names
    for name, one in given.items():
        is_unknown = name not in names and not name.startswith(form.passed_over)
        if is_unknown and is_meant_for_us(name, names, is_in_file=one.where != ENVIRONMENT):
            wrong.append(f"{name}: there is no such setting{hint(name, names)}{one.whence}")
    values: dict[str, GivenValue] = {}
    for read in (_machine_zone, _machine_language):
        try:
            values |= read(given)
        except ConfigError as error:
            wrong.append(str(error))
    for variable in form.known:
        try:
            if (value := _value_of(variable, given)) is not None:
                values[variable.name] = _checked(value, variable)
        except ConfigError as error:
            wrong.append(str(error))
    return values


def _value_of(variable: Variable, given: Mapping[str, GivenValue]) -> GivenValue | None:
    """The value under the strongest name that is set; None if the variable is left out."""
    for name in filter(None, (variable.name, variable.also)):
        direct, file = given.get(name), given.get(name + FILE_SUFFIX) if variable.is_secret else None
        if direct and file:
            raise ConfigError(f"{name}: {file.name} is also set; remove one of the two{direct.whence}")
        if direct or file:
            return direct or (file and _read_from_file(file))
    return None


def _read_from_file(given: GivenValue) -> GivenValue:
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
    if "_" in given.value and variable.kind in _NUMBERS:  # Python ignores them
        raise ConfigError(f"{given.name}: must be {_number_words(variable)}{given.whence}")
    is_header = variable.kind is SecretStr  # a library that refuses a header would show it
    if is_header and not (given.value.isascii() and given.value.isprintable() and " " not in given.value):
        raise ConfigError(f"{given.name}: must be one word of printable ASCII characters{given.whence}")
    return given


def _machine_zone(given: Mapping[str, GivenValue]) -> dict[str, GivenValue]:
    """The machine's own time zone as the setting's default, if it names one that exists; UTC tells nothing of people.

    Raises:
        ConfigError: it names one that does not exist, and the setting itself is not set.
    """
    zone = given.get("TZ")
    if zone is None or "LOCALE__TIMEZONE" in given:
        return {}
    name = zone_of(zone.value)
    if name is None and is_zone_meant(zone.value):
        close = next(iter(get_close_matches(zone.value, available_timezones(), n=1)), None)
        raise ConfigError(f"TZ: there is no such time zone{f'; did you mean {close}?' if close else ''}")
    if name is None or name.endswith(("UTC", "UCT", "GMT")):
        return {}
    return {"LOCALE__TIMEZONE": replace(zone, value=name)}


def _machine_language(given: Mapping[str, GivenValue]) -> dict[str, GivenValue]:
    """The machine's own language as the setting's default, if Aldis speaks it: `LANG=de_DE.UTF-8` is German."""
    said = next(filter(None, map(given.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), None)
    if said is None or "LOCALE__LANGUAGE" in given:
        return {}
    code = re.split("[_.@]", said.value.lower(), maxsplit=1)[0]
    return {"LOCALE__LANGUAGE": replace(said, value=code)} if code in LANGUAGES else {}


def _nested(values: Mapping[str, str]) -> dict[str, Any]:
    """The values in the shape of the groups."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        *groups, field = name.lower().split(SEPARATOR)
        inner = found
        for group in groups:
            inner = inner.setdefault(group, {})
        inner[field] = value
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


def _expectation(error: ErrorDetails, variable: Variable | None) -> str:
    if error["type"] == "value_error":
        return str(error.get("ctx", {}).get("error", "is not valid"))
    kind = variable.kind if variable else None
    if kind is bool:
        return "must be true or false"
    if variable is not None and kind in _NUMBERS:
        return f"must be {_number_words(variable)}"
    item = kind_of(get_args(kind)[0]) if get_origin(kind) is tuple else kind
    words = ", ".join(map(str, get_args(item))) if get_origin(item) is Literal else ""
    if words:
        return f"must be {'one' if item is kind else 'a comma-separated list'} of {words}"
    return f"is not valid: {error['msg']}"


def _number_words(variable: Variable) -> str:
    """The kind and range of the number that it must be, such as `a whole number from 0 to 50`."""
    words = "a whole number" if variable.kind is int else "a number"
    for bound in variable.field.metadata:
        match bound:
            case Ge(ge=limit):
                words += f" from {limit}"
            case Gt(gt=limit):
                words += f" above {limit}"
            case Le(le=limit):
                words += f" to {limit}"
            case Lt(lt=limit):
                words += f" below {limit}"
            case _:
                pass
    return words
