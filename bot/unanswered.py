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
    """Why something is not answered: what completes `not answered: ...`, and what the operator can do about it."""

    words: str
    advice: str = ""
    level: int = logging.INFO
    """The level of its log line; what happens all day in every conversation is DEBUG."""


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
    "too_many": Reason(
        "too many messages came from its author or there within a minute",
        "LIMITS__MESSAGES_PER_MINUTE and LIMITS__CONVERSATION_MESSAGES_PER_MINUTE",
        logging.WARNING,
    ),
    "queue_full": Reason("too many messages were already waiting there", "LIMITS__MAX_WAITING", logging.WARNING),
    "too_old": Reason("it had waited too long, and its author read so", "INTAKE__MAX_AGE says how long that is"),
    "expired": Reason("its timer had made it disappear before its turn came, and its author read so"),
    "undecryptable": Reason(
        "it could not be decrypted", "its author has to send it again; or look in the bridge's log", logging.WARNING
    ),
    "not_a_note": Reason("another person wrote it, and SIGNAL__NOTE_TO_SELF answers only the account's own notes"),
    "not_a_frame": Reason("what the bridge sent was not an envelope for this account, or was too long"),
    "unreadable": Reason("nothing in it could be read"),
    "duplicate": Reason("it came a second time", level=logging.DEBUG),
    "echo": Reason("Aldis had written it itself", level=logging.DEBUG),
    "own": Reason("the account itself did it, on another device", level=logging.DEBUG),
    "other_kind": Reason("it was a timer, a call, a story, a typing indicator ...", level=logging.DEBUG),
    "empty": Reason("it had neither words nor files", level=logging.DEBUG),
    "reacted": Reason("it was an emoji on a message, and asked for nothing", level=logging.DEBUG),
    "other_bot": Reason("it was a command of another bot in a group", level=logging.DEBUG),
}
"""By the suffix of the count's name."""


class Unanswered:
    """Counts what was not answered since the start, by reason."""

    def __init__(self, counts: Counts, seconds: Callable[[], float] = time.monotonic) -> None:
        self._counts = counts
        self._seconds = seconds
        self._told_at: dict[str, float] = {}

    def note(self, reason: str) -> None:
        """Counts an unanswered message under one of `REASONS` or a route's own reason; logs it now and then."""
        count = self._counts.add(f"unanswered_{reason}")
        now = self._seconds()
        if now - self._told_at.get(reason, -math.inf) >= _LOG_PAUSE_SECONDS:
            self._told_at[reason] = now
            known = REASONS.get(reason, Reason("there is nothing to answer in it", level=logging.DEBUG))
            _log.log(known.level, "not answered: %s (%d so far)", known.words, count)
