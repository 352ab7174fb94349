"""The seam to the account's own profile: name, words, picture, and the user name by which others find it.

Left to others: asking either bridge (`bot.transports.signal_cli.profile`, `bot.transports.rest_api.profile`), opening a
picture that somebody has given (`bot.media.attachments`).

Source: signal-cli 0.14.6, `UpdateProfileCommand`, `UpdateAccountCommand` and `AccountHelper`; the limits as signal-cli
0.13.14 gave them on a mock of Signal's server (2026-11-23).
"""

import re
from dataclasses import dataclass
from typing import Protocol

MAX_NAME_BYTES = 128
"""As Signal's apps have it."""
MAX_ABOUT_BYTES = 512
MAX_PICTURE_BYTES = 10 * 1024 * 1024

USERNAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,31}(?:\.(?:0[1-9]|[1-9][0-9]{1,8}))?", re.ASCII)
"""A nickname, and perhaps a dot and digits; without them Signal gives some."""


_JOINERS = str.maketrans("", "", "\u200c\u200d")
"""Nobody sees them, and emoji and some scripts need them."""


def is_line(text: str, *, max_bytes: int) -> bool:
    """Whether the name or the words below it can be this: one line of signs that are seen, or nothing."""
    return text.translate(_JOINERS).isprintable() and len(text.encode()) <= max_bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountProfile:
    """What people see of the account."""

    name: str
    """Empty: it has none yet."""
    about: str
    has_picture: bool
    username: str | None
    """As the bridge lists it, which may be one that was given up; None: it lists none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfilePicture:
    """A picture as it goes to Signal."""

    data: bytes
    content_type: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileChange:
    """What is to be another; the name is always given."""

    name: str
    about: str | None = None
    """None: as it is."""
    picture: ProfilePicture | None = None
    """None: as it is, unless it is removed."""
    removes_picture: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Username:
    """A user name and the address that leads to it."""

    name: str
    link: str
    """Empty where the bridge does not tell it."""


class ProfileClient(Protocol):
    """A bridge's way to the profile of one account."""

    async def profile(self) -> AccountProfile:
        """The profile as it is.

        Raises:
            Disconnected: the bridge cannot be reached or did not succeed; try again.
        """
        ...

    async def picture(self, *, max_bytes: int) -> bytes | None:
        """The picture; None where there is none, or the bridge does not have it.

        Raises:
            Disconnected: as `profile`.
            Unfetchable: it is larger than `max_bytes`.
        """
        ...

    async def change(self, change: ProfileChange) -> None:
        """Change the profile.

        Raises:
            Disconnected: as `profile`; it may be changed.
            CallRefused: it is not changed, or not all of it; the message says why.
        """
        ...

    async def take_username(self, wanted: str) -> Username:
        """Take a user name (see `USERNAME`). The own one once more, with or without its digits, changes nothing.

        Raises:
            Disconnected: as `change`.
            UsernameRefused: somebody else has it, or Signal does not allow it.
            CallRefused: it is not taken; the message says why.
        """
        ...

    async def drop_username(self) -> None:
        """Give up the user name, and with it its link.

        Raises:
            Disconnected, CallRefused: as `change`.
        """
        ...

    async def aclose(self) -> None:
        """Close connections; it is not used afterwards."""
        ...
