"""The user names that accounts have taken, in a file beside the store: Signal tells a link only when its name is taken.

Nothing in it is secret, for links are given away; it is in no backup, and taking the name again writes it once more.
Left to others: taking one (`bot.transports.profiles`), showing it (`bot.web.admin`, `bot.cli.profile`).
"""

import logging
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bot.transports.profiles import Username

_log = logging.getLogger(__name__)
_names = TypeAdapter(dict[str, Username | None])


def usernames_path(store: Path) -> Path:
    """The file, beside the database."""
    return store.with_name(f"{store.name}-usernames")


class UsernameFile:
    """What is known by account: the name with its link, None where it was given up. Its methods wait for the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Mapping[str, Username | None]:
        """All that is known; empty where there is no file, or none that can be read."""
        try:
            return _names.validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError):
            _log.warning("%s cannot be read; take the user name again to see its link", self._path.name)
            return {}

    def keep(self, account: str, username: Username | None) -> None:
        """The account has this user name from now on, or none; a disk that takes nothing costs the link alone."""
        known = _names.dump_json({**self.read(), account: username})
        try:
            with tempfile.NamedTemporaryFile(dir=self._path.parent, delete=False) as new:  # 0600
                new.write(known)
            Path(new.name).replace(self._path)
        except OSError as error:
            _log.warning("%s cannot be written: %s", self._path.name, error.strerror)

    def forget(self) -> None:
        """Nothing is known any more: a user name was changed without saying of which account."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("%s cannot be removed: %s", self._path.name, error.strerror)
