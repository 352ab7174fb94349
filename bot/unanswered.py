"""Why incoming messages are not answered: counted by reason, and logged without words or numbers of people.

The doctor and the health page show the counts as `unanswered_<reason>`. Anybody on Signal can cause such a
log line, so each reason gets at most one a minute.
"""

import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.metrics import Counts

_log = logging.getLogger(__name__)

_LOG_PAUSE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is not answered."""

    words: str
    """What was wrong, for the operator; completes `not answered: ...`."""
    advice: str = ""
    """What the operator can do about it; may be empty."""
    level: int = logging.INFO
    """The level of its log line; what happens all day in every conversation is DEBUG."""


def _all_day(words: str) -> Reason:
    return Reason(words, level=logging.DEBUG)


_MINUTE = "LIMITS__MESSAGES_PER_MINUTE and LIMITS__CONVERSATION_MESSAGES_PER_MINUTE"
_DECRYPT = "its author has to send it again; if it keeps happening, look in the bridge's log"
_NOTES = "another person wrote it, and SIGNAL__NOTE_TO_SELF answers only what the account writes to itself"

REASONS: Mapping[str, Reason] = {
    "not_allowed": Reason(
        "its author is not on the list (not allowed)",
        "ACCESS__ALLOWED, ACCESS__GROUPS or an admin's `/allow` lets people in",
    ),
    "not_addressed": Reason(
        "it was written in a group and not addressed to Aldis (no mention)",
        "people mention Aldis, quote it or begin with its name; `/always on` makes it answer everything there",
    ),
    "not_asker": Reason("its author may not ask in that group (`/who`)", "an admin writes `/who all` or `/who list`"),
    "paused": Reason("Aldis is paused in its conversation", "`/resume` there"),
    "too_many": Reason("too many messages came from its author or there within a minute", _MINUTE, logging.WARNING),
    "queue_full": Reason("too many messages were already waiting there", "LIMITS__MAX_WAITING", logging.WARNING),
    "too_old": Reason("it had waited too long, and its author read so", "INTAKE__MAX_AGE says how long that is"),
    "expired": Reason("its timer had made it disappear before its turn came, and its author read so"),
    "undecryptable": Reason("it could not be decrypted", _DECRYPT, logging.WARNING),
    "not_a_note": Reason(_NOTES, "without SIGNAL__NOTE_TO_SELF the people on the list are answered"),
    "not_a_frame": Reason(
        "what the bridge sent was not an envelope for this account, or was too long",
        "a bridge with several accounts sends those of the others, too",
    ),
    "unreadable": Reason("nothing in it could be read"),
    "duplicate": _all_day("it came a second time"),
    "echo": _all_day("Aldis had written it itself"),
    "own": _all_day("the account itself did it, on another device"),
    "other_kind": _all_day("it was not a message but a call, a story, a typing indicator ..."),
    "empty": _all_day("it had neither words nor files"),
    "reacted": _all_day("it was an emoji on a message, and asked for nothing"),
    "timerchanged": _all_day("it was a change of the conversation's timer"),
    "other_bot": _all_day("it was a command that Aldis does not have, in a group and not addressed to it"),
}
"""By the suffix of the count's name."""


class Unanswered:
    """Counts what was not answered since the start, by reason."""

    def __init__(self, counts: Counts, seconds: Callable[[], float] = time.monotonic) -> None:
        """`seconds` is a monotonic clock."""
        self._counts = counts
        self._seconds = seconds
        self._told_at: dict[str, float] = {}

    def note(self, reason: str) -> None:
        """Counts an unanswered message under one of `REASONS` or a route's own reason; logs it now and then."""
        count = self._counts.add(f"unanswered_{reason}")
        now = self._seconds()
        if now - self._told_at.get(reason, -math.inf) >= _LOG_PAUSE_SECONDS:
            self._told_at[reason] = now
            known = REASONS.get(reason) or _all_day("there is nothing to answer in it")
            _log.log(known.level, "not answered: %s (%d so far)", known.words, count)
