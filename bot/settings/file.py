"""The settings file: what was set in a browser or by `aldis settings set`, in the folder of the database.

It uses the names of the environment, which overrides it, as does `.env`. Overriding goes by variable, not by name:
`ANTHROPIC_API_KEY` in the environment beats `LLM__ANTHROPIC__API_KEY` in the file. Only its owner can read the file,
because it may hold keys. `STORE__PATH` cannot be set in it, because it determines where the file is.

    write: read --> change --> check everything --> write a new file, sync it --> replace the old one

Values are written in single quotes, where only a backslash and a quote have a meaning, so that any text comes back as
it was. A comment that somebody has written into the file is gone after the next change.
"""

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bot.errors import ConfigError
from bot.settings.groups import Settings
from bot.settings.load import (
    ENV_FILE,
    GivenValue,
    known_variables,
    read_settings_file,
    settings_file_path,
    values_from,
)
from bot.settings.variables import Variable, hint

_HEAD = (
    "# Settings of Aldis, written by its pages and by `aldis settings set`. The environment and .env win over these.\n"
)
_PLAIN = re.compile(r"[\w@%+:,./*~=-]+", re.ASCII)
"""Values that need no quotes."""


class SettingsFile:
    """The settings file at a path, together with the environment and the `.env` file that override it.

    `environ` None means the process's own; `env_file` None means no such file. Its methods block on the disk: call them
    in a thread from async code. They raise `ConfigError` where the file cannot be read, or a line is no setting.
    """

    def __init__(
        self, path: Path | None = None, *, environ: Mapping[str, str] | None = None, env_file: Path | None = ENV_FILE
    ) -> None:
        """`path` None means the one that Aldis itself would read with this environment and `.env`."""
        self._environ = environ
        self._env_file = env_file
        self.path = path or settings_file_path(environ, env_file)

    def read(self) -> Mapping[str, str]:
        """Returns the file's settings by upper-case name, secrets included; empty if there is no file."""
        return read_settings_file(self.path)

    def write(self, changes: Mapping[str, str | None]) -> bool:
        """Changes these settings and leaves all others; None, or an empty value, removes one.

        A setting replaces its own value under any other of its names. If anything is wrong, nothing is written. Returns
        whether the file has changed.

        Raises:
            ConfigError: a name is unknown, a value is bad, the result as a whole is invalid, or the file cannot be
                written; the message never shows a value.
        """
        content = self._changed(changes)
        if content == self.read():
            return False
        values_from(self._environ, self._env_file, file=(self.path, content))
        _write(self.path, text_of(content))
        return True

    def preview(self, changes: Mapping[str, str | None]) -> Settings:
        """Returns the settings as they would be with these changes; writes nothing. Raises as `write`."""
        return values_from(self._environ, self._env_file, file=(self.path, self._changed(changes)))[0]

    def values(self) -> list[tuple[Variable, GivenValue]]:
        """Returns everything that is set anywhere, in the order of the settings.

        Raises:
            ConfigError: the settings are invalid.
        """
        file = (self.path, self.read())
        found = values_from(self._environ, self._env_file, file=file)[1]
        known = known_variables()
        return [(variable, found[variable.name]) for variable in known if variable.name in found]

    def find(self, name: str) -> tuple[Variable, GivenValue | None]:
        """Returns a setting by any of its names, and what counts for it; None if its default does.

        Raises:
            ConfigError: there is no such setting, or the settings are invalid.
        """
        variable = _variable(name)
        return variable, {each.name: given for each, given in self.values()}.get(variable.name)

    def winner(self, name: str) -> str:
        """Returns what overrides this file for a setting: the environment or `.env`; empty if nothing does."""
        variable, given = self.find(name)
        # The machine's own zone and language (`TZ`, `LANG`) give way to the file.
        is_set_there = given is not None and given.name in variable.names and given.where != self.path.name
        return given.where if given is not None and is_set_there else ""

    def _changed(self, changes: Mapping[str, str | None]) -> dict[str, str]:
        """What the file holds with these changes, and without every other name under which the same was set."""
        values = {name.upper(): value.strip() for name, value in changes.items() if value is not None and value.strip()}
        former = self.read()
        removed = {each for name in changes for each in _variable(name).names}
        return {name: value for name, value in former.items() if name not in removed} | values


def _variable(name: str) -> Variable:
    known = known_variables()
    found = next((variable for variable in known if name.upper() in variable.names), None)
    if found is None:
        names = [each for variable in known for each in variable.names]
        raise ConfigError(f"{name.upper()}: there is no such setting{hint(name.upper(), names)}")
    return found


def text_of(values: Mapping[str, str]) -> str:
    """Returns the content of a settings file with these values."""
    lines = [_HEAD]
    for name, value in values.items():
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        lines.append(f"{name}={value}\n" if _PLAIN.fullmatch(value) else f"{name}='{escaped}'\n")
    return "".join(lines)


def _write(path: Path, text: str) -> None:
    """Replaces the file with the text, whole or not at all, readable by its owner only.

    Raises:
        ConfigError: the folder cannot be written to.
    """
    temporary = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = (path if path.exists() else path.parent).stat()
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:  # with mode 0600
            temporary = Path(file.name)
            if os.geteuid() == 0:  # what root writes belongs to the user that Aldis runs as
                os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except (OSError, UnicodeEncodeError) as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"{path}: cannot be written: {why}") from error
