"""Doorkeeper: who an author is and whether they may write, and what becomes of those who may not.

A stranger's message is dropped and counted, perhaps with a pairing code, and their question is held until they are let
in (`bot.access.pairing`). A phone number is pinned to the account that first wrote under it, because Signal reassigns
numbers. Left to others: what the list says (`bot.access.access`), storing what is let in (`bot.loops.intake`).
"""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from bot.access import chat_settings
from bot.access.access import AccessList, is_direct, may_write, members_of
from bot.access.chat_settings import ChatSettings
from bot.access.pairing import GOOD_FOR, Pairing
from bot.access.routing import Correction, Question, route, unanswered_message
from bot.clock import Clock
from bot.errors import TransportError
from bot.events import ChatId, Deleted, Envelope, Incoming, Kind, PersonId, Reply, Styled
from bot.i18n import phrases
from bot.i18n.catalogues import say
from bot.i18n.language import current_language, use_language
from bot.metrics import Counts
from bot.signal.protocol import Group, Groups, Transport
from store import Repositories, Store

_log = logging.getLogger(__name__)

_MAX_ASIDE = 64
"""The limit of simultaneous tasks; beyond it work is dropped, because nothing depends on it."""


@dataclass
class Aside:
    """Work beside the stream that nothing waits for."""

    tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def begin(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Starts it, if there is room."""
        if len(self.tasks) >= _MAX_ASIDE:
            work.close()
            return
        task = asyncio.create_task(work, name=name)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def aclose(self) -> None:
        """Cancels what is left of it."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


@dataclass
class Doorkeeper:
    """Knows who may write. `name` is what people call Aldis; unless it `invites`, strangers get no answer at all."""

    transport: Transport
    store: Store
    clock: Clock
    counts: Counts
    access: AccessList
    """With the members of groups as far as the bridge has given them."""
    name: str
    pairing: Pairing
    invites: bool

    def __post_init__(self) -> None:
        self.aside = Aside()
        self._changed_numbers: set[str] = set()

    def learn_groups(self, groups: Sequence[Group]) -> None:
        """Learns who is in the listed groups."""
        if self.access.needs_members:
            self.access = replace(self.access, members=members_of(groups, self.access))

    async def learn_members(self) -> None:
        """Learns the members before anything is admitted: one must not be taken for a stranger."""
        if self.access.needs_members and not self.access.members and isinstance(self.transport, Groups):
            self.learn_groups(await self.transport.groups())

    async def recognize(self, *envelopes: Envelope) -> list[tuple[Envelope, bool]]:
        """Returns each with the author's listed number only if it is really theirs, and whether they may write.

        The store is asked once for all of them, and only where the operator's list of UUIDs does not decide.
        """
        asked = [one for one in envelopes if one.author and not one.from_self]
        listed, pinned, approved = self.access.numbers, dict[str, str | None](), set[str]()

        def look_up(repos: Repositories) -> None:
            for author in {str(one.author) for one in asked}:
                pinned[author] = repos.people.number_of(author, listed)
                if repos.people.is_allowed(author, account=asked[0].account):
                    approved.add(author)

        if asked and (listed or not all(may_write(one, self.access) for one in asked)):
            await self.store.read(look_up)
        shown = [(one.number, str(one.author)) for one in asked if one.number in listed]
        if claims := [(number, author) for number, author in shown if number and pinned[author] != number]:
            await self._pin(claims)
            await self.store.read(look_up)
        found = list[tuple[Envelope, bool]]()
        for envelope in envelopes:
            if envelope.author in pinned:
                number = None if envelope.number in listed else envelope.number
                envelope = replace(envelope, number=pinned[envelope.author] or number)  # noqa: PLW2901
            found.append((envelope, may_write(envelope, self.access, is_approved=envelope.author in approved)))
        return found

    async def _pin(self, claims: Sequence[tuple[str, str]]) -> None:
        """Pins listed numbers to those who write under them, where they are free or their UUID is listed, too."""
        sure, now = self.access.persons | self.access.admins, self.clock.now()
        refused = await self.store.transaction(
            lambda repos: {
                number
                for number, author in dict.fromkeys(claims)
                if not repos.people.pin(number, author, now=now, is_confirmed=author in sure)
            }
        )
        for number in refused - self._changed_numbers:
            self._changed_numbers.add(number)
            self.counts.add("numbers_changed")
            _log.error(
                "a phone number on the access list now belongs to another account, which is refused; if that is right, "
                "put the account's uuid into the list"
            )

    # Strangers

    def turn_away(self, envelope: Envelope) -> None:
        """Perhaps gives a stranger a code, and holds their question until they are let in."""
        author, now = envelope.author, self.clock.now()
        if author is not None and is_direct(envelope):
            if envelope.kind is Kind.MESSAGE:
                self.pairing.note(envelope, now)
                self._invite(envelope, author)
            event = self.transport.event(envelope) if author in self.pairing.people(now) else None
            if isinstance(event, Deleted):
                self.pairing.take_back(author, event.target)
            # A command that was not carried out at once is not carried out later.
            elif isinstance(route(event, name=self.name), Question | Correction):
                self.pairing.hold(author, envelope, now)

    def _invite(self, envelope: Envelope, author: PersonId) -> None:
        """Gives a stranger a code, if strangers get one and it is their turn."""
        pairing, now = self.pairing, self.clock.now()
        if not self.invites or not pairing.has_room(author, now):
            return
        event = self.transport.event(envelope)
        # A phone also sends frames without a word, which want no answer.
        if not isinstance(event, Incoming) or unanswered_message(route(event, name=self.name)) is None:
            return
        stranger, is_new = pairing.invite(author, event.name, now)
        self.counts.add("codes_given")
        # It may never be used; what the stranger wrote is then forgotten with it.
        asyncio.get_running_loop().call_later(GOOD_FOR.total_seconds(), pairing.forget, now + GOOD_FOR)
        with use_language(chat_settings.heard_in([event], ChatSettings()) or current_language()):
            reply = Reply(chat=ChatId.direct(author), content=Styled(text=say(phrases.INVITATION, code=stranger.code)))
        self.aside.begin(self._send_code(reply), "pairing-code")
        if is_new and pairing.on_stranger is not None:
            self.aside.begin(pairing.on_stranger(stranger), "stranger")

    async def _send_code(self, reply: Reply) -> None:
        try:
            await self.transport.send(reply)
        except TransportError as error:
            _log.info("a stranger's code was not sent: %s", error)

    async def let_in(self, now: datetime) -> list[Envelope]:
        """Returns, once, what people wrote while they waited who may write by now."""
        released: list[Envelope] = []
        for person in tuple(self.pairing.people(now)):
            newest = self.pairing.newest(person)
            if newest is not None and (await self.recognize(newest))[0][1]:
                released += self.pairing.release(person, now)
        return released
