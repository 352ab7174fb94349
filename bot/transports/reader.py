"""What both bridges do with a frame: take the peek, count what is none, and learn who the account itself is.

Left to others: what frames mean (`envelope`), how they travel (`signal_cli`, `rest_api`).
"""

import logging

from bot.events import Envelope, Event, PersonId
from bot.transports.envelope import Own, event, peeked

_log = logging.getLogger(__name__)


class FrameReader:
    """Reads the frames of one account; `name` is how Aldis's own mention is written out within a text."""

    def __init__(self, account: str, name: str) -> None:
        self.unreadable = 0
        """How many frames were no envelope, since the start."""
        self.own_uuid: PersonId | None = None
        """The account's uuid; None until the bridge or a frame has told. People who hide their number name it alone."""
        self._account = account
        self._name = name

    def envelope(self, raw: str) -> Envelope | None:
        """The frame as an envelope; None, counted and logged without its text, where it is none."""
        envelope = peeked(raw, account=self._account, own_uuid=self.own_uuid)
        if envelope is None:
            self.unreadable += 1
            _log.warning("passed over a frame of %d characters that is no envelope", len(raw))
        elif envelope.number == self._account:
            self.own_uuid = envelope.author or self.own_uuid
        return envelope

    def passed_over(self, count: int) -> None:
        """Count frames that were too long to be read at all."""
        if count:
            self.unreadable += count
            _log.warning("passed over %d frames that are too long", count)

    def event(self, envelope: Envelope) -> Event | None:
        """What the envelope says; None where it is nothing for Aldis. Never raises."""
        return event(envelope, own=Own(number=self._account, uuid=self.own_uuid, name=self._name))
