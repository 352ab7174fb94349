"""The settings file: what was set in a browser or by `aldis settings set`, in the folder of the database.

It uses the names of the environment, which overrides it, as does `.env`. Overriding goes by variable, not by name:
`ANTHROPIC_API_KEY` in the environment beats `LLM__ANTHROPIC__API_KEY` in the file. Only its owner can read the file,
because it may hold keys. `STORE__PATH` cannot be set in it, because it determines where the file is.

    write: lock --> read --> change --> check everything --> write a new file, sync it --> replace the old one

Values are written in single quotes, where only a backslash and a quote have a meaning, so that any text comes back as
it was. Comments and all other lines stay as they are.
"""

import fcntl
import os
import re
import tempfile
from collections.abc import Container, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from bot.errors import ConfigError
from bot.settings.groups import Settings
from bot.settings.load import (
    ENV_FILE,
    GivenValue,
    bindings,
    known_variables,
    read_settings_file,
    read_text,
    settings_file_path,
    unusable,
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
        with _locked(self.path):
            text = read_text(self.path)
            new = self._changed(text, changes)
            if new == text:
                return False
            self._loaded(new)
            write_atomically(self.path, new)
            return True

    def preview(self, changes: Mapping[str, str | None]) -> Settings:
        """Returns the settings as they would be with these changes; writes nothing. Raises as `write`."""
        return self._loaded(self._changed(read_text(self.path), changes))

    def values(self) -> list[tuple[Variable, GivenValue]]:
        """Returns everything that is set anywhere, in the order of the settings.

        Raises:
            ConfigError: the settings are invalid.
        """
        file = (self.path, self.read())
        found = values_from(self._environ, self._env_file, file=file)[1]
        known = known_variables(self._environ, self._env_file, file=file)
        return [(variable, found[variable.name]) for variable in known if variable.name in found]

    def find(self, name: str) -> tuple[Variable, GivenValue | None]:
        """Returns a setting by any of its names, and what counts for it; None if its default does.

        Raises:
            ConfigError: there is no such setting, or the settings are invalid.
        """
        variable = self._variable(name, self.read())
        return variable, {each.name: given for each, given in self.values()}.get(variable.name)

    def winner(self, name: str) -> str:
        """Returns what overrides this file for a setting: the environment or `.env`; empty if nothing does."""
        variable, given = self.find(name)
        # The machine's own zone and language (`TZ`, `LANG`) give way to the file.
        is_set_there = given is not None and given.name in variable.names and given.where != self.path.name
        return given.where if given is not None and is_set_there else ""

    def _changed(self, text: str, changes: Mapping[str, str | None]) -> str:
        """The text with these changes, and without every other name under which the same was set."""
        values = {name.upper(): value.strip() for name, value in changes.items() if value is not None and value.strip()}
        content = read_settings_file(self.path, text) | values
        removed = {each for name in changes for each in self._variable(name, content).names}
        return change_text(text or _HEAD, values, removed) if text or values else text

    def _loaded(self, text: str) -> Settings:
        content = read_settings_file(self.path, text)
        return values_from(self._environ, self._env_file, file=(self.path, content))[0]

    def _variable(self, name: str, content: Mapping[str, str]) -> Variable:
        known = known_variables(self._environ, self._env_file, file=(self.path, content))
        found = next((variable for variable in known if name.upper() in variable.names), None)
        if found is None:
            names = [each for variable in known for each in variable.names]
            raise ConfigError(f"{name.upper()}: there is no such setting{hint(name.upper(), names)}")
        return found


def change_text(text: str, values: Mapping[str, str], removed: Container[str]) -> str:
    """Returns the text without the names in `removed` (upper-case), and with these values instead of its own."""
    kept = "".join(
        binding.original.string
        for binding in bindings(text)
        if binding.key is None or not (binding.key.upper() in removed or binding.key.upper() in values)
    )
    if kept and not kept.endswith(("\n", "\r")):
        kept += "\n"
    return kept + "".join(f"{name}={quote_value(value)}\n" for name, value in values.items())


def quote_value(value: str) -> str:
    """Returns the value as it is written into the file."""
    if _PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """Keeps all others from writing while the block runs, in this process or another; they wait.

    Raises:
        ConfigError: the folder cannot be written to.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path.with_name(f"{path.name}-lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        _give_to_owner_of(path.parent, lock)
    except OSError as error:
        raise unusable(path, "written", error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def write_atomically(path: Path, text: str) -> None:
    """Replaces the file with the text, whole or not at all, readable by its owner only.

    Raises:
        ConfigError: the folder cannot be written to.
    """
    target = Path(os.path.realpath(path))
    try:
        data = text.encode()
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)  # with mode 0600
        try:
            _give_to_owner_of(target if target.exists() else target.parent, descriptor)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(target)
        except BaseException:
            with suppress(OSError):
                Path(temporary).unlink()
            raise
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except (OSError, UnicodeEncodeError) as error:
        raise unusable(path, "written", error) from error


def _give_to_owner_of(path: Path, descriptor: int) -> None:
    """Hands a file that root wrote to the user that Aldis runs as."""
    owner = path.stat()
    if os.geteuid() == 0 and owner.st_uid != 0:
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
