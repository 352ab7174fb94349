"""Edits, deletions and disappearing messages: applied to everything that was made from a message.

    deleted --waiting--> gone            edited --waiting------> its new words wait in its place
            |-running--> stopped                |-running------> stopped, and asked again in its new words
            '-answered-> its turn goes          |-just answered> asked again; the answer is edited
            the others of its turn whose        |-older, nothing is answered there now (`/pause`), or its
            answer is not out: asked again      | author edits too much: the history has its new words, the answer stays
                                                '-to a command, or to a yes or no to something that was asked: what was
                                                  made of it goes as if it were deleted, then that is carried out
    expired --> its turn goes; an answer that is not sent yet is replaced by a notice that it has disappeared

Each is one transaction that also settles the event itself, so that a crash leaves either all of it to do or nothing.
Only an edit to a command waits on as the newest revision of its message, which is carried out and settled next.
Left to others: the rows (`store`), stopping what runs (`bot.loops.worker`), the answer (`bot.chat.agent`), commands
(`bot.commands`).
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from bot import messages
from bot.access.limits import CallRate
from bot.access.routing import Command, Correction, Verdict
from bot.chat import chats, outgoing, phrases, prompt
from bot.chat.steps import Asked, dump_step, has_acted, journaled_steps
from bot.chat.turns import Turns
from bot.clock import Clock
from bot.event_json import load_outgoing
from bot.events import ChatId, Deleted, Edited, Incoming, PersonId, Reply, SentId, Styled
from bot.i18n.catalogues import say
from bot.i18n.language import use_language
from bot.trust import provenance
from store import ConversationId, InboxItem, KnownMessage, Repositories, Store, TurnId, UrgentItem

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """What became of an edit."""

    stops: tuple[TurnId, ...] = ()
    """The turns that must be stopped."""
    is_command: bool = False
    """Whether it waits on, to be carried out as a command."""
    is_final: bool = False
    """Whether its message was a command before whose effect stays."""


class Revisions:
    """Messages that are taken back, changed or expired."""

    def __init__(
        self, store: Store, clock: Clock, turns: Turns, *, deletes_answers: bool, asks_per_minute: int
    ) -> None:
        """`asks_per_minute` is how many edits of one person ask a model. More are admitted, as the former words have to
        go, and each would cost as much as a message.
        """
        self._asks, self._tellings = CallRate(asks_per_minute), CallRate(1)
        self._store = store
        self._clock = clock
        self._turns = turns
        self._deletes_answers = deletes_answers

    async def withdraw(self, urgent_item: UrgentItem, deletion: Deleted) -> tuple[TurnId, ...]:
        """Removes a message that was deleted for everybody, and what was made from it; returns the turns to stop."""

        def transact(repos: Repositories) -> tuple[TurnId, ...]:
            repos.inbox.settle(urgent_item.item.id)
            known = repos.revisions.find(urgent_item.conversation, deletion.author, deletion.target)
            names = {deletion.target} if known is None else known.names
            self._unset(repos, urgent_item.conversation, deletion.author, names)
            if known is None:
                return ()
            planned = self._undo(repos, known, deletion.chat)
            return (*planned, *self._withdrawn(repos, urgent_item.conversation, deletion, known))

        return await self._carried_through(urgent_item.conversation, transact)

    async def correct(
        self, urgent_item: UrgentItem, correction: Correction, *, decides: Callable[[Repositories, Verdict], bool]
    ) -> Revision:
        """Applies an edit of a message, depending on how far the message has come.

        `decides`, called within the transaction, takes the new words as a yes or no and returns whether they are one.
        """
        edit, item = correction.edit, urgent_item.item.id

        def transact(repos: Repositories) -> Revision:
            known = repos.revisions.find(urgent_item.conversation, edit.message.author, edit.target)
            if known is None:
                # Forgotten, or older than Aldis: what it was about is not known.
                repos.inbox.settle(item)
                return Revision()
            is_command = isinstance(correction.as_message, Command)
            if is_command and known.item == item:
                return Revision(is_command=True, is_final=known.is_final)  # a crash came between the two steps
            self._unset(repos, urgent_item.conversation, edit.message.author, known.names)
            if is_command:
                stops = self._taken_back(repos, urgent_item, edit, known)
                is_admitted = self._admits(repos, urgent_item, edit.message.author)
                return Revision(stops=stops, is_command=is_admitted, is_final=known.is_final)
            if self._is_verdict(repos, urgent_item, correction, known, decides):
                return Revision(stops=self._taken_back(repos, urgent_item, edit, known))
            return Revision(stops=self._corrected(repos, urgent_item, correction, known))

        return await self._carried_through(urgent_item.conversation, transact)

    async def expire(self) -> int:
        """Removes what has expired by now; returns how many turns that were."""
        now = self._clock.now()

        def transact(repos: Repositories) -> int:
            over = repos.forgetting.turns_expired(now)
            for conversation, turn in over:
                unsent = repos.outbox.unsent_parts(conversation, turn)
                repos.forgetting.turn(turn, now=self._clock.now())
                self._put_notice(repos, conversation, turn, unsent, now)
            chats.expire(repos, now)
            return len(over)

        count = await self._store.erase(transact)
        if count:
            self._turns.forget()
        return count

    async def retain(self, before: datetime) -> int:
        """Removes what was answered before then, and predictions resolved or due before then; returns how many turns
        that were.
        """

        def transact(repos: Repositories) -> int:
            repos.predictions.retain(before)
            over = repos.forgetting.turns_before(before)
            for _, turn in over:
                repos.forgetting.turn(turn, now=self._clock.now())
            return len(over)

        count = await self._store.erase(transact)
        if count:
            self._turns.forget()
        return count

    async def _carried_through(self, conversation: ConversationId, work: Callable[[Repositories], T]) -> T:
        try:
            return await self._store.erase(work)
        finally:
            self._turns.forget(conversation)

    def _withdrawn(
        self, repos: Repositories, conversation: ConversationId, deletion: Deleted, known: KnownMessage
    ) -> tuple[TurnId, ...]:
        if known.is_open:
            repos.inbox.settle(known.item)
            return self._given_up(repos, conversation, known, deletion.chat)
        if known.turn is None:
            return ()
        now, sent = self._clock.now(), outgoing.shown_answer(repos, known.turn)
        unsent = repos.outbox.unsent_parts(conversation, known.turn)
        replaces = repos.turns.replaces(known.turn) if known.turn_state == "running" else known.turn
        has_others = repos.inbox.ask_again(known.turn, besides=known.item, replaces=replaces, now=now)
        stops = self._ended(repos, known)
        repos.forgetting.turn(known.turn, now=now)
        outgoing.clear(repos, known.turn, deletion.chat, now)
        if unsent and not has_others:
            self._put_word(repos, conversation, known, deletion.chat)
        if self._deletes_answers and not has_others:
            outgoing.add_removals(repos, conversation, known.turn, deletion.chat, sent, now)
        return stops

    def _ended(self, repos: Repositories, known: KnownMessage) -> tuple[TurnId, ...]:
        """Ends the turn of an answered message that is being asked again, by `/retry` or an edit of another message."""
        if known.turn is None or known.turn_state != "running":
            return ()
        self._turns.end(repos, known.turn)
        return (known.turn,)

    def _is_verdict(
        self,
        repos: Repositories,
        urgent_item: UrgentItem,
        correction: Correction,
        known: KnownMessage,
        decides: Callable[[Repositories, Verdict], bool],
    ) -> bool:
        """Whether the new words are a yes or no; each has the open question sent again, so too many are none."""
        verdict, author, now = correction.as_message, correction.edit.message.author, self._clock.now()
        if not isinstance(verdict, Verdict) or not self._asks.has_room(author, now):
            return False
        if self._is_put_off(repos, urgent_item.conversation, known) or not decides(repos, verdict):
            return False
        self._asks.count(author, now)
        return True

    def _is_put_off(self, repos: Repositories, conversation: ConversationId, known: KnownMessage) -> bool:
        """Whether the question of this very message waits for a yes or no."""
        return known.is_open and known.turn in repos.inbox.put_off_turns(conversation)

    def _taken_back(
        self, repos: Repositories, urgent_item: UrgentItem, edit: Edited, known: KnownMessage
    ) -> tuple[TurnId, ...]:
        """Removes what was made from a message that no longer asks anything, and makes the edit its newest revision.

        What a command has done for good is left alone, also a question that it had asked again.
        """
        conversation, message = urgent_item.conversation, edit.message
        repos.revisions.revise(urgent_item.item.id, known.root, None)
        if known.is_newest_final:
            return ()
        planned = self._undo(repos, known, message.chat)
        deletion = Deleted(author=message.author, chat=message.chat, target=edit.target)
        return (*planned, *self._withdrawn(repos, conversation, deletion, known))

    def _corrected(
        self, repos: Repositories, urgent_item: UrgentItem, correction: Correction, known: KnownMessage
    ) -> tuple[TurnId, ...]:
        message = correction.edit.message
        if known.is_open:
            planned = self._undo(repos, known, message.chat)
            return (*planned, *self._asked_instead(repos, urgent_item, known, message))
        if known.turn is None or known.turn_state == "ignored":
            # Talk among others: its new words may address Aldis after all.
            repos.revisions.revise(urgent_item.item.id, known.root, None)
            planned = self._undo(repos, known, message.chat)
            if known.turn is not None:  # an unsent answer to a command may repeat the former words
                repos.forgetting.turn(known.turn, now=self._clock.now())
            if correction.is_addressed:
                self._ask(repos, urgent_item, message.author)
            else:
                repos.inbox.settle(urgent_item.item.id)
            return planned
        if known.turn_state == "running":
            if self._admits(repos, urgent_item, message.author):
                return self._asked_again(repos, urgent_item, correction.edit, known, known.turn)
            return self._taken_back(repos, urgent_item, correction.edit, known)
        now = self._clock.now()
        is_paused = chats.settings_of(repos, urgent_item.conversation, now).is_paused
        if repos.turns.is_newest(known.turn) and not is_paused and self._asks.admits(message.author, now):
            return self._asked_again(repos, urgent_item, correction.edit, known, known.turn)
        repos.revisions.revise(urgent_item.item.id, known.root, known.turn)
        repos.inbox.settle(urgent_item.item.id)
        self._reworded(repos, urgent_item.conversation, known.turn, known, message)
        return ()

    def _reworded(
        self, repos: Repositories, conversation: ConversationId, turn: TurnId, known: KnownMessage, message: Incoming
    ) -> None:
        """Puts the new words into the history, or into the question that `/retry` would ask again."""
        answered = repos.history.question(conversation, turn)
        kept = answered or repos.turns.unanswered_question(conversation, turn)
        asked = messages.load_question(kept)
        if asked is None:
            return
        other = provenance.correct_labels(prompt.correct_question(asked, known.names, message), message)
        line = messages.dump_messages((other,))
        if answered is None:
            repos.turns.keep_unanswered(conversation, turn, line)
        else:
            repos.history.correct(conversation, turn, line)
            repos.summaries.drop(turn)

    def _asked_instead(
        self, repos: Repositories, urgent_item: UrgentItem, known: KnownMessage, message: Incoming
    ) -> tuple[TurnId, ...]:
        """Puts the edit in the place of a message that is not answered yet."""
        repos.inbox.settle(known.item)
        repos.revisions.revise(urgent_item.item.id, known.root, None)
        replaces = None if known.turn is None else repos.turns.replaces(known.turn)
        began = None if known.turn is None else repos.turns.started_at(known.turn)
        stopped = self._given_up(repos, urgent_item.conversation, known, message.chat)
        # What was under way when `/pause` came is answered: so is its edit, in a turn that began when the former did.
        is_paused = chats.settings_of(repos, urgent_item.conversation, self._clock.now()).is_paused
        is_begun = replaces is not None or (is_paused and began is not None)
        self._ask(
            repos,
            urgent_item,
            message.author,
            (lambda: self._begun(repos, urgent_item.conversation, urgent_item.item, replaces, began))
            if is_begun
            else None,
        )
        return stopped

    def _ask(
        self,
        repos: Repositories,
        urgent_item: UrgentItem,
        author: PersonId,
        begun: Callable[[], TurnId] | None = None,
    ) -> None:
        """Lets an edit wait like a message, in the turn that `begun` begins, unless it is too much."""
        if self._admits(repos, urgent_item, author):
            repos.inbox.as_question(urgent_item.item.id, None if begun is None else begun())

    def _admits(self, repos: Repositories, urgent_item: UrgentItem, author: PersonId) -> bool:
        """Whether one more edit of this person may cost something. If not it is refused, and only the first of a minute
        hears so.
        """
        now, item = self._clock.now(), urgent_item.item.id
        is_admitted = self._asks.admits(author, now)
        if not is_admitted and self._tellings.admits(str(urgent_item.conversation), now):
            repos.inbox.as_question(item, None, refusal="too_many")
        elif not is_admitted:
            repos.inbox.settle(item)
        return is_admitted

    def _asked_again(
        self, repos: Repositories, urgent_item: UrgentItem, edit: Edited, known: KnownMessage, turn: TurnId
    ) -> tuple[TurnId, ...]:
        """Asks a question again in its new words; the new answer will replace the old one."""
        asked = _question(repos, urgent_item.conversation, turn)
        stops = self._ended(repos, known)
        planned = self._undo(repos, known, edit.message.chat)
        replaces = repos.turns.replaces(turn) if stops else turn  # what was stopped has no answer to replace
        again = self._begun(repos, urgent_item.conversation, urgent_item.item, replaces)
        repos.inbox.settle(known.item)
        repos.revisions.move(turn, again)  # before its words go: what has no answer yet is asked once more without this
        repos.forgetting.turn(turn, now=self._clock.now())
        outgoing.clear(repos, turn, edit.message.chat, self._clock.now())
        if asked is not None:
            step = Asked(question=prompt.correct_question(asked, known.names, edit.message))
            repos.journal.add(urgent_item.conversation, again, 0, dump_step(step))
        repos.revisions.revise(urgent_item.item.id, known.root, again)
        repos.inbox.as_question(urgent_item.item.id, again)
        return (*stops, *planned)

    def _unset(
        self, repos: Repositories, conversation: ConversationId, author: PersonId, names: Collection[int]
    ) -> None:
        """Removes conversation settings that were made in the words of this message."""
        chats.change(repos, conversation, self._clock.now(), lambda settings: settings.without(author, names))

    def _undo(self, repos: Repositories, known: KnownMessage, chat: ChatId) -> tuple[TurnId, ...]:
        return self._turns.undo(repos, known.item, known.turn, chat=chat)

    def _begun(
        self,
        repos: Repositories,
        conversation: ConversationId,
        item: InboxItem,
        replaces: TurnId | None,
        began: datetime | None = None,
    ) -> TurnId:
        return repos.turns.begin(
            conversation, now=began or self._clock.now(), expires_at=item.expires_at, replaces=replaces
        )

    def _given_up(
        self, repos: Repositories, conversation: ConversationId, known: KnownMessage, chat: ChatId
    ) -> tuple[TurnId, ...]:
        """Ends the turn of an open message; its other messages wait for another turn, unless
        something was done in this one that must not be done twice.
        """
        if known.turn is None:
            return ()
        is_done = has_acted(repos, conversation, known.turn)
        if not is_done:
            repos.inbox.release(known.turn)
        repos.forgetting.turn(known.turn, now=self._clock.now())
        outgoing.clear(repos, known.turn, chat, self._clock.now())
        if is_done:
            self._put_word(repos, conversation, known, chat)
        return (known.turn,)

    def _put_word(self, repos: Repositories, conversation: ConversationId, known: KnownMessage, chat: ChatId) -> None:
        """Says that there is no answer to the other messages of a turn, if it has any."""
        others = () if known.turn is None else repos.inbox.names(known.turn, besides=known.root)
        if known.turn is None or not others:
            return
        with use_language(self._turns.language(repos, conversation)):
            text = say(phrases.ANSWER_TAKEN_BACK)
        word = Reply(chat=chat, content=Styled(text=text), ok=False, answers=tuple(map(SentId, others)))
        outgoing.add_message(repos, conversation, known.turn, word, self._clock.now())

    def _put_notice(
        self, repos: Repositories, conversation: ConversationId, turn: TurnId, unsent: tuple[bytes, ...], now: datetime
    ) -> None:
        """Replaces an answer that expires before it is sent by a notice that says so."""
        replies = [reply for line in unsent if isinstance(reply := load_outgoing(line), Reply)]
        if not replies:
            return
        with use_language(self._turns.language(repos, conversation)):
            text = say(phrases.ANSWER_EXPIRED)
        notice = Reply(chat=replies[0].chat, content=Styled(text=text), ok=False)
        outgoing.add_message(repos, conversation, turn, notice, now, replaces=repos.statuses.current(turn))


def _question(repos: Repositories, conversation: ConversationId, turn: TurnId) -> messages.UserMessage | None:
    """The question that a turn has answered, or that it asks again; None if it is no longer kept."""
    steps = journaled_steps(repos, conversation, turn) or ()
    asked = (step.question for step in steps if isinstance(step, Asked))
    return next(asked, None) or messages.load_question(repos.history.question(conversation, turn))
