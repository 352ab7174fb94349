"""Strangers: they may get a code, and what they ask waits until they are let in.

Left to others: who gets a code and when (`bot.access.pairing`), how long their messages wait (`bot.access.pairing`).
"""

import asyncio
import logging
from dataclasses import dataclass

from bot.access.access import is_direct
from bot.access.chat_settings import ChatSettings
from bot.access.limits import Quota
from bot.access.pairing import GOOD_FOR, Callers, Pairing, WaitingRoom
from bot.access.routing import Correction, Question, route, unanswered_message
from bot.chat.chats import heard_in
from bot.clock import Clock
from bot.errors import TransportError
from bot.events import Deleted, Envelope, Incoming, Kind, Reply, Styled
from bot.i18n import phrases
from bot.i18n.catalogues import say
from bot.i18n.language import current_language, use_language
from bot.loops.intake.aside import Aside
from bot.metrics import Counts
from bot.signal.protocol import Transport

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Admission:
    """The rules for people who are not listed: who is let in, and how much is too much."""

    quota: Quota
    pairing: Pairing | None = None
    """None: strangers are told nothing at all."""
    callers: Callers | None = None
    """None: no page waits for anybody."""

    @property
    def rooms(self) -> tuple[WaitingRoom, ...]:
        """The places where strangers wait to be let in."""
        return tuple(room for room in (self.pairing, self.callers) if room is not None)


class Strangers:
    """Handles strangers; without `admission` it does nothing. `name` is what people call Aldis in groups."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        counts: Counts,
        aside: Aside,
        *,
        admission: Admission | None,
        name: str,
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._counts = counts
        self._aside = aside
        self._pairing = admission.pairing if admission else None
        self._callers = admission.callers if admission else None
        self.rooms = admission.rooms if admission else ()
        """The places where they wait to be let in."""
        self._name = name

    def invite(self, envelope: Envelope) -> None:
        """Gives a code to a stranger who wrote directly, if it is their turn."""
        pairing, author, chat = self._pairing, envelope.author, envelope.chat
        if pairing is None or author is None or chat is None or not is_direct(envelope):
            return
        now = self._clock.now()
        # A phone also sends frames without a word, to which nobody awaits an answer.
        if envelope.kind is not Kind.MESSAGE or not pairing.has_room(author, now):
            return
        event = self._transport.event(envelope)
        if not isinstance(event, Incoming) or unanswered_message(route(event, name=self._name)) is None:
            return
        code = pairing.code(author, now) or ""
        self._counts.add("codes_given")
        # Perhaps nobody uses it any more; what the stranger wrote is then forgotten with it.
        asyncio.get_running_loop().call_later(GOOD_FOR.total_seconds(), pairing.forget, now + GOOD_FOR)
        with use_language(heard_in([event], ChatSettings()) or current_language()):
            invitation = Reply(chat=chat, content=Styled(text=say(phrases.INVITATION, code=code)))
        self._aside.begin(self._send(invitation), "pairing-code")
        stranger = pairing.put(author, event.name, code)
        if stranger is not None and pairing.on_stranger is not None:
            self._aside.begin(pairing.on_stranger(stranger), "stranger")

    def hold(self, envelope: Envelope) -> None:
        """Holds a waiting stranger's question to be answered once they are let in; until then none of it is stored."""
        author, now = envelope.author, self._clock.now()
        if author is None or not is_direct(envelope):
            return
        if self._callers is not None and envelope.kind is Kind.MESSAGE:
            self._callers.note(envelope)
        rooms = [room for room in self.rooms if author in room.people(now)]
        event = self._transport.event(envelope) if rooms else None
        # A command that was not carried out at once is not carried out later.
        is_asked = isinstance(route(event, name=self._name), Question | Correction)
        for room in rooms:
            if isinstance(event, Deleted):
                room.take_back(author, event.target)
            elif is_asked:
                room.hold(author, envelope, now)

    async def _send(self, reply: Reply) -> None:
        try:
            await self._transport.send(reply)
        except TransportError as error:
            _log.info("a stranger's code was not sent: %s", error)
