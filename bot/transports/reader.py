"""What both bridges do with a frame: take the peek, count what is none, and learn who the account itself is.

Where notes to self are answered, a note that Aldis itself has sent is none to answer: it is known by the device that
sent it or by its time. Left to others: what frames mean (`envelope`), how they travel (`signal_cli`, `rest_api`).
"""

import logging
from collections import deque
from dataclasses import replace

from bot.errors import NotSent, Undeliverable
from bot.events import ChatId, Envelope, Event, Incoming, Kind, PersonId, SentId
from bot.metrics import Counts
from bot.transports.envelope import Own, event, peeked
from bot.transports.extras import Stickers
from bot.unanswered import Unanswered

_log = logging.getLogger(__name__)


_MOST_REMEMBERED = 256


class FrameReader:
    """Reads the frames of one account; `name` is how Aldis's own mention is written out within a text.

    With `takes_notes` what the account writes to itself is a message like any other (see `bot.transports.notes`).
    """

    def __init__(self, account: str, name: str, *, takes_notes: bool = False) -> None:
        self._counts = Counts()
        self._unanswered = Unanswered(self._counts)
        self.own_uuid: PersonId | None = None
        """The account's uuid; None until the bridge or a frame has told. People who hide their number name it alone."""
        self.own_device: int | None = None
        """Which device of the account Aldis is; None where that is not known."""
        self.stickers: Stickers = {}
        """The emoji of the stickers that the bridge knows."""
        self.takes_notes = takes_notes
        self._account = account
        self._name = name
        self._sent: deque[SentId] = deque(maxlen=_MOST_REMEMBERED)

    @property
    def unreadable(self) -> int:
        """How many frames were no envelope, since the start."""
        return self._counts.all().get("unanswered_not_a_frame", 0)

    def is_own_chat(self, chat: ChatId) -> bool:
        """Whether it is the chat of the account with itself."""
        return chat in {f"direct:{self.own_uuid}", f"direct:{self._account}"}

    def is_out_of_bounds(self, chat: ChatId) -> bool:
        """Whether a chat is none of Aldis's: where notes are answered, every other is the person's own affair."""
        return self.takes_notes and not self.is_own_chat(chat)

    def check_bounds(self, chat: ChatId) -> None:
        """See that a message does not go to a chat that is none of Aldis's, whoever has asked for it.

        Raises:
            NotSent: who the account is, is not known yet.
            Undeliverable: it would go to somebody else.
        """
        if self.is_out_of_bounds(chat):
            if self.own_uuid is None:
                raise NotSent("the bridge has not told yet who the account is")
            raise Undeliverable("SIGNAL__NOTE_TO_SELF: nothing is sent to anybody else")

    def remember(self, sent: SentId) -> None:
        """Aldis has sent something under this time: it is no question if it comes back."""
        self._sent.append(sent)

    def envelope(self, raw: str) -> Envelope | None:
        """The frame as an envelope; None, counted and logged without its text, where it is none."""
        envelope = peeked(raw, account=self._account, own_uuid=self.own_uuid, takes_notes=self.takes_notes)
        if envelope is None:
            self._unanswered.note("not_a_frame")
        elif envelope.number == self._account:
            self.own_uuid = envelope.author or self.own_uuid
        if envelope is not None and envelope.from_self and self._is_echo(envelope):
            return replace(envelope, kind=Kind.OTHER)
        return envelope

    def _is_echo(self, envelope: Envelope) -> bool:
        return envelope.device == self.own_device or envelope.sent_at in self._sent

    def passed_over(self, count: int) -> None:
        """Count frames that were too long to be read at all."""
        for _ in range(count):
            self._unanswered.note("not_a_frame")

    def event(self, envelope: Envelope) -> Event | None:
        """What the envelope says; None where it is nothing for Aldis. Never raises."""
        own = Own(number=self._account, uuid=self.own_uuid, name=self._name)
        return event(envelope, own=own, stickers=self.stickers)

    def lacks_emoji(self, envelope: Envelope) -> bool:
        """Whether it is a sticker of which nobody knows the emoji."""
        said = self.event(envelope) if '"sticker"' in envelope.raw else None
        return isinstance(said, Incoming) and said.sticker and said.sticker_emoji is None
