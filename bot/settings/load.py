"""Reads the settings: the environment, the `.env` file and the settings file beside the store, strongest first.

An empty value counts as unset. Everything that is wrong is reported at once, a line each, which begins with the
variable and never shows a value.
"""

import os
from collections import ChainMap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from bot.errors import ConfigError
from bot.settings.env_file import entries, read_text
from bot.settings.groups import TAKEN, USUAL, LlmSettings, Settings, StoreSettings, settings_with
from bot.settings.names import ALSO, NUMBERS, SEPARATOR, Variable, hint, kind_of, variables_of
from bot.settings.sources import (
    ENVIRONMENT,
    GivenValue,
    Place,
    Reading,
    machine_language,
    machine_zone,
    place_of,
)
from bot.settings.values import zone_of
from tools import find_entry_points, import_extensions

ENV_FILE = Path(".env")
"""Read in addition to the environment, which overrides it."""
_LOCALTIME = Path("/etc/localtime")
"""A link to the zone of the machine's clock."""
SETTINGS_FILE_NAME = "settings.env"
"""The name of the file beside the store; both override it, see `bot.settings.file`."""
_STORE_PATH = "STORE__PATH"


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
    given = ChainMap(_environment(environ), _env_file(env_file)).get(_STORE_PATH)
    return Path(given.value) if given else StoreSettings().path


def read_settings_file(path: Path, text: str | None = None) -> dict[str, str]:
    """Returns the values in the settings file by upper-case name; empty if there is none. `text` replaces its content.

    Raises:
        ConfigError: it cannot be read, a line is no setting, or it sets the path of the store.
    """
    found = entries(read_text(path) if text is None else text, path.name)
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
    ranks: list[tuple[Place, ...]] = [(_environment(environ, wrong), _env_file(env_file)), (_in_file(file),)]
    if is_file_first:
        ranks.reverse()
    clock = place_of({"TZ": str(_LOCALTIME.resolve())}, str(_LOCALTIME)) if environ is None else {}
    given = ChainMap(*(place for rank in ranks for place in rank), clock)
    ranks.append((machine_language(given), machine_zone(given, wrong)))
    model, passed_over = _model_here(given)
    reading = Reading(known=tuple(variables_of(model)), passed_over=passed_over, ranks=tuple(ranks), wrong=wrong)
    settings = None
    try:
        settings = model.model_validate({"reading": reading})
    except ValidationError as error:
        wrong += complaints(error, reading.known, reading.values)
    if settings is not None and not is_file_first:
        wrong += _keyless(settings.llm)
    if wrong or settings is None:
        raise ConfigError("\n".join(dict.fromkeys(wrong))) from None  # a cause would hold what was entered
    return settings, reading.values


def known_variables(
    environ: Mapping[str, str] | None = None,
    env_file: Path | None = ENV_FILE,
    *,
    file: tuple[Path, Mapping[str, str]] | None = None,
) -> tuple[Variable, ...]:
    """Returns every setting available with what is installed on this machine, without tools that are turned off."""
    model, _ = _model_here(ChainMap(_environment(environ), _env_file(env_file), _in_file(file)))
    return tuple(variables_of(model))


def complaints(error: ValidationError, known: Sequence[Variable], values: Mapping[str, GivenValue]) -> list[str]:
    """Returns what pydantic found, one line for each variable."""
    lines: dict[str, str] = {}
    names = [name for variable in known for name in variable.names]
    for one in error.errors(include_url=False, include_input=False):
        variable = next((each for each in known if each.path == tuple(one["loc"])[: len(each.path)]), None)
        name = variable.name if variable else SEPARATOR.join(map(str, one["loc"])).upper()
        given = values.get(name)
        shown, whence = (given.name, given.whence) if given else (name, "")
        lines.setdefault(name, f"{shown}: {_expectation(one, variable, shown, names)}{whence}")
    return [*lines.values()]


def unread_zone(environ: Mapping[str, str] | None = None) -> str | None:
    """Returns the value of `TZ` (in the environment; None: the process's own) if it is not a zone's name.

    Times are then those of UTC or of `LOCALE__TIMEZONE`. None if it is a zone's name, or not set.
    """
    zone = (os.environ if environ is None else environ).get("TZ")
    return zone if zone and zone_of(zone) is None else None


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


def _environment(environ: Mapping[str, str] | None, wrong: list[str] | None = None) -> Place:
    """What is set in the environment; a name in two spellings is added to `wrong`."""
    found: dict[str, GivenValue] = {}
    for name, value in (os.environ if environ is None else environ).items():
        for own in place_of({name: value}, ENVIRONMENT).values():
            other = found.setdefault(own.name, own)
            if other.value != own.value and SEPARATOR in own.name and wrong is not None:
                wrong.append(f"{own.name}: is set twice, in different capitals; remove one of the two{own.whence}")
    return found


def _env_file(path: Path | None) -> Place:
    return place_of(entries(read_text(path), path.name, is_shared=True), path.name) if path else {}


def _in_file(file: tuple[Path, Mapping[str, str]] | None) -> Place:
    return place_of(file[1], file[0].name) if file else {}


def _keyless(llm: LlmSettings) -> list[str]:
    """A line for each provider that is named but has no key; otherwise the first message would show the mistake."""
    chosen = dict.fromkeys((choice.partition("/")[0] for choice in llm.choices), "LLM__CHOICES")
    named = chosen | dict.fromkeys(llm.providers, "LLM__PROVIDERS")
    variables = {name: f"LLM__{name.upper()}__API_KEY" for name in named if name not in llm.usable}
    return [
        f"{variable}: must be set (or {ALSO[variable]}), because {named[name]} names {name}"
        for name, variable in variables.items()
    ]


def _expectation(error: ErrorDetails, variable: Variable | None, shown: str, names: Sequence[str]) -> str:
    if error["type"] == "extra_forbidden":
        return f"there is no such setting{hint(shown, names)}"
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
