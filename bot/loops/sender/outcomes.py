"""Outcomes: what the end of a send means for its outbox item, and when it is sent again.

Each outcome is a function that records it within a transaction. If an answer could not edit the status or the earlier
answer that it replaces, that message is removed next. A status in doubt gets a moment for its receipt, and is never
sent again.
"""

import logging
import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.chat.outgoing import add_message
from bot.clock import Clock
from bot.errors import SentUnnamed, TransportError, Untrusted
from bot.event_json import dump_value, load_outgoing
from bot.events import ChatId, Outgoing, Removal, Reply, SentId, Styled
from bot.formatting.split import split
from bot.i18n import phrases
from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import Language, use_language
from bot.metrics import Counts
from store import ConversationId, OutboxItem, Repositories, SentMessage

_log = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS = 2.0
MAX_PAUSE_SECONDS = 300.0
MAX_WAIT_SECONDS = 86_400.0
"""However long Signal wants us to wait, it is asked again once a day."""
MAX_RESENDS = 3
"""How often something that may have gone out is sent again."""
_MAX_OUTAGE_RESENDS = 960
"""The same while nothing goes out at all: a day with the usual grace period."""
_ABOUT_THE_MESSAGE = frozenset({"refused", "too_large"})
"""Reasons why one message does not go out although others may."""
_MAX_EDITS = 10
_EDITABLE = timedelta(days=1)
"""Source: MAX_EDIT_COUNT and the sending window of Signal-Android, MessageConstraintsUtil (2026)."""

STATUS_GRACE = timedelta(seconds=10)
"""How long the answer waits for the receipt of a status in doubt in order to edit it. Phones that are on confirm within
a second or two; for all others the answer is a new message."""


Outcome = Callable[[Repositories], None]
"""Records what became of a send, within a transaction."""


class Outcomes:
    """`grace` is how long a send in doubt waits for its proof; after `max_resends` repetitions it is given up."""

    def __init__(
        self,
        clock: Clock,
        counts: Counts,
        *,
        grace: timedelta,
        max_resends: int,
        language: Callable[[Repositories, ConversationId], Language],
        max_parts: int,
    ) -> None:
        self._clock = clock
        self._counts = counts
        self._grace = grace
        self._max_resends = max_resends
        self._language = language
        self._max_parts = max_parts

    def finish(
        self, item: OutboxItem, outgoing: Outgoing, sent_at: SentId, edits: SentMessage | None, *, lost_files: bool
    ) -> Outcome:
        """It went out; `lost_files`: people are told that there should have been files."""

        def record(repos: Repositories) -> None:
            self._keep_sent(repos, item, outgoing, sent_at, edits)
            self._tell_what_is_owed(repos, item, outgoing)
            if lost_files:
                self._say(repos, item, outgoing.chat, phrases.FILES_NOT_SENT)

        return record

    def _keep_sent(
        self, repos: Repositories, item: OutboxItem, outgoing: Outgoing, sent_at: SentId, edits: SentMessage | None
    ) -> None:
        """Records what went out, within a transaction; a status that must not stay beside it is removed next."""
        now, wall = self._clock.now(), self._clock.wall()
        targets = [sent_at] if repos.outbox.mark_sent(item.id, sent_at, now=now, edited=edits) else []
        if item.status is not None and edits is None and isinstance(outgoing, Reply):
            targets.append(SentId(item.status.sent_at))
        elif isinstance(outgoing, Reply) and outgoing.files and (old := editable(item, wall)) is not None:
            targets.append(SentId(old.sent_at))
        self._remove(repos, item, outgoing.chat, targets)

    def split(self, item: OutboxItem, reply: Reply) -> Outcome:
        """Splits a text that cannot be sent as one message into several, in which people are named without mentions."""
        self._counts.add("texts_split")
        _log.warning("reply %d cannot be sent as one message; splitting it", item.id)
        now = self._clock.now()

        def record(repos: Repositories) -> None:
            conversation = repos.outbox.conversation_of(item.id)
            if conversation is None:
                return
            with use_language(self._language(repos, conversation)):
                cut_mark = say(phrases.CUT_PARTS)
            contents = split(reply.content, max_parts=self._max_parts, cut_mark=cut_mark)
            parts = [
                replace(
                    reply,
                    content=content,
                    mentions=(),
                    quote=None if place else reply.quote,
                    last=place + 1 == len(contents),
                )
                for place, content in enumerate(contents)
            ]
            if not repos.outbox.rewrite(item.id, dump_value(parts[0]), now=now):
                return
            for part in parts[1:]:
                add_message(repos, conversation, item.turn, part, now)
            if _has_files(load_outgoing(item.reply)):
                self._say(repos, item, reply.chat, phrases.FILES_NOT_SENT)

        return record

    def _say(
        self, repos: Repositories, item: OutboxItem, chat: ChatId, sentence: Sentence, *, notice_of: int | None = None
    ) -> None:
        """Adds a sentence after the words of the item's turn, within a transaction; `notice_of` as in `Reply`.

        It is a message of its own, because it might not fit into another.
        """
        conversation = repos.outbox.conversation_of(item.id)
        if conversation is None:
            return
        with use_language(self._language(repos, conversation)):
            content = Styled(text=say(sentence))
        reply = Reply(chat=chat, content=content, ok=False, notice_of=notice_of)
        add_message(repos, conversation, item.turn, reply, self._clock.now())

    def _remove(self, repos: Repositories, item: OutboxItem, chat: ChatId, targets: Iterable[SentId]) -> None:
        """Removes messages of ours from the chat, within a transaction."""
        conversation = repos.outbox.conversation_of(item.id)
        if conversation is None:
            return
        for target in targets:
            add_message(repos, conversation, item.turn, Removal(chat=chat, target=target), self._clock.now())

    def postpone(self, item: OutboxItem, error: TransportError, *, is_in_doubt: bool = False) -> Outcome:
        """It did not go out, or can safely go out twice: it is tried again after a growing pause."""
        seconds = min(_FIRST_PAUSE_SECONDS * 2.0 ** min(item.attempts, 10), MAX_PAUSE_SECONDS)
        seconds *= random.uniform(0.5, 1.0)  # noqa: S311  (it spreads load, it keeps no secret)
        seconds = min(max(seconds, error.retry_after_seconds or 0), MAX_WAIT_SECONDS)
        _log.warning("reply %d was not sent (%s); retrying in %.0f s", item.id, error, seconds)
        pause = timedelta(seconds=seconds)

        def record(repos: Repositories) -> None:
            now = self._clock.now()
            repos.outbox.postpone(item.id, due_at=now + pause, now=now, is_in_doubt=is_in_doubt)

        return record

    def hold(self, item: OutboxItem, error: Untrusted) -> Outcome:
        """It waits with its conversation until a new safety number is trusted."""
        self._counts.add("sends_held")
        _log.warning("reply %d is held: %s", item.id, error)

        def record(repos: Repositories) -> None:
            now = self._clock.now()
            repos.outbox.postpone(item.id, due_at=now, now=now)
            if (conversation := repos.outbox.conversation_of(item.id)) is not None:
                repos.holds.add(conversation, now=now)

        return record

    def give_up(self, item: OutboxItem, outgoing: Outgoing | None, words: str, reason: str) -> Outcome:
        """It will never go out; `outgoing` is its content, None if unreadable."""
        self._counts.add(f"undeliverable_{reason}")
        _log.error("reply %d is undeliverable: %s", item.id, words)
        now = self._clock.now()

        def record(repos: Repositories) -> None:
            self._tell_of_unsent(repos, item, outgoing, at_once=reason in _ABOUT_THE_MESSAGE)
            repos.outbox.give_up(item.id, now=now)

        return record

    def _tell_of_unsent(
        self, repos: Repositories, item: OutboxItem, outgoing: Outgoing | None, *, at_once: bool
    ) -> None:
        """Tells people, once per turn, that something may not have arrived: `at_once` if another message can reach
        them, otherwise once one did.
        """
        if item.is_status or isinstance(outgoing, Removal):
            return
        if outgoing is None or outgoing.notice_of is not None or not at_once:
            repos.outbox.owe_notice(item.id)
        elif repos.outbox.begin_notice(item.id, item.turn):
            self._say(repos, item, outgoing.chat, phrases.MESSAGE_NOT_SENT, notice_of=item.id)

    def _tell_what_is_owed(self, repos: Repositories, item: OutboxItem, outgoing: Outgoing) -> None:
        """Tells people about what did not arrive, now that something went out in the chat."""
        if item.is_status or isinstance(outgoing, Removal):
            return
        if repos.outbox.take_owed(item.id) and outgoing.notice_of is None:
            self._say(repos, item, outgoing.chat, phrases.MESSAGE_NOT_SENT, notice_of=item.id)

    def give_up_files(self, item: OutboxItem, reply: Reply) -> Outcome:
        """It has no words, and its files cannot be sent: people are told so."""
        now = self._clock.now()

        def record(repos: Repositories) -> None:
            self._say(repos, item, reply.chat, phrases.FILES_NOT_SENT)
            repos.outbox.give_up(item.id, now=now)

        return record

    def settle_unnamed(self, item: OutboxItem, error: SentUnnamed) -> Outcome:
        """It went out: it is never sent again, whether or not a receipt tells its timestamp."""
        _log.error("reply %d: %s; without a receipt it cannot be edited or removed", item.id, error)
        now = self._clock.now()
        return lambda repos: repos.outbox.give_up(item.id, now=now, doubted_until=now + self._grace)

    def mark_unknown(
        self, item: OutboxItem, outgoing: Outgoing, reason: str, *, outages: int, is_outage: bool = False
    ) -> Outcome:
        """It may have gone out; `outages` is how many of its tries failed while nothing went out at all."""
        self._counts.add("sends_unknown")
        is_over = item.doubts >= (_MAX_OUTAGE_RESENDS if is_outage else self._max_resends + outages)
        what_next = "giving up" if is_over else "waiting for a receipt"
        level = logging.ERROR if is_over else logging.WARNING
        _log.log(level, "reply %d: nobody knows whether it went out (%s); %s", item.id, reason, what_next)
        grace = min(self._grace, STATUS_GRACE) if item.is_status else self._grace

        def record(repos: Repositories) -> None:
            # Own time is read within the transaction, because a step of the clock may start to count beside it.
            now = self._clock.now()
            if is_over:
                self._tell_of_unsent(repos, item, outgoing, at_once=False)
                repos.outbox.give_up(item.id, now=now, doubted_until=now + self._grace)
            else:
                repos.outbox.mark_unknown(item.id, due_at=now + grace, open_until=now + self._grace)

        return record


def _has_files(outgoing: Outgoing) -> bool:
    return isinstance(outgoing, Reply) and bool(outgoing.files)


def editable(item: OutboxItem, wall: datetime) -> SentMessage | None:
    """The message to edit; None if there is none, or Signal's apps would no longer show the edit."""
    old = item.edits
    if old is None or old.revision >= _MAX_EDITS:
        return None
    age = wall - datetime.fromtimestamp(old.original_at / 1000, UTC)
    return old if age < _EDITABLE else None
