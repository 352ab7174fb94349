"""The answer of signal-cli-rest-api to a successful send: the message's id, and whom it missed.

Left to others: what an unsuccessful answer means (`errors`).

Source: signal-cli-rest-api, commit a08db23, `src/client/client.go` (2026-11-21).
"""

import logging
from collections import deque

from bot.errors import SentUnnamed
from bot.events import SentId
from bot.signal.json import as_object, as_whole, items_in, parse_frame, person_in, text_in
from bot.signal.protocol import MissedRecipient
from bot.signal.send_errors import failure, missed_recipient

_log = logging.getLogger(__name__)

_MAX_DIGITS = 20


def parse_sent_id(body: bytes, missing: deque[MissedRecipient], *, in_group: bool) -> SentId:
    """Returns the id of a message that somebody got: even a successful answer lists failures, one for each recipient.

    Up to 0.100, and in bridges built from older source, it is a single object instead of a list.

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
    is_number = at.isascii() and at.isdecimal() and len(at) <= _MAX_DIGITS
    sent_at = as_whole(int(at)) if is_number else None
    if sent_at is None:
        raise SentUnnamed("signal-cli-rest-api has sent it, and does not tell its timestamp")
    return SentId(sent_at)
