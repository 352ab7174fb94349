"""The seam to the account's own profile: name, about text, picture, and the user name by which others find it.

The user names that accounts have taken stand in a file beside the store, because Signal reports a link only when its
name is taken. Nothing in it is secret, because links are made to be shared; no backup contains it.
Left to others: asking either bridge (`signal_cli`, `rest_api`), opening a given picture (`bot.media.attachments`).

Source: signal-cli 0.14.6, `UpdateProfileCommand`, `UpdateAccountCommand` and `AccountHelper`; the limits as signal-cli
0.13.14 had them on a mock of Signal's server (2026-11-23).
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from bot.errors import ConfigError
from bot.settings.file import write_atomically

_log = logging.getLogger(__name__)

MAX_NAME_BYTES = 128
"""As in Signal's apps."""
MAX_ABOUT_BYTES = 512
MAX_PICTURE_BYTES = 10 * 1024 * 1024

USERNAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,31}(?:\.(?:0[1-9]|[1-9][0-9]{1,8}))?", re.ASCII)
"""A nickname, optionally with a dot and digits; otherwise Signal adds some."""


_JOINERS = str.maketrans("", "", "\u200c\u200d")
"""Invisible, but emoji and some scripts need them."""


def is_line(text: str, *, max_bytes: int) -> bool:
    """Whether this can be the name or the about text: one line of visible characters, or nothing."""
    return text.translate(_JOINERS).isprintable() and len(text.encode()) <= max_bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountProfile:
    """The account as people see it."""

    name: str
    """Empty if it has none yet."""
    about: str
    has_picture: bool
    username: str | None
    """As the bridge lists it, possibly one that was given up; None if it lists none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfilePicture:
    """A picture as it is sent to Signal."""

    data: bytes
    content_type: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileChange:
    """A change of the profile; the name is always given."""

    name: str
    about: str | None = None
    """None leaves it as it is."""
    picture: ProfilePicture | None = None
    """None leaves it as it is, unless it is removed."""
    removes_picture: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Username:
    """A user name and the address that leads to it."""

    name: str
    link: str
    """Empty if the bridge does not give it."""


class ProfileClient(Protocol):
    """A bridge's way to the profile of one account."""

    async def profile(self) -> AccountProfile:
        """Returns the present profile.

        Raises:
            Disconnected: the bridge cannot be reached or failed; try again.
        """
        ...

    async def picture(self, *, max_bytes: int) -> bytes | None:
        """Returns the picture; None if there is none, or the bridge does not have it.

        Raises:
            Disconnected: as `profile`.
            Unfetchable: it is larger than `max_bytes`.
        """
        ...

    async def change(self, change: ProfileChange) -> None:
        """Changes the profile.

        Raises:
            Disconnected: as `profile`; it may have changed.
            CallRefused: it is not changed, or not all of it; the message says why.
        """
        ...

    async def take_username(self, wanted: str) -> Username:
        """Takes a user name (see `USERNAME`). Taking the own one again, with or without its digits, changes nothing.

        Raises:
            Disconnected: as `change`.
            UsernameRefused: another account has it, or Signal does not allow it.
            CallRefused: it is not taken; the message says why.
        """
        ...

    async def drop_username(self) -> None:
        """Gives up the user name, and with it its link.

        Raises:
            Disconnected, CallRefused: as `change`.
        """
        ...

    async def aclose(self) -> None:
        """Closes the connections; it is not used afterwards."""
        ...


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
