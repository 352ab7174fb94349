"""Edits, deletions and disappearing messages: applied to everything that was made from a message.

    deleted --waiting--> gone            edited --waiting------> its new words wait in its place
            |-running--> stopped                |-running------> stopped, and asked again in its new words
            '-answered-> its turn goes          |-just answered> asked again; the answer is edited
            the others of its turn whose        |-older, nothing is answered there now (`/pause`), or its
            answer is not out: asked again      | author edits too much: the history has its new words, the answer stays
                                                '-to a command: what was made of it goes as if it were deleted, and its
                                                  author reads that no edit gives one
    translated --> its translation goes, too, or is made anew, however old it is
    expired --> its turn goes; an answer that is not sent yet is replaced by a notice that it has disappeared

Each is one transaction that also settles the event itself, so that a crash leaves either all of it to do or nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from bot import messages
from bot.access import chat_settings
from bot.access.limits import CallRate
from bot.access.routing import Command, Correction, is_translated
from bot.chat import outgoing, phrases, prompt
from bot.chat.steps import Asked, dump_step, has_acted, journaled_steps
from bot.chat.turns import Turns
from bot.clock import Clock
from bot.events import ChatId, Deleted, Incoming, PersonId, Reply, SentId, Styled, load_outgoing
from bot.i18n.catalogues import say
from bot.i18n.language import use_language
from bot.settings import Settings
from bot.trust import provenance
from store import ConversationId, InboxItem, KnownMessage, Repositories, Store, TurnId

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Change:
    """A message that its author takes back or changes, and the transaction in which that is carried through."""

    repos: Repositories
    conversation: ConversationId
    item: InboxItem
    """The deletion or the edit."""
    chat: ChatId
    author: PersonId
    known: KnownMessage
    now: datetime


class Revisions:
    """Messages that are taken back, changed or expired."""

    def __init__(self, store: Store, clock: Clock, turns: Turns, settings: Settings) -> None:
        # So many edits of one person ask a model; more are admitted, as former words must go.
        self._asks = CallRate(settings.limits.messages_per_minute)
        self._tellings = CallRate(1)
        self._store = store
        self._clock = clock
        self._turns = turns
        self._deletes_answers = settings.signal.delete_answers

    async def withdraw(self, urgent_item: InboxItem, deletion: Deleted) -> tuple[TurnId, ...]:
        """Removes a message that was deleted for everybody, and what was made from it; returns the turns to stop."""

        def transact(repos: Repositories) -> tuple[TurnId, ...]:
            repos.inbox.settle(urgent_item.id)
            change = self._change(repos, urgent_item, deletion.chat, deletion.author, deletion.target)
            return () if change is None else self._taken_back(change)

        return await self._carried_through(urgent_item.conversation, transact)

    async def correct(self, urgent_item: InboxItem, correction: Correction) -> tuple[TurnId, ...]:
        """Applies an edit of a message, depending on how far the message has come; returns the turns to stop."""
        edit, meant = correction.edit, correction.as_message

        def transact(repos: Repositories) -> tuple[TurnId, ...]:
            change = self._change(repos, urgent_item, edit.message.chat, edit.message.author, edit.target)
            if change is None:  # forgotten, or older than Aldis: what it was about is not known
                repos.inbox.settle(urgent_item.id)
                return ()
            if isinstance(meant, Command):
                stops = self._asks_no_more(change)
                if not meant.is_addressed:
                    repos.inbox.settle(urgent_item.id)
                elif self._admits(change):
                    message, until = meant.message, urgent_item.expires_at
                    turn = self._turns.tell(
                        repos, change.conversation, message, phrases.EDITED_COMMAND, expires_at=until
                    )
                    repos.inbox.settle(urgent_item.id, turn=turn)
                return stops
            return self._corrected(change, correction)

        return await self._carried_through(urgent_item.conversation, transact)

    async def expire(self) -> int:
        """Removes what has expired by now; returns how many turns that were."""
        now = self._clock.now()

        def transact(repos: Repositories) -> int:
            over = repos.forgetting.turns_expired(now)
            for conversation, turn in over:
                unsent = repos.outbox.unsent_parts(turn)
                repos.forgetting.turns(turn, now=now)
                replies = [reply for line in unsent if isinstance(reply := load_outgoing(line), Reply)]
                # An answer that expires before it is sent is replaced by a notice; no one asked for a translation.
                if replies and not repos.turns.is_translation(turn):
                    with use_language(self._turns.language(repos, conversation)):
                        text = say(phrases.ANSWER_EXPIRED)
                    notice = Reply(chat=replies[0].chat, content=Styled(text=text), ok=False)
                    replaces = repos.outbox.current_status(turn)
                    outgoing.add_message(repos, conversation, turn, notice, now, replaces=replaces)
            chat_settings.expire(repos, now)
            return len(over)

        return await self._removed(transact)

    async def retain(self, before: datetime) -> int:
        """Removes what was answered, and predictions that were due, before then; returns how many turns that were."""

        def transact(repos: Repositories) -> int:
            repos.predictions.retain(before)
            over = repos.forgetting.turns_before(before)
            for _, turn in over:
                repos.forgetting.turns(turn, now=self._clock.now())
            return len(over)

        return await self._removed(transact)

    async def _removed(self, work: Callable[[Repositories], int]) -> int:
        count = await self._store.erase(work)
        if count:
            self._turns.forget()
        return count

    async def _carried_through(self, conversation: ConversationId, work: Callable[[Repositories], T]) -> T:
        try:
            return await self._store.erase(work)
        finally:
            self._turns.forget(conversation)

    def _change(
        self, repos: Repositories, urgent_item: InboxItem, chat: ChatId, author: PersonId, target: SentId
    ) -> _Change | None:
        """Removes settings made in the words of a message, and returns the change; None: the message is unknown."""
        now, conversation = self._clock.now(), urgent_item.conversation
        known = repos.inbox.find(conversation, author, target)
        names = {target} if known is None else known.names
        chat_settings.change(repos, conversation, now, lambda settings: settings.without(author, names))
        if known is None:
            return None
        return _Change(
            repos=repos,
            conversation=conversation,
            item=urgent_item,
            chat=chat,
            author=author,
            known=known,
            now=now,
        )

    # Taken back

    def _taken_back(self, change: _Change) -> tuple[TurnId, ...]:
        repos, known = change.repos, change.known
        planned = self._undo(change)
        if known.is_open:
            former = None if known.turn is None else repos.turns.replaces(known.turn)
            if former is not None and repos.turns.is_translation(former):
                shown = outgoing.shown_answer(repos, former)
                outgoing.add_removals(repos, change.conversation, former, change.chat, shown, change.now)
            repos.inbox.settle(known.item)
            return (*planned, *self._given_up(change))
        if known.turn is None:
            return planned
        sent = outgoing.shown_answer(repos, known.turn)
        is_open = repos.outbox.is_answer_open(known.turn)
        replaces = repos.turns.replaces(known.turn) if known.turn_state == "running" else known.turn
        has_others = repos.inbox.ask_again(known.turn, besides=known.item, replaces=replaces, now=change.now)
        stops = self._ended(change)
        self._erase(change, known.turn)
        if (stops or is_open) and not has_others:
            self._put_word(change, known.turn)
        # A translation repeats the words that are taken back.
        if (self._deletes_answers or repos.turns.is_translation(known.turn)) and not has_others:
            outgoing.add_removals(repos, change.conversation, known.turn, change.chat, sent, change.now)
        return (*planned, *stops)

    def _asks_no_more(self, change: _Change) -> tuple[TurnId, ...]:
        """Removes what was made from a message whose edit is no question, and makes the edit its newest revision."""
        change.repos.inbox.revise(change.item.id, change.known.root, None)
        return self._taken_back(change)

    def _given_up(self, change: _Change) -> tuple[TurnId, ...]:
        """Ends the turn of an open message; its others wait for another turn, unless something was done in this one."""
        turn = change.known.turn
        if turn is None:
            return ()
        is_done = has_acted(change.repos, change.conversation, turn)
        if not is_done:
            change.repos.inbox.release(turn)
        self._erase(change, turn)
        if is_done:
            self._put_word(change, turn)
        return (turn,)

    def _ended(self, change: _Change) -> tuple[TurnId, ...]:
        """Ends the turn of an answered message that is being asked again, by `/retry` or an edit of another message."""
        turn = change.known.turn
        if turn is None or change.known.turn_state != "running":
            return ()
        self._turns.end(change.repos, turn)
        return (turn,)

    def _undo(self, change: _Change) -> tuple[TurnId, ...]:
        return self._turns.undo(change.repos, change.known.item, change.known.turn, chat=change.chat)

    def _erase(self, change: _Change, turn: TurnId) -> None:
        change.repos.forgetting.turns(turn, now=change.now)
        outgoing.clear(change.repos, turn, change.chat, change.now)

    # Changed

    def _corrected(self, change: _Change, correction: Correction) -> tuple[TurnId, ...]:
        repos, known, message = change.repos, change.known, correction.edit.message
        if known.is_open:
            return (*self._undo(change), *self._asked_instead(change))
        if known.turn is None or known.turn_state == "ignored":
            # Talk among others: its new words may address Aldis after all, or are translated in place of the former.
            is_again = is_translated(correction) and repos.turns.is_translation(known.turn)
            again = self._begin(change, known.turn, change.now) if is_again else None
            repos.inbox.revise(change.item.id, known.root, None)
            planned = self._undo(change)
            if known.turn is not None:  # an unsent answer to a command may repeat the former words
                repos.forgetting.turns(known.turn, now=change.now)
            if not (correction.is_addressed or is_translated(correction)):
                repos.inbox.settle(change.item.id)
            elif self._admits(change):
                repos.inbox.as_question(change.item.id, again)
            return planned
        if known.turn_state == "running":
            is_admitted = self._admits(change)
            return self._asked_again(change, known.turn, message) if is_admitted else self._asks_no_more(change)
        if (
            repos.turns.is_newest(known.turn)
            and not self._is_paused(change)
            and self._asks.admits(change.author, change.now)
        ):
            return self._asked_again(change, known.turn, message)
        repos.inbox.revise(change.item.id, known.root, known.turn)
        repos.inbox.settle(change.item.id)
        self._reword(change, known.turn, message)
        return ()

    def _is_paused(self, change: _Change) -> bool:
        return chat_settings.settings_of(change.repos, change.conversation, change.now).is_paused

    def _reword(self, change: _Change, turn: TurnId, message: Incoming) -> None:
        repos, conversation = change.repos, change.conversation
        answered = repos.history.message(turn, "first")
        asked = messages.load_question(answered or repos.turns.unanswered_question(turn))
        if asked is None:
            return
        if change.known.names.isdisjoint(asked.sent_at):  # it corrected what was found: those words stand in answers
            self._erase(change, turn)
            return
        other = provenance.correct_labels(prompt.correct_question(asked, change.known.names, message), message)
        line = messages.dump_messages((other,))
        if answered is None:
            repos.turns.keep_unanswered(conversation, turn, line)
        else:
            repos.history.correct(conversation, turn, line)
            repos.summaries.drop(turn)

    def _asked_instead(self, change: _Change) -> tuple[TurnId, ...]:
        repos, turn = change.repos, change.known.turn
        repos.inbox.settle(change.known.item)
        repos.inbox.revise(change.item.id, change.known.root, None)
        replaces = None if turn is None else repos.turns.replaces(turn)
        began = None if turn is None else repos.turns.started_at(turn)
        stopped = self._given_up(change)
        # What was under way when `/pause` came is answered: so is its edit, in a turn that began when the former did.
        is_begun = replaces is not None or (began is not None and self._is_paused(change))
        if self._admits(change):
            again = self._begin(change, replaces, began or change.now) if is_begun else None
            repos.inbox.as_question(change.item.id, again)
        return stopped

    def _asked_again(self, change: _Change, turn: TurnId, message: Incoming) -> tuple[TurnId, ...]:
        """Asks a question again in its new words; the new answer will replace the old one."""
        repos, known = change.repos, change.known
        steps = journaled_steps(repos, change.conversation, turn) or ()
        questions = (step.question for step in steps if isinstance(step, Asked))
        kept = repos.history.message(turn, "first")
        asked = next(questions, None) or messages.load_question(kept)  # None: it is no longer kept
        stops = self._ended(change)
        planned = self._undo(change)
        replaces = repos.turns.replaces(turn) if stops else turn  # what was stopped has no answer to replace
        again = self._begin(change, replaces, change.now)
        repos.inbox.settle(known.item)
        repos.inbox.move(turn, again)  # before its words go: what has no answer yet is asked once more without this
        self._erase(change, turn)
        if asked is not None and not known.names.isdisjoint(asked.sent_at):  # else it corrected what was found
            step = Asked(question=prompt.correct_question(asked, known.names, message))
            repos.journal.add(change.conversation, again, 0, dump_step(step))
        repos.inbox.revise(change.item.id, known.root, again)
        repos.inbox.as_question(change.item.id, again)
        return (*stops, *planned)

    def _begin(self, change: _Change, replaces: TurnId | None, began_at: datetime) -> TurnId:
        expires_at = change.item.expires_at
        return change.repos.turns.begin(change.conversation, now=began_at, expires_at=expires_at, replaces=replaces)

    def _admits(self, change: _Change) -> bool:
        """Whether one more edit of this person may cost something; the first refused one of a minute hears so."""
        is_admitted = self._asks.admits(change.author, change.now)
        if not is_admitted and self._tellings.admits(str(change.conversation), change.now):
            change.repos.inbox.as_question(change.item.id, None, refusal="too_many")
        elif not is_admitted:
            change.repos.inbox.settle(change.item.id)
        return is_admitted

    def _put_word(self, change: _Change, turn: TurnId) -> None:
        """Says that there is no answer to the other messages of a turn, if it has any."""
        others = change.repos.inbox.names(turn, besides=change.known.root)
        if not others:
            return
        with use_language(self._turns.language(change.repos, change.conversation)):
            text = say(phrases.ANSWER_TAKEN_BACK)
        word = Reply(chat=change.chat, content=Styled(text=text), ok=False, answers=tuple(map(SentId, others)))
        outgoing.add_message(change.repos, change.conversation, turn, word, change.now)
