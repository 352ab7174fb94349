"""Notices: what Aldis tells admins in Signal without being asked, each once until it is over.

a problem is found --> its subject is noted --new--> every admin who has a chat with Aldis
'-known-> nothing
it is over --> forgotten: if it comes back, it is sent again
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from bot.chat import outgoing, phrases
from bot.clock import Clock
from bot.events import ChatId, PersonId, Reply
from bot.formatting.split import parts
from bot.i18n.language import Language, use_language
from bot.signal.protocol import Contact
from store import ConversationId, Repositories, Store

_log = logging.getLogger(__name__)

Kind = Literal["key", "model", "refusal", "disk", "deaf"]
"""A refused key; a model that does not exist; one that refuses everything; a disk that is nearly full; a bridge from
which nothing arrives."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """Something the admins should know."""

    kind: Kind
    subject: str = ""
    """The name of the service or the model; empty if there is only one."""

    @property
    def name(self) -> str:
        """The key by which it is sent only once."""
        return f"{self.kind} {self.subject}"

    def text(self) -> str:
        """The words, in the current language."""
        return phrases.notice(self.kind, self.subject)


@dataclass(frozen=True, slots=True)
class Admins:
    """The admins of one account, as recipients of notices."""

    clock: Clock
    listed: Callable[[], frozenset[str]]
    """Returns their uuids and numbers."""
    language: Callable[[Repositories, ConversationId], Language]
    """Returns a conversation's language."""

    @property
    def are_numbers_listed(self) -> bool:
        """Whether any admin is listed by a number, so that contacts are needed to identify them."""
        return any(entry.startswith("+") for entry in self.listed())

    def tell(
        self,
        repos: Repositories,
        text: Callable[[], str],
        contacts: Iterable[Contact],
        *,
        besides: Collection[PersonId] = (),
    ) -> bool:
        """Puts words into the chat of every admin who has one, within a transaction; returns whether there was any."""
        now = self.clock.now()
        chats = [(admin, place) for admin, place in self.chats(repos, contacts) if admin not in besides]
        for admin, conversation in chats:
            with use_language(self.language(repos, conversation)):
                [content, *_] = parts(text())
            turn = repos.turns.begin(conversation, now=now)
            repos.journal.close(turn, "ignored", now=now)
            outgoing.add_message(repos, conversation, turn, Reply(chat=ChatId.direct(admin), content=content), now)
        return bool(chats)

    def chats(self, repos: Repositories, contacts: Iterable[Contact]) -> list[tuple[PersonId, ConversationId]]:
        """Returns each admin who has a chat with Aldis, in which nothing is held, and that chat."""
        held = repos.outbox.holds()
        listed = self.listed()
        by_number = {
            contact.person
            for contact in contacts
            if contact.number in listed and repos.people.number_of(contact.person, {contact.number or ""}) is not None
        }
        admins = {PersonId(entry) for entry in listed if not entry.startswith("+")} | by_number
        known = ((admin, repos.conversations.at(ChatId.direct(admin))) for admin in admins)
        return sorted((admin, place) for admin, place in known if place is not None and place not in held)


class Notices:
    """Keeps track of the notices that were sent, and of those that should be sent now."""

    def __init__(self, store: Store, clock: Clock, admins: Admins) -> None:
        self._store = store
        self._clock = clock
        self.admins = admins

    async def settle(self, found: Mapping[Notice, bool], contacts: Iterable[Contact] = ()) -> int:
        """Tells what stands (True) and is new, and forgets what is over; returns how many notices were sent.

        Raises:
            StoreError: none were.
        """
        if not found:
            return 0
        known, now = tuple(contacts), self._clock.now()

        def transact(repos: Repositories) -> int:
            sent = 0
            for notice, stands in found.items():
                if not stands:
                    repos.notices.forget(notice.name)
                elif not repos.notices.is_told(notice.name) and self.admins.tell(repos, notice.text, known):
                    repos.notices.note(notice.name, now=now)
                    sent += 1
                    _log.info("notifying the admins: %s", notice.kind)
            return sent

        return await self._store.transaction(transact)
