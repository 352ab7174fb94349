"""Notices: what the admins are told in Signal without having asked, each once until it is over.

    something that hurts is found --> its subject is noted --new--> every admin who has a chat with Aldis
                                                          '-known-> nothing
    it is over --> forgotten: if it comes again, it is told again

Left to others: finding (`bot.doctor`, `bot.features.safety_numbers.service`), when (`bot.loops.checkups`), sending.
"""

import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from bot.clock import Clock
from bot.events import ChatId, PersonId, Reply
from bot.formatting.split import parts
from bot.i18n.language import Language, speaking
from bot.transports.base import Contact
from bot.turn import outgoing, phrases
from store import ConversationId, Repositories, Store

_log = logging.getLogger(__name__)

_FORGOTTEN_AFTER = timedelta(days=7)
"""What nobody has looked at for so long was taken out of the settings, most likely."""

Kind = Literal["key", "model", "disk", "deaf"]
"""A key that is refused; a model that there is not; a disk that is nearly full; a bridge from which nothing comes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """Something that the admins should hear of."""

    kind: Kind
    subject: str = ""
    """The name of the service or of the model; empty where there is but one."""

    @property
    def name(self) -> str:
        """What it is told once by."""
        return f"{self.kind} {self.subject}"

    def text(self) -> str:
        """The words, in the language that is being spoken."""
        return phrases.notice(self.kind, self.subject)


class Admins:
    """The admins of one account, as those to whom something can be told."""

    def __init__(
        self,
        clock: Clock,
        *,
        listed: Callable[[], frozenset[str]],
        language: Callable[[Repositories, ConversationId], Language],
    ) -> None:
        """`listed` are their uuids and numbers; `language` is what is spoken in a conversation."""
        self._clock = clock
        self._listed = listed
        self._language = language

    @property
    def are_numbers_listed(self) -> bool:
        """Whether any admin is listed by a number, so that contacts are needed to know who that is."""
        return any(entry.startswith("+") for entry in self._listed())

    def tell(
        self,
        repos: Repositories,
        text: Callable[[], str],
        contacts: Iterable[Contact],
        *,
        besides: Collection[PersonId] = (),
    ) -> bool:
        """Put words into the chat of every admin who has one, within a transaction; whether there was any.

        `contacts` are the people whom the bridge knows: who is listed by a number is who is known to have it.
        """
        held, now = repos.outbox.held_conversations(), self._clock.now()
        chats = {ChatId.direct(admin) for admin in self._known(repos, contacts) - set(besides)}
        told = False
        for chat in sorted(chats):
            conversation = repos.chats.at(chat)
            if conversation is None or conversation in held:
                continue
            with speaking(self._language(repos, conversation)):
                [content, *_] = parts(text())
            turn = repos.inbox.begin_turn(conversation, now=now)
            repos.journal.close(turn, "ignored", now=now)
            outgoing.add_message(repos, conversation, turn, Reply(chat=chat, content=content), now)
            told = True
        return told

    def _known(self, repos: Repositories, contacts: Iterable[Contact]) -> frozenset[PersonId]:
        listed = self._listed()
        by_number = {
            contact.person
            for contact in contacts
            if contact.number in listed
            and (pin := repos.people.pin_of(contact.number or "", contact.person)) is not None
            and pin.is_theirs
        }
        return frozenset({PersonId(entry) for entry in listed if not entry.startswith("+")} | by_number)


class Notices:
    """What was told, and what is."""

    def __init__(self, store: Store, clock: Clock, admins: Admins) -> None:
        self._store = store
        self._clock = clock
        self.admins = admins

    async def settle(
        self, standing: Collection[tuple[str, Notice]], judged: Collection[str], contacts: Iterable[Contact] = ()
    ) -> int:
        """Tell what is new of what stands, and forget what is over; gives how much was told.

        `standing` are the notices, each with the topic under which it was found; `judged` are the topics that were
        looked at to the end. What stands under a topic that was not is neither told again nor forgotten.

        Raises:
            StoreError: nothing was told; try again later.
        """
        if not (standing or judged):
            return 0
        known = tuple(contacts)
        return await self._store.transaction(lambda repos: self._settle(repos, standing, judged, known))

    def _settle(
        self,
        repos: Repositories,
        standing: Collection[tuple[str, Notice]],
        judged: Collection[str],
        contacts: tuple[Contact, ...],
    ) -> int:
        now: datetime = self._clock.now()
        repos.notices.prune(before=now - _FORGOTTEN_AFTER)
        for topic in set(judged):
            repos.notices.settle(topic, standing=[notice.name for its, notice in standing if its == topic])
        told = 0
        for topic, notice in standing:
            is_known = repos.notices.is_told(notice.name)
            if is_known or self.admins.tell(repos, notice.text, contacts):
                repos.notices.note(topic, notice.name, now=now)
            if not is_known and repos.notices.is_told(notice.name):
                told += 1
                _log.info("the admins are told: %s", notice.kind)
        return told
