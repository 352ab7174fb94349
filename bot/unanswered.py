"""Why incoming messages are not answered: counted by reason, and logged without anybody's words or number.

The doctor, the health page and the metrics show the counts as `unanswered_<reason>`. Anybody on Signal can cause such a
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """Why something is not answered."""

    words: str
    """What was wrong, for the operator; completes `not answered: ...`."""
    advice: str = ""
    """What the operator can do about it; may be empty."""
    level: int = logging.INFO
    """The level of its log line; what happens all day in every conversation is DEBUG."""


REASONS: Mapping[str, Reason] = {
    "not_allowed": Reason(
        words="its author is not on the list (not allowed)",
        advice="ACCESS__ALLOWED, ACCESS__GROUPS or an admin's `/allow` lets people in",
    ),
    "not_addressed": Reason(
        words="it was written in a group and not addressed to Aldis (no mention)",
        advice=("people mention Aldis, quote it or begin with its name; `/always on` makes it answer everything there"),
    ),
    "not_asker": Reason(
        words="its author may not ask in that group (`/who`)", advice="an admin writes `/who all` there, or `/who list`"
    ),
    "paused": Reason(words="Aldis is paused in its conversation", advice="`/resume` there"),
    "too_many": Reason(
        words="too many messages came from its author or in its conversation within a minute",
        advice="LIMITS__MESSAGES_PER_MINUTE and LIMITS__CONVERSATION_MESSAGES_PER_MINUTE",
        level=logging.WARNING,
    ),
    "queue_full": Reason(
        words="too many messages were already waiting in its conversation",
        advice="LIMITS__MAX_WAITING",
        level=logging.WARNING,
    ),
    "too_old": Reason(
        words="it had waited too long, and its author was told so", advice="INTAKE__MAX_AGE says how long that is"
    ),
    "expired": Reason(words="its timer had made it disappear before its turn came, and its author was told so"),
    "undecryptable": Reason(
        words="it could not be decrypted",
        advice="its author has to send it again; if it keeps happening, look in the bridge's log",
        level=logging.WARNING,
    ),
    "not_a_note": Reason(
        words=("somebody else wrote it, and SIGNAL__NOTE_TO_SELF answers only what the account writes to itself"),
        advice="without SIGNAL__NOTE_TO_SELF the people on the list are answered",
    ),
    "not_a_frame": Reason(
        words="what the bridge sent was not an envelope for this account, or was too long",
        advice="a bridge with several accounts sends those of the others, too",
    ),
    "unreadable": Reason(words="nothing in it could be read"),
    "duplicate": Reason(words="it came a second time", level=logging.DEBUG),
    "echo": Reason(words="Aldis had written it itself", level=logging.DEBUG),
    "own": Reason(words="the account itself did it, on another device", level=logging.DEBUG),
    "other_kind": Reason(words="it was not a message but a call, a story, a typing indicator ...", level=logging.DEBUG),
    "empty": Reason(words="it had neither words nor files", level=logging.DEBUG),
    "reacted": Reason(words="it was an emoji on a message, and asked for nothing", level=logging.DEBUG),
    "timerchanged": Reason(words="it was a change of the conversation's timer", level=logging.DEBUG),
    "other_bot": Reason(
        words="it was a command that Aldis does not have, in a group and not addressed to it", level=logging.DEBUG
    ),
}
"""By the suffix of the count's name."""

_OTHER = Reason(words="there is nothing to answer in it", level=logging.DEBUG)


class Unanswered:
    """Counts what was not answered since the start, by reason."""

    def __init__(self, counts: Counts, seconds: Callable[[], float] = time.monotonic) -> None:
        """`seconds` is a monotonic clock."""
        self._counts = counts
        counts.declare({f"unanswered_{name}": f"Not answered: {reason.words}." for name, reason in REASONS.items()})
        self._seconds = seconds
        self._told_at: dict[str, float] = {}

    def note(self, reason: str) -> None:
        """Counts an unanswered message under one of `REASONS` or a route's own reason; logs it now and then."""
        count = self._counts.add(f"unanswered_{reason}")
        now = self._seconds()
        if now - self._told_at.get(reason, -math.inf) >= _LOG_PAUSE_SECONDS:
            self._told_at[reason] = now
            known = REASONS.get(reason, _OTHER)
            _log.log(known.level, "not answered: %s (%d so far)", known.words, count)
