"""Reads the settings: the environment, the `.env` file and the settings file beside the store, strongest first."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

from pydantic import TypeAdapter, ValidationError
from pydantic_settings import EnvSettingsSource

from bot.errors import ConfigError
from bot.i18n.language import LANGUAGES
from bot.settings.env import ENVIRONMENT, GivenValue, Variable, complaint, gather_values, names_not_read, resolve_values
from bot.settings.env_file import entries
from bot.settings.groups.llm import LlmSettings
from bot.settings.groups.store import StoreSettings
from bot.settings.model import ALSO, TAKEN, USUAL, Form, Settings, form_with
from bot.settings.values import is_zone_meant, zone_of
from tools import find_entry_points, import_extensions

ENV_FILE = Path(".env")
"""Read in addition to the environment, which overrides it."""
SETTINGS_FILE_NAME = "settings.env"
"""The name of the file beside the store; both override it, see `bot.settings.file`."""
_STORE_PATH = "STORE__PATH"


def _form_here(given: Mapping[str, GivenValue]) -> Form:
    """The settings available with what is installed on this machine; tools that are turned off are not imported."""
    points = find_entry_points()
    if not points:
        return USUAL
    off = _switched_off(given, {point.name for point in points})
    return form_with(import_extensions(points, off=off, taken=TAKEN))


def _switched_off(given: Mapping[str, GivenValue], names: Iterable[str]) -> frozenset[str] | None:
    """The tools that `TOOLS__<NAME>__ENABLED` turns off; None if `TOOLS__ENABLED` turns off all of them."""
    if _is_false(given.get("TOOLS__ENABLED")):
        return None
    return frozenset(name for name in names if _is_false(given.get(f"TOOLS__{name.upper()}__ENABLED")))


def _is_false(given: GivenValue | None) -> bool:
    try:
        return given is not None and not TypeAdapter(bool).validate_python(given.value)
    except ValidationError:
        return False  # reading all values reports it


def load_settings(environ: Mapping[str, str] | None = None, env_file: Path | None = ENV_FILE) -> Settings:
    """Returns the settings from the environment, the `.env` file and the settings file beside the store.

    `environ` None means the process's own; a file that does not exist counts as empty, and `env_file` None means that
    no file is read, not even the settings file.

    Raises:
        ConfigError: names are unknown, or a value is bad; its message has a line for each, for the operator.
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
    """Returns every setting available with what is installed on this machine, without tools that are turned off."""
    weaker = gather_values({file[0].name: file[1]}) if file else {}
    return _form_here({**weaker, **_given(environ, env_file)}).known


def unread_names(environ: Mapping[str, str] | None = None, *, is_alone: bool = False) -> tuple[str, ...]:
    """Returns the names in the environment (None: the process's own) that may be meant as settings but are not read.

    `is_alone`: nothing but Aldis runs there, so these are all that are not known to be for something else.
    """
    form = _form_here(_given(environ, None))
    return names_not_read(os.environ if environ is None else environ, form.known, form.passed_over, is_alone=is_alone)


def _read(env_file: Path | None) -> dict[str, Mapping[str, str]]:
    """The values in the file, under its name; empty if there is no file."""
    if env_file is None:
        return {}
    try:
        return {env_file.name: entries(env_file.read_bytes().decode(), env_file.name, is_shared=True)}
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise unusable(env_file, "read", error) from error


def unusable(file: Path, done: str, error: OSError | UnicodeError) -> ConfigError:
    """Returns the error for a file that cannot be `done` ("read", "written"); it names the file's path."""
    why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
    return ConfigError(f"{file}: cannot be {done}: {why}")


def _given(environ: Mapping[str, str] | None, env_file: Path | None) -> dict[str, GivenValue]:
    """The values from the environment and the `.env` file."""
    return gather_values({**_read(env_file), ENVIRONMENT: os.environ if environ is None else environ})


def _without(
    weaker: Mapping[str, GivenValue], given: Mapping[str, GivenValue], known: Iterable[Variable]
) -> dict[str, GivenValue]:
    """The weaker values, without variables that are given under any of their names."""
    beaten = {name for variable in known if any(name in given for name in variable.names) for name in variable.names}
    return {name: value for name, value in weaker.items() if name not in beaten}


def _machine_zone(given: Mapping[str, GivenValue]) -> dict[str, GivenValue]:
    """The machine's own time zone as the setting's default, if it names one that exists.

    Raises:
        ConfigError: it names one that does not exist, and the setting itself is not set.
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
    """The machine's own language as the setting's default, if Aldis speaks it: `LANG=de_DE.UTF-8` is German."""
    said = next(filter(None, map(given.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), None)
    if said is None or "LOCALE__LANGUAGE" in given:
        return {}
    code = re.split("[_.@]", said.value.lower(), maxsplit=1)[0]
    return {"LOCALE__LANGUAGE": replace(said, value=code)} if code in LANGUAGES else {}


def unread_zone(environ: Mapping[str, str] | None = None) -> str | None:
    """Returns the value of `TZ` (in the environment; None: the process's own) if it is not a zone's name.

    Times are then those of UTC or of `LOCALE__TIMEZONE`. None if it is a zone's name, or not set.
    """
    zone = (os.environ if environ is None else environ).get("TZ")
    return zone if zone and zone_of(zone) is None else None


def _nested(model: type[Settings], values: Mapping[str, GivenValue]) -> dict[str, Any]:
    """The values in the shape of the groups, as built by pydantic-settings."""
    source = EnvSettingsSource(model)
    source.env_vars = {name.lower(): given.value for name, given in values.items()}
    return source()


def _refuse_keyless(llm: LlmSettings) -> None:
    """Refuses a provider that is named but has no key; otherwise the mistake would show with the first message."""
    chosen = dict.fromkeys((choice.partition("/")[0] for choice in llm.choices), "LLM__CHOICES")
    for name, where in (chosen | dict.fromkeys(llm.providers, "LLM__PROVIDERS")).items():
        if name not in llm.usable:
            variable = f"LLM__{name.upper()}__API_KEY"
            raise ConfigError(f"{variable}: must be set (or {ALSO[variable]}), because {where} names {name}")
