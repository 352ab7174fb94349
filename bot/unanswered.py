"""Why incoming messages are not answered: counted by reason, and logged without words or numbers of people.

The doctor and the health page show the counts as `unanswered_<reason>`. Strangers can cause such a log line, so each
reason gets at most one a minute.
"""

import logging
import math
import time
from collections.abc import Callable, Mapping

from bot.metrics import Counts

_log = logging.getLogger(__name__)

_LOG_PAUSE_SECONDS = 60.0

REASONS: Mapping[str, str] = {
    "not_allowed": "its author is not on the list (ACCESS__ALLOWED, ACCESS__GROUPS, an admin's `/allow`)",
    "not_addressed": "it was written in a group and not addressed to Aldis (no mention; or `/always on` there)",
    "not_asker": "its author may not ask in that group (`/who`)",
    "paused": "Aldis is paused in its conversation (`/resume`)",
    "too_many": "too many messages came from its author or there within a minute (LIMITS__...)",
    "queue_full": "too many messages were already waiting there (LIMITS__MAX_WAITING)",
    "too_old": "it had waited longer than INTAKE__MAX_AGE, and its author read so",
    "expired": "its timer had made it disappear before its turn came, and its author read so",
    "undecryptable": "it could not be decrypted; its author has to send it again, or look in the bridge's log",
    "not_a_note": "another person wrote it, and SIGNAL__NOTE_TO_SELF answers only the account's own notes",
    "not_a_frame": "what the bridge sent was not an envelope for this account, or was too long",
    "unreadable": "nothing in it could be read",
}
"""By the suffix of the count's name; what completes `not answered: ...`."""

ALL_DAY: Mapping[str, str] = {
    "duplicate": "it came a second time",
    "echo": "Aldis had written it itself",
    "own": "the account itself did it, on another device",
    "other_kind": "it was a timer, a call, a story, a typing indicator ...",
    "empty": "it had neither words nor files",
    "reacted": "it was an emoji on a message, and asked for nothing",
    "other_bot": "it was a command of another bot in a group",
}
"""What happens all day in every conversation, and is only in the debug log."""


class Unanswered:
    """Counts what was not answered since the start, by reason."""

    def __init__(self, counts: Counts, seconds: Callable[[], float] = time.monotonic) -> None:
        self._counts = counts
        self._seconds = seconds
        self._told_at: dict[str, float] = {}

    def note(self, reason: str) -> None:
        """Counts an unanswered message under its reason; logs it now and then."""
        count = self._counts.add(f"unanswered_{reason}")
        now = self._seconds()
        if now - self._told_at.get(reason, -math.inf) >= _LOG_PAUSE_SECONDS:
            self._told_at[reason] = now
            level = logging.INFO if reason in REASONS else logging.DEBUG
            words = REASONS.get(reason) or ALL_DAY.get(reason, "there is nothing to answer in it")
            _log.log(level, "not answered: %s (%d so far)", words, count)
