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
from bot.access.access import AccessList, accepts, is_direct, may_write
from bot.access.chat_settings import ChatSettings
from bot.access.pairing import GOOD_FOR, Pairing
from bot.access.routing import Correction, Question, route, unanswered_message
from bot.clock import is_set_within
from bot.errors import ConfigError, TransportError
from bot.events import ChatId, Deleted, Envelope, Incoming, Kind, PersonId, Reply, Styled
from bot.i18n import phrases
from bot.i18n.catalogues import say
from bot.i18n.language import current_language, use_language
from bot.logs import RepeatedWarning, describe_error
from bot.signal.protocol import Groups, Outside
from store import Repositories

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
class Doorkeeper(Outside):
    """Knows who may write, and asks the bridge regularly who is in the groups.

    `name` is what people call Aldis. Unless it `invites`, strangers get no answer at all.
    """

    every_seconds = 60.0
    pause_seconds = 5.0
    """Between two looks at the groups, however many receipts want one."""

    access: AccessList
    """With the members of groups as far as the bridge has given them."""
    name: str
    pairing: Pairing
    invites: bool

    def __post_init__(self) -> None:
        self.aside = Aside()
        self._changed = RepeatedWarning(_log)

    # Members of groups

    async def run(self) -> None:
        """Looks at the groups every minute, and when a receipt depends on it; ends only by cancellation, or at once
        where there are none.
        """
        wakeup = self.store.wakeups["members"]
        while isinstance(self.transport, Groups):
            wakeup.clear()
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001  (it only leaves some sends in doubt; nothing else fails)
                words = str(error) if isinstance(error, TransportError | ConfigError) else describe_error(error)
                _log.warning("until the bridge names the groups, receipts of their members prove nothing (%s)", words)
            await asyncio.sleep(self.pause_seconds)
            await is_set_within(wakeup, self.every_seconds)

    async def learn_members(self) -> None:
        """Learns the members before anything is admitted: one must not be taken for a stranger."""
        if self.access.needs_members and not self.access.members:
            await self.look()

    async def look(self) -> None:
        """Accepts invitations to listed groups, and learns and stores who is in the groups of the account.

        Who is in a group decides who may write, and which receipts can prove a send to it. An account that was added to
        a group without a shared profile is only invited, and nothing of that group arrives until it accepts.

        Raises:
            TransportError, ConfigError: the bridge does not answer.
            StoreError: it could not be stored.
        """
        bridge = self.transport
        allowed = self.access
        if not isinstance(bridge, Groups):
            return
        invitations = await bridge.invitations() if allowed.groups and not allowed.note_to_self else ()
        for invitation in invitations:
            if accepts(invitation, allowed):
                try:
                    await bridge.join(invitation.id)
                    _log.info("accepted an invitation to a group of ACCESS__GROUPS")
                except TransportError as error:
                    _log.warning("an invitation to a group of ACCESS__GROUPS could not be accepted: %s", error)
        asked_at = self.clock.now()
        groups = await bridge.groups()
        if allowed.needs_members:
            listed = (group.members for group in groups if group.id in allowed.groups)
            self.access = replace(allowed, members=frozenset[PersonId]().union(*listed))
        left = [ChatId.group(group) for group in await bridge.former_groups()]

        def keep(repos: Repositories) -> None:
            for group in groups:
                if group.is_complete:
                    people = [ChatId.direct(person) for person in group.members]
                    repos.members.keep(ChatId.group(group.id), people, listed_at=asked_at)
            # What was planned in a group that Aldis has left neither comes nor costs.
            repos.members.leave(left, listed_at=asked_at)
            repos.outbox.reconcile(now=self.clock.now())

        await self.store.transaction(keep)

    # Authors

    async def recognize(self, *envelopes: Envelope) -> list[tuple[Envelope, bool]]:
        """Returns each with the author's listed number only if it is really theirs, and whether they may write.

        The store is asked once for all of them, and only where the operator's list of UUIDs does not decide.
        """
        asked = [one for one in envelopes if one.author and not one.from_self]
        listed = self.access.numbers
        known = dict[str | None, tuple[str | None, bool]]()

        def look_up(repos: Repositories) -> None:
            for author in {str(one.author) for one in asked}:
                is_approved = repos.people.is_allowed(author, account=asked[0].account)
                known[author] = repos.people.number_of(author, listed), is_approved

        if asked and (listed or not all(may_write(one, self.access) for one in asked)):
            await self.store.read(look_up)
        shown = [(one.number, str(one.author)) for one in asked if one.number in listed]
        if claims := [(number, author) for number, author in shown if number and known[author][0] != number]:
            await self._pin(claims)
            await self.store.read(look_up)

        def judged(envelope: Envelope) -> tuple[Envelope, bool]:
            other = None if envelope.number in listed else envelope.number
            number, is_approved = known.get(envelope.author, (envelope.number, False))
            named = replace(envelope, number=number or other)
            return named, may_write(named, self.access, is_approved=is_approved)

        return [judged(envelope) for envelope in envelopes]

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
        if refused:
            self.counts.add("numbers_changed", len(refused))
            self._changed.tell(
                "a phone number on the access list now belongs to another account, which is refused; if that is right, "
                "put the account's uuid into the list",
                logging.ERROR,
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
