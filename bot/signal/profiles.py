"""The seam to the account's own profile: name, about text, picture, and the user name by which others find it.

Left to others: asking either bridge (`bot.signal.signal_cli.profile`, `bot.signal.rest_api.profile`), opening a
given picture (`bot.media.attachments`).

Source: signal-cli 0.14.6, `UpdateProfileCommand`, `UpdateAccountCommand` and `AccountHelper`; the limits as signal-cli
0.13.14 had them on a mock of Signal's server (2026-11-23).
"""

import re
from dataclasses import dataclass
from typing import Protocol

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
            UsernameRefused: somebody else has it, or Signal does not allow it.
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
