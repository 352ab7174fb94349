"""Why incoming messages are not answered: counted by reason, and logged without anybody's words or number.

The doctor, the health page and the metrics show the counts as `unanswered_<reason>`. Anybody on Signal can cause such a
log line, so each reason gets at most one a minute.
"""

import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.i18n.catalogues import Sentence
from bot.i18n.statements import WordList, Words, english
from bot.metrics import Counts
from bot.unanswered import phrases

_log = logging.getLogger(__name__)

_LOG_PAUSE_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """Why something is not answered."""

    words: Sentence
    """What was wrong, for the operator; completes `not answered: ...`."""
    advice: Words = ""
    """What the operator can do about it; may be empty."""
    level: int = logging.INFO
    """The level of its log line; what happens all day in every conversation is DEBUG."""


REASONS: Mapping[str, Reason] = {
    "not_allowed": Reason(words=phrases.UNANSWERED_NOT_ALLOWED, advice=phrases.UNANSWERED_NOT_ALLOWED_DO),
    "not_addressed": Reason(words=phrases.UNANSWERED_NOT_ADDRESSED, advice=phrases.UNANSWERED_NOT_ADDRESSED_DO),
    "not_asker": Reason(words=phrases.UNANSWERED_NOT_ASKER, advice=phrases.UNANSWERED_NOT_ASKER_DO),
    "paused": Reason(words=phrases.UNANSWERED_PAUSED, advice=phrases.UNANSWERED_PAUSED_DO),
    "too_many": Reason(
        words=phrases.UNANSWERED_TOO_MANY,
        advice=WordList(("LIMITS__MESSAGES_PER_MINUTE", "LIMITS__CONVERSATION_MESSAGES_PER_MINUTE")),
        level=logging.WARNING,
    ),
    "queue_full": Reason(words=phrases.UNANSWERED_QUEUE_FULL, advice="LIMITS__MAX_WAITING", level=logging.WARNING),
    "too_old": Reason(words=phrases.UNANSWERED_TOO_OLD, advice=phrases.UNANSWERED_TOO_OLD_DO),
    "expired": Reason(words=phrases.UNANSWERED_EXPIRED),
    "undecryptable": Reason(
        words=phrases.UNANSWERED_UNDECRYPTABLE, advice=phrases.UNANSWERED_UNDECRYPTABLE_DO, level=logging.WARNING
    ),
    "not_a_note": Reason(words=phrases.UNANSWERED_NOT_A_NOTE, advice=phrases.UNANSWERED_NOT_A_NOTE_DO),
    "not_a_frame": Reason(words=phrases.UNANSWERED_NOT_A_FRAME, advice=phrases.UNANSWERED_NOT_A_FRAME_DO),
    "unreadable": Reason(words=phrases.UNANSWERED_UNREADABLE),
    "duplicate": Reason(words=phrases.UNANSWERED_DUPLICATE, level=logging.DEBUG),
    "echo": Reason(words=phrases.UNANSWERED_ECHO, level=logging.DEBUG),
    "own": Reason(words=phrases.UNANSWERED_OWN, level=logging.DEBUG),
    "other_kind": Reason(words=phrases.UNANSWERED_OTHER_KIND, level=logging.DEBUG),
    "empty": Reason(words=phrases.UNANSWERED_EMPTY, level=logging.DEBUG),
    "reacted": Reason(words=phrases.UNANSWERED_REACTED, level=logging.DEBUG),
    "timerchanged": Reason(words=phrases.UNANSWERED_TIMER, level=logging.DEBUG),
    "other_bot": Reason(words=phrases.UNANSWERED_OTHER_BOT, level=logging.DEBUG),
}
"""By the suffix of the count's name."""

_OTHER = Reason(words=phrases.UNANSWERED_OTHER, level=logging.DEBUG)


class Unanswered:
    """Counts what was not answered since the start, by reason."""

    def __init__(self, counts: Counts, seconds: Callable[[], float] = time.monotonic) -> None:
        """`seconds` is a monotonic clock."""
        self._counts = counts
        counts.declare(
            {f"unanswered_{name}": f"Not answered: {english(reason.words)}." for name, reason in REASONS.items()}
        )
        self._seconds = seconds
        self._told_at: dict[str, float] = {}

    def note(self, reason: str) -> None:
        """Counts an unanswered message under one of `REASONS` or a route's own reason; logs it now and then."""
        count = self._counts.add(f"unanswered_{reason}")
        now = self._seconds()
        if now - self._told_at.get(reason, -math.inf) >= _LOG_PAUSE_SECONDS:
            self._told_at[reason] = now
            known = REASONS.get(reason, _OTHER)
            _log.log(known.level, "not answered: %s (%d so far)", english(known.words), count)
