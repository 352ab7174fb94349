"""What signal-cli-rest-api says of a send that succeeded: under which name it is there, and whom it missed.

Left to others: what an answer that is no success means (`errors`).

Source: signal-cli-rest-api, commit a08db23, `src/client/client.go` (2026-11-21).
"""

import logging
from collections import deque

from bot.errors import SentUnnamed
from bot.events import SentId
from bot.transports.base import MissedRecipient
from bot.transports.envelope.json import as_object, items_in, parse_frame, person_in, text_in
from bot.transports.envelope.send_errors import failure, missed_recipient

_log = logging.getLogger(__name__)


def parse_sent_id(body: bytes, missing: deque[MissedRecipient], *, in_group: bool) -> SentId:
    """The id of a message that somebody got: failures stand in an answer of success, too, one for each recipient.

    Up to 0.100, and where somebody has built the bridge from older source, the object stands there without a list.

    Raises:
        SentUnnamed: it went out; the rest cannot be read.
    """
    told = parse_frame('{"sent": ' + body.decode("utf-8", "replace") + "}")
    sent = as_object(next(iter(items_in(told, "sent")), told.get("sent")))
    errors = [as_object(error) for error in items_in(as_object(sent.get("errors")), "recipients")]
    kinds = [text_in(error, "reason") for error in errors]
    if kinds and not in_group:
        raise failure(kinds)
    if kinds:
        _log.warning("a message did not reach %d members of a group", len(kinds))
        missing.extend(missed_recipient(text_in(error, "reason"), person_in(error, "uuid")) for error in errors)
    at = str(sent.get("timestamp"))
    if not at.isascii() or not at.isdecimal():
        raise SentUnnamed("signal-cli-rest-api has sent it, and does not tell its timestamp")
    return SentId(int(at))
