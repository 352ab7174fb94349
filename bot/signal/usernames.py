"""The user names that accounts have taken, in a file beside the store: Signal reports a link only when its name is
taken.

Nothing in it is secret, because links are made to be shared; no backup contains it, and taking the name again restores
it. Left to others: taking one (`bot.signal.profiles`), showing it (`bot.web.admin`).
"""

import logging
from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bot.errors import ConfigError
from bot.settings.file import write_atomically
from bot.signal.profiles import Username

_log = logging.getLogger(__name__)
_names = TypeAdapter(dict[str, Username | None])


def usernames_path(store: Path) -> Path:
    """Returns the path of the file, beside the database."""
    return store.with_name(f"{store.name}-usernames")


class UsernameFile:
    """The name with its link by account, None if it was given up. Its methods block on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Mapping[str, Username | None]:
        """Returns all that is known; empty if there is no file, or it cannot be read."""
        try:
            return _names.validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError):
            _log.warning("%s cannot be read; set the user name again to see its link", self._path.name)
            return {}

    def keep(self, account: str, username: Username | None) -> None:
        """Records that the account has this user name from now on, or none; if the disk fails, only the link is
        lost.
        """
        known = _names.dump_json({**self.read(), account: username})
        try:
            write_atomically(self._path, known.decode())
        except ConfigError as error:
            _log.warning("%s", error)

    def forget(self) -> None:
        """Forgets everything: a user name was changed without saying for which account."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("%s cannot be removed: %s", self._path.name, error.strerror)
