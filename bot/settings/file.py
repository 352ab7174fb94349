"""The settings file: what was set in a browser or by `aldis settings set`, in the folder of the database.

It uses the names of the environment, which overrides it, as does `.env`:

    the environment > .env > the settings file > the default

Overriding goes by variable, not by name: `ANTHROPIC_API_KEY` in the environment beats `LLM__ANTHROPIC__API_KEY` in the
file. Only its owner can read the file, because it may hold keys. `STORE__PATH` cannot be set in it, because it
determines where the file is.

    write: lock --> read --> change --> check everything --> write a new file, sync it --> replace the old one

Left to others: what a setting means and reading them all (`bot.settings`), the format of the file
(`bot.settings.env_file`), having a running Aldis use the new values (`bot.cli.run`).
"""

import fcntl
import os
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from bot.errors import ConfigError
from bot.settings import ENV_FILE, Settings, known_variables, values_from
from bot.settings.env_file import change_text, read_text, unusable
from bot.settings.load import read_settings_file, settings_file_path
from bot.settings.variables import Variable, hint

Origin = Literal["environment", ".env", "settings file", "default"]
"""Where a value comes from."""

_HEAD = (
    "# Settings of Aldis, written by its pages and by `aldis settings set`. The environment and .env win over these.\n"
)


class SettingsFile:
    """The settings file at a path, together with the environment and the `.env` file that override it.

    `environ` None means the process's own; `env_file` None means no such file. Its methods block on the disk: call them
    in a thread from async code.
    """

    def __init__(
        self, path: Path | None = None, *, environ: Mapping[str, str] | None = None, env_file: Path | None = ENV_FILE
    ) -> None:
        """`path` None means the one that Aldis itself would read with this environment and `.env`."""
        self._environ = environ
        self._env_file = env_file
        self.path = path or settings_file_path(environ, env_file)

    def read(self) -> Mapping[str, str]:
        """Returns the file's settings by upper-case name, secrets included; empty if there is no file.

        Raises:
            ConfigError: it cannot be read, or a line is no setting.
        """
        return read_settings_file(self.path)

    def write(self, changes: Mapping[str, str | None]) -> bool:
        """Changes these settings and leaves all others; None, or an empty value, removes one.

        A setting replaces its own value under any other of its names. If anything is wrong, nothing is written. Returns
        whether the file has changed.

        Raises:
            ConfigError: a name is unknown, a value is bad, the result as a whole is invalid, or the file cannot be
                written; the message is one line that never shows a value.
        """
        with _locked(self.path):
            text = read_text(self.path)
            values, removed = self._sorted_out(changes, read_settings_file(self.path, text))
            new = change_text(text or _HEAD, values, removed)
            if new == text or not (text or values):
                return False
            found = read_settings_file(self.path, new)
            values_from(self._environ, self._env_file, file=(self.path, found))
            write_atomically(self.path, new)
            return True

    def preview(self, changes: Mapping[str, str | None]) -> Settings:
        """Returns the settings as they would be with these changes; writes nothing.

        Raises:
            ConfigError: as `write`.
        """
        before = read_settings_file(self.path)
        values, removed = self._sorted_out(changes, before)
        found = {name: value for name, value in before.items() if name not in removed} | values
        return values_from(self._environ, self._env_file, file=(self.path, found))[0]

    def origin(self, name: str) -> Origin:
        """Returns where the value of a setting comes from, by any of its names.

        Raises:
            ConfigError: there is no such setting, or the settings are invalid.
        """
        file = (self.path, self.read())
        variable = self._variable(name, file)
        _, values = values_from(self._environ, self._env_file, file=file)
        if (given := values.get(variable.name)) is None:
            return "default"
        origins: dict[str, Origin] = {self.path.name: "settings file", ENV_FILE.name: ".env"}
        return origins.get(given.where, "environment")

    def winner(self, name: str) -> str:
        """Returns what overrides this file for a setting, in words; empty if nothing does. Raises as `origin`."""
        return {"environment": "the environment", ".env": ".env"}.get(self.origin(name), "")

    def _sorted_out(
        self, changes: Mapping[str, str | None], before: Mapping[str, str]
    ) -> tuple[dict[str, str], set[str]]:
        """The values to write by name, and every name under which such a setting may have been stored so far."""
        values = {name.upper(): value.strip() for name, value in changes.items() if value is not None and value.strip()}
        file = (self.path, {**before, **values})
        return values, {each for name in changes for each in self._variable(name, file).names}

    def _variable(self, name: str, file: tuple[Path, Mapping[str, str]]) -> Variable:
        known = known_variables(self._environ, self._env_file, file=file)
        found = next((variable for variable in known if name.upper() in variable.names), None)
        if found is None:
            names = [each for variable in known for each in variable.names]
            raise ConfigError(f"{name.upper()}: there is no such setting{hint(name.upper(), names)}")
        return found


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
