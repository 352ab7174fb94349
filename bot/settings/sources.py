"""Where settings come from, as sources of pydantic-settings, each of which remembers what it read under which name.

    the environment > .env > the settings file > the machine's own zone and language > the default

A variable has a name of its own, perhaps a well-known one (`ALSO`), which counts where its own is left out in the
environment and `.env`; a secret may be kept in a file, which `NAME_FILE` names.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

from pydantic import SecretStr
from pydantic_settings import BaseSettings, EnvSettingsSource

from bot.errors import ConfigError
from bot.i18n.language import LANGUAGES
from bot.settings.names import FILE_SUFFIX, NUMBERS, Variable, is_meant_for_us
from bot.settings.values import is_zone_meant, zone_of

ENVIRONMENT = "the environment"
"""The source of a value that comes from no file."""
_QUOTED = re.compile(r"""(["'])(?:(?!\1).)*\1""", re.DOTALL)


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


def place_of(values: Mapping[str, str], where: str) -> Place:
    """Returns the values as a place; one that is empty counts as unset."""
    found = (GivenValue(name=name.upper(), value=value.strip(), where=where) for name, value in values.items())
    return {given.name: given for given in found if given.value}


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One reading of the settings: its places, and what was found in them."""

    known: tuple[Variable, ...]
    passed_over: tuple[str, ...]
    """How the variables of tools that were not imported begin: what can be set for them is not known."""
    ranks: tuple[tuple[Place, ...], ...]
    """The places, strongest first; within a rank, own names come before well-known ones."""
    values: dict[str, GivenValue] = field(default_factory=dict[str, GivenValue])
    """The strongest value of each variable by the variable's own name, and of each unknown name."""
    wrong: list[str] = field(default_factory=list[str])
    """Complaints about values that never reach pydantic."""

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name that is read."""
        return frozenset(name for variable in self.known for name in variable.names)

    def sources(self, model: type[BaseSettings]) -> Iterator[EnvSettingsSource]:
        """Yields the sources, strongest first."""
        for rank in self.ranks:
            for has_own_names in (True, False):
                for place in rank:
                    yield PlaceSource(model, self, place, has_own_names=has_own_names)


class PlaceSource(EnvSettingsSource):
    """Reads the variables of a place that no stronger source has, and the names that can only be slips for them."""

    def __init__(self, model: type[BaseSettings], reading: Reading, place: Place, *, has_own_names: bool) -> None:
        """`has_own_names`: whether it reads variables by their own names, or by their well-known ones."""
        super().__init__(model)
        self._reading = reading
        self._place = place
        self._has_own_names = has_own_names

    def __call__(self) -> dict[str, Any]:
        """Returns the values in the shape of the groups; unknown names beside them, for pydantic to forbid."""
        found = dict(self._found())
        unknown = {given.name: given for given in self._unknown()} if self._has_own_names else {}
        self._reading.values.update(found | unknown)
        self.env_vars = {name.lower(): given.value for name, given in found.items()}
        return {**(super().__call__() if found else {}), **dict.fromkeys(unknown)}

    def _found(self) -> Iterator[tuple[str, GivenValue]]:
        for variable in self._reading.known:
            name = variable.name if self._has_own_names else variable.also
            if name is None or variable.name in self._reading.values:
                continue
            try:
                if given := self._value(name, variable):
                    yield variable.name, _checked(given, variable)
            except ConfigError as error:
                self._reading.wrong.append(str(error))

    def _unknown(self) -> Iterator[GivenValue]:
        names = self._reading.names
        for name, given in self._place.items():
            is_unknown = name not in names and not name.startswith(self._reading.passed_over)
            if is_unknown and is_meant_for_us(name, names, is_in_file=given.where != ENVIRONMENT):
                yield given

    def _value(self, name: str, variable: Variable) -> GivenValue | None:
        direct = self._place.get(name)
        file = self._place.get(name + FILE_SUFFIX) if variable.is_secret else None
        if direct and file:
            raise ConfigError(f"{name}: {file.name} is also set; remove one of the two{direct.whence}")
        return _content(file) if file else direct


def _content(given: GivenValue) -> GivenValue:
    """The secret in the file that a variable names."""
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


def machine_zone(given: Mapping[str, GivenValue], wrong: list[str]) -> Place:
    """Returns the machine's own time zone, if it names one that exists; UTC tells nothing of people.

    One that does not exist is added to `wrong`, unless the setting itself is set.
    """
    zone = given.get("TZ")
    if zone is None or "LOCALE__TIMEZONE" in given:
        return {}
    name = zone_of(zone.value)
    if name is None and is_zone_meant(zone.value):
        close = next(iter(get_close_matches(zone.value, available_timezones(), n=1)), None)
        wrong.append(f"TZ: there is no such time zone{f'; did you mean {close}?' if close else ''}")
    if name is None or name.endswith(("UTC", "UCT", "GMT")):
        return {}
    return {"LOCALE__TIMEZONE": replace(zone, value=name)}


def machine_language(given: Mapping[str, GivenValue]) -> Place:
    """Returns the machine's own language, if Aldis speaks it: `LANG=de_DE.UTF-8` is German."""
    said = next(filter(None, map(given.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), None)
    if said is None:
        return {}
    code = re.split("[_.@]", said.value.lower(), maxsplit=1)[0]
    return {"LOCALE__LANGUAGE": replace(said, value=code)} if code in LANGUAGES else {}
