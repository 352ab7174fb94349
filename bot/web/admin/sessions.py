"""Who is signed in: one-time links, the sessions that they open, and the second factor for those that need one.

    new_link --within ten minutes, once--> enter --no second factor--> a session
                                             '-- a session that can only enter its code --confirm--> a session

Everything lives in memory, and secrets only as digests: a restart signs everybody out.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor import InvalidToken
from cryptography.hazmat.primitives.twofactor.totp import TOTP

LINK_SECONDS = 600.0
SESSION_SECONDS = 12 * 3600.0
IDLE_SECONDS = 2 * 3600.0
_TOKEN_BYTES = 32
_MAX_LINKS = 4
"""Open at a time; another one closes the oldest."""
_MAX_SESSIONS = 8
_MAX_TRIES = 5
"""How many wrong codes close a session."""
_STEP_SECONDS, _DIGITS = 30, 6
"""What every authenticator app supports. Source: RFC 6238 (2011) and the key URI format of Google Authenticator."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a page says once, at its top, about what was just done."""

    kind: Literal["done", "wrong"]
    words: str


@dataclass(kw_only=True, slots=True)
class BrowserSession:
    """A browser that is signed in."""

    name: str
    """Eight hexadecimal digits, which identify it in the log."""
    form_token: str
    """The token that every form of it must carry."""
    began_at: float
    seen_at: float
    is_confirmed: bool
    """Whether the second factor was given, or none is needed."""
    confirmed_by: "SecondFactor | None" = field(default=None, repr=False)
    """The factor that was given; one that was set later must still be given."""
    tries: int = 0
    remarks: list[Remark] = field(default_factory=list[Remark])


class SecondFactor:
    """Codes of an authenticator app for a secret of at least 128 bits."""

    def __init__(self, secret: bytes, *, wall: Callable[[], float] = time.time) -> None:
        self._totp = TOTP(secret, _DIGITS, SHA1(), _STEP_SECONDS, enforce_key_length=False)  # noqa: S303 - RFC 6238's
        self._wall = wall
        self._last_step = 0

    def takes(self, code: str) -> bool:
        """Whether the code is right now, or half a minute earlier or later; each is accepted once."""
        digits = "".join(code.split())
        if not (digits.isascii() and digits.isdecimal() and len(digits) == _DIGITS):
            return False
        now = int(self._wall()) // _STEP_SECONDS
        for step in (now, now - 1, now + 1):
            if step > self._last_step and self._is_of(digits, step):
                self._last_step = step
                return True
        return False

    def _is_of(self, digits: str, step: int) -> bool:
        try:
            self._totp.verify(digits.encode(), step * _STEP_SECONDS)
        except InvalidToken:
            return False
        return True


class CurrentFactor:
    """The second factor in force, by the secret in the settings; None means that no code is needed.

    It is kept as long as its secret, so that no code counts twice.
    """

    def __init__(self, secret: Callable[[], bytes | None] = lambda: None) -> None:
        self._secret = secret
        self._known: bytes | None = None
        self._factor: SecondFactor | None = None

    def __call__(self) -> SecondFactor | None:
        """Returns the factor that codes are checked with."""
        if (secret := self._secret()) != self._known:
            self._known, self._factor = secret, None if secret is None else SecondFactor(secret)
        return self._factor

    def check(self, session: BrowserSession) -> None:
        """Has a session enter a code if it was confirmed before this second factor was in force."""
        factor = self()
        if factor is not None and session.confirmed_by is not factor:
            session.is_confirmed = False


class Sessions:
    """The open links and sessions of one listener. `seconds` is a clock that never goes back."""

    def __init__(self, *, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._links: dict[bytes, float] = {}
        self._sessions: dict[bytes, BrowserSession] = {}

    def new_link(self) -> str:
        """Returns the token of a link that opens one session."""
        self._forget()
        while len(self._links) >= _MAX_LINKS:
            del self._links[next(iter(self._links))]
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._links[_digest(token)] = self._seconds()
        return token

    def is_open(self, token: str) -> bool:
        """Whether a link would still open a session."""
        self._forget()
        return _digest(token) in self._links

    def enter(self, token: str, *, is_confirmed: bool) -> tuple[str, BrowserSession] | None:
        """Returns a new session and the value of its cookie; None if the link is used up, too old, or unknown."""
        self._forget()
        if self._links.pop(_digest(token), None) is None:
            return None
        while len(self._sessions) >= _MAX_SESSIONS:
            del self._sessions[min(self._sessions, key=lambda digest: self._sessions[digest].seen_at)]
        cookie, now = secrets.token_urlsafe(_TOKEN_BYTES), self._seconds()
        session = BrowserSession(
            name=secrets.token_hex(4),
            form_token=secrets.token_urlsafe(_TOKEN_BYTES),
            began_at=now,
            seen_at=now,
            is_confirmed=is_confirmed,
        )
        self._sessions[_digest(cookie)] = session
        return cookie, session

    def find(self, cookie: str, *, is_visit: bool = True) -> BrowserSession | None:
        """Returns the session of a cookie; None if there is none, or no longer. `is_visit`: a person asks, not a
        page.
        """
        self._forget()
        session = self._sessions.get(_digest(cookie))
        if session is not None and is_visit:
            session.seen_at = self._seconds()
        return session

    def confirm(self, session: BrowserSession, factor: SecondFactor, code: str) -> bool:
        """Whether the code opens the session; after several wrong ones the session is closed."""
        if factor.takes(code):
            session.is_confirmed, session.confirmed_by = True, factor
            return True
        session.tries += 1
        if session.tries >= _MAX_TRIES:
            self.leave(session)
        return False

    def leave(self, session: BrowserSession) -> None:
        """Closes a session."""
        self._sessions = {digest: one for digest, one in self._sessions.items() if one is not session}

    def _forget(self) -> None:
        now = self._seconds()
        self._links = {digest: at for digest, at in self._links.items() if now - at < LINK_SECONDS}
        self._sessions = {
            digest: one
            for digest, one in self._sessions.items()
            if now - one.began_at < SESSION_SECONDS and now - one.seen_at < IDLE_SECONDS
        }


def is_same(given: str, expected: str) -> bool:
    """Whether two secrets are equal, in a time that does not reveal how far they agree."""
    return hmac.compare_digest(given.encode(), expected.encode())


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
