"""What both bridges do with a frame: read its head as an envelope, and count frames that are none.

If notes to self are answered, a note that Aldis itself has sent is not: it is recognized by its device or its time.
Left to others: what frames mean (`envelope`), how they travel (`signal_cli`, `rest_api`).
"""

from collections import deque
from dataclasses import replace

from bot.errors import NotSent, Undeliverable
from bot.events import Account, ChatId, Envelope, Event, Incoming, Kind, PersonId, SentId
from bot.metrics import Counts
from bot.signal.contents import Stickers
from bot.signal.envelope import Own, event, peek_envelope
from bot.unanswered import Unanswered

_MAX_REMEMBERED = 256


class FrameReader:
    """Reads the frames of one account; `name` is how Aldis's own mention is spelled out in a text.

    With `takes_notes`, what the account writes to itself is a message like any other (see
    `bot.signal.notes`). `is_exclusive` is set if only frames for this account arrive, whatever they call
    it.
    """

    def __init__(self, account: Account, name: str, *, takes_notes: bool = False, is_exclusive: bool = False) -> None:
        self._counts = Counts()
        self._unanswered = Unanswered(self._counts)
        self.own_device: int | None = None
        """Which device of the account Aldis is; None if unknown."""
        self.stickers: Stickers = {}
        """The emoji of the stickers that the bridge knows."""
        self.takes_notes = takes_notes
        self._is_exclusive = is_exclusive
        self._own = Own(number=account.number, uuid=account.id, name=name)
        self._owner: PersonId | None = None
        """Whose notes arrive, which is the account itself, where the bridge does not tell its id."""
        self._sent: deque[SentId] = deque(maxlen=_MAX_REMEMBERED)

    @property
    def unreadable(self) -> int:
        """How many frames were no envelope, since the start."""
        return self._counts.all().get("unanswered_not_a_frame", 0)

    @property
    def number(self) -> str | None:
        """The phone number of the account."""
        return self._own.number

    @number.setter
    def number(self, number: str | None) -> None:
        self._own = replace(self._own, number=number)

    def is_own_chat(self, chat: ChatId) -> bool:
        """Whether it is the account's chat with itself."""
        return not chat.is_group and chat.id in {self._own.uuid, self._own.number, self._owner}

    def is_out_of_bounds(self, chat: ChatId) -> bool:
        """Whether Aldis must stay out of a chat: if notes are answered, all other chats are the person's own affair."""
        return self.takes_notes and not self.is_own_chat(chat)

    def check_bounds(self, chat: ChatId) -> None:
        """Checks that a message does not go to a chat that Aldis must stay out of.

        Raises:
            Undeliverable: it would go to another person.
            NotSent: the account's own id is not known yet, so neither is whose chat it is.
        """
        if self.is_out_of_bounds(chat):
            if (self._own.uuid or self._owner) is None and not chat.is_group:
                raise NotSent("SIGNAL__NOTE_TO_SELF: the account's own id is not known before its next note")
            raise Undeliverable("SIGNAL__NOTE_TO_SELF: nothing is sent to anybody else")

    def remember(self, sent: SentId) -> None:
        """Remembers the time of something that Aldis has sent: if it comes back, it is no question."""
        self._sent.append(sent)

    def envelope(self, raw: str) -> Envelope | None:
        """Returns the frame as an envelope; None, counted and logged without its text, if it is none."""
        envelope = peek_envelope(raw, own=self._own, takes_notes=self.takes_notes, is_exclusive=self._is_exclusive)
        if envelope is None:
            self._unanswered.note("not_a_frame")
        if envelope is not None and envelope.from_self and self.takes_notes and envelope.kind is not Kind.OTHER:
            self._owner = envelope.author
        if envelope is not None and envelope.from_self and self._is_echo(envelope):
            return replace(envelope, kind=Kind.OTHER)
        return envelope

    def _is_echo(self, envelope: Envelope) -> bool:
        return envelope.device == self.own_device or envelope.sent_at in self._sent

    def passed_over(self, count: int) -> None:
        """Counts frames that were too long to be read at all."""
        for _ in range(count):
            self._unanswered.note("not_a_frame")

    def event(self, envelope: Envelope) -> Event | None:
        """Returns the content of the envelope; None if it is nothing for Aldis. Never raises."""
        return event(envelope, own=self._own, stickers=self.stickers)

    def lacks_emoji(self, envelope: Envelope) -> bool:
        """Whether it is a sticker whose emoji is unknown."""
        said = self.event(envelope) if '"sticker"' in envelope.raw else None
        return isinstance(said, Incoming) and said.sticker and said.sticker_emoji is None
