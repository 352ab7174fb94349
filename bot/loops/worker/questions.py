"""Decides which messages of a claim to answer: reads its rows, and tells those who may not ask or come too late.

Left to others: where a message goes (`bot.access.routing`), the answer (`bot.chat`).
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from bot.access.access import may_ask
from bot.access.routing import Command, Correction, Ignore, Question, Route, Talk, Verdict, route
from bot.chat import prompt
from bot.chat.context import GroupContext
from bot.chat.status import Reactions
from bot.chat.turns import Turns
from bot.clock import Clock
from bot.commands.urgent import Authority
from bot.event_json import UnreadableEvent, load_envelope, read_event
from bot.events import Envelope, Event, Incoming, Kind
from bot.i18n import phrases
from bot.i18n.catalogues import Sentence
from bot.logs import describe_error
from bot.signal.protocol import Transport
from bot.unanswered import Unanswered
from store import Claim, ConversationId, InboxId, InboxItem, Store

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenedItem:
    """A row of the inbox, read once."""

    item: InboxItem
    envelope: Envelope
    event: Event | None
    route: Route


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedMessage:
    """A message that waits for an answer."""

    item: InboxId
    """Its row of the inbox."""
    message: Incoming
    excuse: Sentence | None
    """What the person is told instead of an answer; None: it will be answered."""
    is_marked: bool
    """Whether it gets an emoji while it is being answered; a reminder, which nobody wrote, does not."""
    is_bare: bool
    """Whether it is about the last thing said in its group."""


_REFUSALS = {"too_many": phrases.TOO_MANY, "queue_full": phrases.QUEUE_FULL}


class Questions:
    """Reads claims. `max_age_seconds` is how long a message may have waited and still be answered like a new one."""

    def __init__(
        self,
        transport: Transport,
        store: Store,
        clock: Clock,
        unanswered: Unanswered,
        *,
        turns: Turns,
        reactions: Reactions,
        group_context: GroupContext,
        authority: Authority,
        max_age_seconds: float,
    ) -> None:
        self._transport = transport
        self._store = store
        self._clock = clock
        self._unanswered = unanswered
        self._turns = turns
        self._reactions = reactions
        self._group_context = group_context
        self._authority = authority
        self._max_age_seconds = max_age_seconds

    async def open_all(self, claim: Claim) -> tuple[OpenedItem, ...]:
        """The contents of a claim, in order, without unreadable rows."""
        found = [await self.open(claim.conversation, item) for item in claim.items]
        return tuple(opened for opened in found if opened is not None)

    async def open(self, conversation: ConversationId, item: InboxItem) -> OpenedItem | None:
        """The contents of an inbox row and where they go; None if the row is unreadable.

        If its event cannot be read, nothing is answered: a bug with one message must not affect those that came with
        it.
        """
        try:
            envelope = load_envelope(item.envelope)
        except UnreadableEvent:
            return None
        in_group = envelope.chat is not None and envelope.chat.is_group
        always = in_group and (await self._turns.settings(conversation)).answers_always
        try:
            event = read_event(envelope, self._transport.event)
            found = route(event, name=self._authority.name, answers_always=always)
        except Exception as error:  # noqa: BLE001  (see above)
            _log.error("message %d cannot be read: %s", item.id, describe_error(error))
            event, found = None, Ignore(reason="unreadable")
        return OpenedItem(item=item, envelope=envelope, event=event, route=found)

    async def to_answer(self, claim: Claim, opened: Iterable[OpenedItem]) -> list[AskedMessage]:
        """The messages of a claim to answer, in order; talk among others is overheard."""
        now = self._clock.now()
        asked: list[AskedMessage] = []
        for one in opened:
            item, envelope, found = one.item, one.envelope, one.route
            message = self._message(found, item)
            if message is not None and not await self._may_ask(claim, one, message):
                continue
            if message is not None:
                excuse, is_marked = self._excuse(item, envelope, now), envelope.kind is Kind.MESSAGE
                is_bare = isinstance(found, Question) and found.is_bare and message.quote is None
                asked.append(
                    AskedMessage(item=item.id, message=message, excuse=excuse, is_marked=is_marked, is_bare=is_bare)
                )
        return asked

    async def _may_ask(self, claim: Claim, opened: OpenedItem, message: Incoming) -> bool:
        """Whether the author may ask in this group, by its settings; the first who may not is told so."""
        if not message.chat.is_group:
            return True
        envelope = opened.envelope
        askers, account = (await self._turns.settings(claim.conversation)).askers, envelope.account
        if may_ask(envelope, self._authority.allowed, askers):
            return True
        is_approved = askers == "list" and await self._store.read(
            lambda repos: repos.people.is_allowed(message.author, account=account)
        )
        if may_ask(envelope, self._authority.allowed, askers, is_approved=is_approved):
            return True
        self._unanswered.note("not_asker")
        self._reactions.take_off((message,))  # possibly marked while it waited
        await self._turns.may_not_ask(claim, opened.item.id, message, askers)
        return False

    def _message(self, found: Route, item: InboxItem) -> Incoming | None:
        match found:
            case Question(message=message, is_bare=True):
                return replace(message, text="", preface=prompt.CALLED_BARE)
            case Question(message=message) | Command(message=message):
                return message
            case Verdict(instead=Question() | Talk() as instead):
                return self._message(instead, item)  # a yes or no to nothing that was asked
            case Correction(edit=edit):
                # An edit among the waiting messages has become one; the message it replaces may be marked.
                self._reactions.take_off((replace(edit.message, sent_at=edit.target),))
                return edit.message
            case Talk(message=message, reason=reason):
                self._unanswered.note(reason)
                self._group_context.hear(message, expires_at=item.expires_at)
            case Ignore(reason=reason):
                self._unanswered.note(reason)
            case _:
                pass  # what is carried out as it comes
        return None

    def _excuse(self, item: InboxItem, envelope: Envelope, now: datetime) -> Sentence | None:
        """Returns what the person is told instead of an answer; None: the message is answered normally."""
        if item.refusal is not None:
            return _REFUSALS.get(item.refusal, phrases.FAILED)
        if item.expires_at is not None and item.expires_at <= now:
            self._unanswered.note("expired")
            return phrases.MESSAGE_EXPIRED
        # At Signal by the server's clock, since the sender's and ours may be days off; here in own time.
        waited_seconds = (envelope.waited_ms or 0) / 1000 + (now - item.received_at).total_seconds()
        if waited_seconds <= self._max_age_seconds:
            return None
        self._unanswered.note("too_old")
        return phrases.TOO_OLD
