"""The profile and the user name of the account, as Signal's server and signal-cli keep them.

Observed with signal-cli 0.13.14 and signal-cli-rest-api a08db23 on a mock of Signal's server (2026-11-23). Source for
differences in later versions: signal-cli 0.14.6, `ManagerImpl.setUsername`.
"""

import base64
import hashlib
import re
from dataclasses import dataclass, field

_MAX_NAME_BYTES = 257
"""Of given and family name with the zero between them."""
_MAX_ABOUT_BYTES = 512
_NICKNAME_CHARS = range(3, 33)
_MAX_DISCRIMINATOR = 2**64

UNTYPED = "Failed to set username: [409] "
"""What signal-cli 0.13 says of a user name that is taken."""
TAKEN = "Invalid username: Username is malformed or already taken"


class ProfileRefused(Exception):
    """What signal-cli refuses: its error code and its sentence."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


@dataclass(kw_only=True)
class OwnProfile:
    """What people see of the account."""

    given_name: str = ""
    family_name: str = ""
    about: str = ""
    picture: bytes | None = None
    username: str | None = None
    listed_username: str | None = None
    """What signal-cli lists: it goes on listing a user name that was deleted."""
    taken: set[str] = field(default_factory=set[str])
    """The user names of others, in small letters."""
    links: int = 0
    """How many links there were so far: a new user name has a new one."""

    @property
    def link(self) -> str:
        """By which others find the account; phones read what stands behind the `#`."""
        made = hashlib.sha384(str(self.links).encode()).digest()
        return f"https://signal.me/#eu/{base64.urlsafe_b64encode(made).decode()}"

    def update(
        self,
        *,
        given_name: str | None = None,
        family_name: str | None = None,
        about: str | None = None,
        picture: bytes | None = None,
        removes_picture: bool = False,
    ) -> None:
        """Change what is given. None leaves it.

        Raises:
            ProfileRefused: something is too long; nothing is changed.
        """
        given = self.given_name if given_name is None else given_name
        family = self.family_name if family_name is None else family_name
        told = self.about if about is None else about
        whole = given if not family else f"{given}\0{family}"
        for text, most in ((whole, _MAX_NAME_BYTES), (told, _MAX_ABOUT_BYTES)):
            if len(text.encode()) > most:
                raise ProfileRefused(-32603, f"Input is too long: {text} (IllegalArgumentException)")
        self.given_name, self.family_name, self.about = given, family, told
        if picture is not None or removes_picture:
            self.picture = picture

    def take_username(self, wanted: str, *, is_old: bool = False) -> None:
        """Take a user name. Its own once more, with or without the digits, changes nothing, the link included.

        Raises:
            ProfileRefused: it is none, or somebody else has it.
        """
        nickname, dot, discriminator = wanted.partition(".")
        if self.username is not None and wanted in {self.username, self.username.partition(".")[0]}:
            return
        _check_nickname(nickname)
        if dot:
            _check_discriminator(discriminator.rpartition(".")[2])
        full = wanted if dot else f"{nickname}.{39 + self.links}"
        if full.lower() in self.taken or (self.username is not None and full.lower() == self.username.lower()):
            raise ProfileRefused(-3, UNTYPED) if is_old else ProfileRefused(-1, TAKEN)
        self.username = self.listed_username = full
        self.links += 1

    def drop_username(self) -> None:
        """Have none any more; once more does no harm."""
        self.username = None


def _check_nickname(nickname: str) -> None:
    if not nickname:
        raise _invalid("Name cannot be empty (CannotBeEmptyException)")
    if nickname[0].isdecimal():
        raise _invalid("Name cannot start with a digit (CannotStartWithDigitException)")
    if not re.fullmatch(r"[A-Za-z0-9_]+", nickname):
        raise _invalid("Nickname contains disallowed character (BadNicknameCharacterException)")
    if len(nickname) not in _NICKNAME_CHARS:
        is_short = len(nickname) < _NICKNAME_CHARS.start
        kind = "short (NicknameTooShortException)" if is_short else "long (NicknameTooLongException)"
        raise _invalid(f"Nickname is too {kind}")


def _check_discriminator(digits: str) -> None:
    if not digits:
        raise _invalid("Discriminator cannot be empty (DiscriminatorCannotBeEmptyException)")
    if not re.fullmatch(r"[0-9]+", digits):
        raise _invalid("Discriminator must only be made up of digits (BadDiscriminatorCharacterException)")
    if len(digits) == 1:
        raise _invalid("Discriminator cannot be a single digit (DiscriminatorCannotBeSingleDigitException)")
    if int(digits) == 0:
        raise _invalid("Discriminator cannot be zero (DiscriminatorCannotBeZeroException)")
    if digits.startswith("0") and len(digits) > len("00"):
        words = "Discriminator cannot have leading zeros unless it would otherwise be a single digit"
        raise _invalid(f"{words} (DiscriminatorCannotHaveLeadingZerosException)")
    if int(digits) >= _MAX_DISCRIMINATOR:
        raise _invalid("Value is too large to be a username discriminator (DiscriminatorTooLargeException)")


def _invalid(words: str) -> ProfileRefused:
    return ProfileRefused(-1, f"Invalid username: {words}")
