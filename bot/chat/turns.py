"""Turns: claimed, loaded from the store, and kept in one transaction with all their effects.

    claim -> load -> Turn --(agent)--> Outcome -> keep: history + ledger + outbox + journal closed + inbox done

A turn interrupted by a crash is claimed again with the same messages; its journal then has everything already done and
paid, and the agent continues from there. A turn whose question was taken back meanwhile keeps nothing.
Left to others: what surrounds a question (`context`), what to ask and when to stop (`agent`), changes (`edits`).
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from weakref import WeakValueDictionary

from bot import messages
from bot.access import chat_settings
from bot.access.chat_settings import Askers, ChatSettings, Persona
from bot.chat import outgoing, phrases
from bot.chat.context import PastTurns, StoredTurn, read_turn, rows_of
from bot.chat.journal import Journal, OnProgress, Outcome, Pause, Turn, origin_of
from bot.chat.outgoing import with_enclosures
from bot.chat.prompt import PastTurn
from bot.chat.steps import Decided, Paused, dump_step, has_acted, journaled_steps
from bot.clock import Clock
from bot.events import ChatId, File, Incoming, Reply
from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import Language, set_language, use_language
from bot.messages import Message, ToolCall
from bot.money.budgets import Budget
from bot.settings import Settings
from store import Claim, ConversationId, InboxId, Repositories, Store, TurnEnd, TurnId


class Turns:
    """The turns of all conversations."""

    def __init__(self, store: Store, clock: Clock, settings: Settings, budget: Budget) -> None:
        """The language of the settings is spoken until that of a conversation's people is known."""
        self._store = store
        self._clock = clock
        self._locale = settings.locale
        self.budget = budget
        self.personas: Mapping[str, Persona] = {}
        """Those that the operator has written, by name in small letters."""
        self.journals = WeakValueDictionary[TurnId, Journal]()
        """Those of the running turns."""
        self._past_turns = PastTurns(store, max_turns=settings.history.max_turns)

    def claim(
        self,
        repos: Repositories,
        *,
        busy: Iterable[ConversationId],
        seconds: float,
        limit: int = 1,
        busy_people: Collection[bytes] = (),
    ) -> tuple[tuple[Claim, ...], bool]:
        """Claims what waits in up to `limit` conversations that are not busy, least recently served first, but nothing
        for a person in `busy_people` (handles). Also returns whether anything is left waiting.
        """
        now = self._clock.now()
        until = now + timedelta(seconds=seconds)
        passed_over, claims = set(busy), list[Claim]()
        while len(claims) < limit:
            found = repos.inbox.claim(now=now, until=until, busy=passed_over, busy_people=busy_people)
            if found is None:
                break
            claims.append(found)
            passed_over.add(found.conversation)
            if not repos.inbox.has_waiting():
                return tuple(claims), False
        return tuple(claims), repos.inbox.has_waiting()

    async def load(self, claim: Claim, incoming: tuple[Incoming, ...]) -> Turn:
        """The turn of a claim, with the history before it and the steps of earlier attempts."""
        now = self._clock.now()
        past = await self._past_turns.load(claim.conversation)
        read = partial(read_turn, now=now, timezone=self._locale.timezone, personas=self.personas)
        turn = await self._store.read(lambda repos: read(repos, claim, incoming, past))
        set_language(turn.settings.language or turn.heard or turn.settings.spoken or self._locale.language)
        return turn

    async def history(self, conversation: ConversationId) -> tuple[Message, ...]:
        """The messages of the conversation's last turns, oldest first."""
        return tuple(message for past in await self._past_turns.load(conversation) for message in past.messages)

    async def settings(self, conversation: ConversationId) -> ChatSettings:
        """The conversation's settings."""
        now = self._clock.now()
        return await self._store.read(lambda repos: chat_settings.settings_of(repos, conversation, now))

    async def answers_translation(self, conversation: ConversationId, message: Incoming) -> bool:
        """Whether a message quotes a translation, so that it answers the author of the original, and not Aldis."""
        sent_at = message.quote.sent_at if message.quote is not None and message.quotes_me else 0

        return bool(sent_at) and await self._store.read(
            lambda repos: repos.turns.is_translation(repos.outbox.turn_of(conversation, sent_at))
        )

    def language(self, repos: Repositories, conversation: ConversationId) -> Language:
        """The language Aldis uses there unprompted, within a transaction."""
        return chat_settings.settings_of(repos, conversation, self._clock.now()).spoken or self._locale.language

    def journal(self, turn: Turn, on_progress: OnProgress) -> Journal:
        """The journal of this turn."""
        self.journals[turn.id] = journal = Journal(self._store, turn, self.budget, on_progress)
        return journal

    async def keep(self, turn: Turn, outcome: Outcome) -> bool:
        """Stores all that the turn caused, or nothing if its question was taken back; returns whether it did."""
        replies = await self._replies(turn, outcome)
        is_gone = turn.expires_at is not None and turn.expires_at <= self._clock.now() and not self._clock.doubt()
        # A turn that expired while it ran is answered, but not remembered.
        kept = () if is_gone else tuple(map(messages.without_opaque, outcome.messages))
        rows = rows_of(turn.id, kept)
        end: TurnEnd = "kept" if kept else "failed"

        def transact(repos: Repositories) -> bool:
            now = self._clock.now()
            self.budget.settle(repos, turn.payer, outcome.bills)
            if not repos.journal.is_running(turn.id):
                outgoing.clear(repos, turn.id, turn.chat, now)
                return False
            repos.history.append(turn.conversation, rows)
            repos.summaries.drop(turn.id)  # made from later turns, while this one waited for an approval
            self._replace(repos, turn, outcome.done)
            repos.turns.keep_unanswered(turn.conversation, turn.id, None if kept or is_gone else _question(turn))
            if turn.heard not in {None, turn.settings.heard}:
                chat_settings.change(
                    repos, turn.conversation, now, lambda settings: replace(settings, heard=turn.heard)
                )
            outgoing.put(repos, turn, replies, now)
            # Of several messages one may be taken back before the answer is out: the others can be asked again.
            is_shared = len(turn.incoming) > 1 and not has_acted(repos, turn.conversation, turn.id)
            repos.journal.close(turn.id, end, now=now)
            repos.inbox.done(turn.id, keeps_words=is_shared)
            return True

        # Out of the cache until it is known to be stored: after a failure or a cancellation that is unclear.
        put_back = self._past_turns.take(turn.conversation)
        if not await self._store.transaction(transact):
            return False
        if turn.replaces is None:
            more = (StoredTurn(turn=turn.id, messages=PastTurn(kept), expires_at=turn.expires_at),) if kept else ()
            put_back(*more)
        return True

    async def pause(self, turn: Turn, pause: Pause, *, until: datetime) -> None:
        """Lets the turn wait for an approval; the person is asked, unless they were before a restart."""
        calls = tuple(call.id for call in pause.calls)
        always = pause.allowance.tool if pause.allowance is not None else None
        question = phrases.may_i(pause.deeds, pause.cost_usd, pause.causes, always=always)
        texts = (question, f"{question}\n\n{say(phrases.TAKES_PLACE)}")
        first, again = (outgoing.replies_to(text, turn.incoming, ok=True) for text in texts)
        step = Paused(call_ids=calls, until=until, people=(turn.person,), allowance=pause.allowance, question=question)

        def put_off(repos: Repositories) -> None:
            if not repos.journal.is_running(turn.id):
                return
            if pause.asked_until is None:
                position = len(repos.journal.steps(turn.conversation, turn.id))
                place = repos.outbox.next_position(turn.id)
                paused = dump_step(replace(step, position=place))
                repos.journal.add(turn.conversation, turn.id, position, paused)
                is_another = self._replace(repos, turn, pause.calls)
                outgoing.put(repos, turn, again if is_another else first, self._clock.now())
            repos.inbox.hand_back(turn.id, counts=False, put_off_until=pause.asked_until or until)

        await self._store.transaction(put_off)

    def _replace(self, repos: Repositories, turn: Turn, calls: Iterable[ToolCall]) -> bool:
        """Ends open questions about the same wish as these calls; returns whether there were any."""
        if not turn.open_questions:
            return False
        waiting, calls = repos.inbox.put_off_turns(turn.conversation), tuple(calls)
        over = [one for one in turn.open_questions if one.turn in waiting and one.is_replaced_by(calls)]
        for one in over:
            steps = journaled_steps(repos, turn.conversation, one.turn)
            if steps is None or repos.inbox.size(one.turn) == 1:
                self.end(repos, one.turn)
                continue
            replaced = Decided(call_ids=tuple(call.id for call in one.calls), is_yes=False, is_replaced=True)
            repos.journal.add(turn.conversation, one.turn, len(steps), dump_step(replaced))
            repos.inbox.take_up(one.turn)
        return bool(over)

    def end(self, repos: Repositories, turn: TurnId, how: TurnEnd = "failed", *, is_dead: bool = False) -> None:
        """Ends a turn without an answer, within a transaction; `is_dead`: its messages cannot be answered."""
        repos.inbox.done(turn, dead=is_dead)
        repos.journal.close(turn, how, now=self._clock.now())

    async def ignore(self, claim: Claim, *, is_readable: bool = True) -> None:
        """Settles a claim whose messages need no answer, or cannot be read at all: their sender is unknown."""
        how: TurnEnd = "ignored" if is_readable else "failed"
        await self._store.transaction(lambda repos: self.end(repos, claim.turn, how, is_dead=not is_readable))

    async def dead_letter(self, turn: Turn) -> None:
        """Gives up a turn that failed too often or cannot go on: tells the person, and marks its messages dead."""
        replies = await self._replies(turn, Outcome(text=say(phrases.GAVE_UP), ok=False))

        def transact(repos: Repositories) -> None:
            now = self._clock.now()
            if not repos.journal.is_running(turn.id):
                return
            repos.turns.keep_unanswered(turn.conversation, turn.id, _question(turn))
            outgoing.put(repos, turn, replies, now)
            self.end(repos, turn.id, is_dead=True)

        await self._store.transaction(transact)

    async def is_paused(self, claim: Claim, turn: Turn) -> bool:
        """Whether nothing is answered there now; if so, settles the claim and tells the first who asks."""

        def pass_over(repos: Repositories) -> bool:
            now = self._clock.now()
            # The present settings: a turn that continues after a restart has those of its beginning.
            settings = chat_settings.settings_of(repos, claim.conversation, now)
            if settings.paused_at is None or claim.started_at < settings.paused_at:
                return False
            if not settings.told_paused:
                known = replace(settings, told_paused=True, heard=turn.heard or settings.heard)
                chat_settings.change(repos, turn.conversation, now, lambda _: known)
                self.tell(repos, turn.conversation, turn.incoming[-1], phrases.IS_PAUSED, turn=turn.id)
            self.end(repos, claim.turn, "ignored")
            return True

        if turn.settings.paused_at is None and claim.is_new:
            return False  # deciding by what was read anyway saves a round trip to the store
        return await self._store.transaction(pass_over)

    async def greet(self, turn: Turn, words: str) -> None:
        """Greets a person's first question in their own chat before it is answered; only once, even after a crash."""
        if turn.settings.is_greeted or turn.group is not None or turn.incoming[-1].scheduled is not None:
            return

        def transact(repos: Repositories) -> None:
            here = turn.conversation
            now = self._clock.now()
            is_first = repos.turns.is_first(here, turn.id)
            if is_first and chat_settings.change(repos, here, now, lambda before: replace(before, is_greeted=True)):
                self.tell(repos, here, turn.incoming[-1], words)

        await self._store.transaction(transact)

    async def may_not_ask(self, claim: Claim, item: InboxId, message: Incoming, askers: Askers) -> None:
        """Tells the first person who may not ask in a group; once, until that setting changes."""
        why = phrases.ASKERS_ADMINS if askers == "admins" else phrases.ASKERS_LIST

        def tell(repos: Repositories) -> None:
            here = claim.conversation
            now = self._clock.now()
            if chat_settings.change(repos, here, now, lambda before: replace(before, told_askers=True)):
                self.tell(repos, here, message, why, origin=origin_of(item))

        await self._store.transaction(tell)

    def tell(
        self,
        repos: Repositories,
        conversation: ConversationId,
        message: Incoming,
        text: str | Sentence,
        *,
        files: tuple[File, ...] = (),
        expires_at: datetime | None = None,
        turn: TurnId | None = None,
        origin: str | None = None,
    ) -> TurnId:
        """Puts words of Aldis itself into the outbox, within a transaction; in a group they quote the message.

        All disappears when it `expires_at`. Returns the `turn` that speaks; None: a new one, removed with its `origin`.
        """
        now = self._clock.now()
        if turn is None:
            turn = repos.turns.begin(conversation, now=now, expires_at=expires_at, origin=origin)
            repos.journal.close(turn, "ignored", now=now)
        with use_language(self.language(repos, conversation)):
            replies = outgoing.replies_to(text if isinstance(text, str) else say(text), (message,), ok=True)
        for reply in with_enclosures(replies, Outcome(text="", ok=True, files=files)):
            outgoing.add_message(repos, conversation, turn, reply, now)
        return turn

    def undo(
        self, repos: Repositories, item: InboxId | None, turn: TurnId | None, *, chat: ChatId
    ) -> tuple[TurnId, ...]:
        """Removes what a message and its turn made beyond the answer; returns the scheduled questions to be stopped."""
        origin, now = None if item is None else origin_of(item), self._clock.now()
        running = repos.forgetting.undo(origin, turn, now=now)
        for planned in running:
            outgoing.clear(repos, planned, chat, now)
        return tuple(running)

    def forget(self, conversation: ConversationId | None = None) -> None:
        """Drops a conversation (None: all) whose stored history has changed, so that it is read again."""
        self._past_turns.forget(conversation)

    async def _replies(self, turn: Turn, outcome: Outcome) -> list[Reply]:
        text, asked = outcome.text, turn.incoming
        replies = await outgoing.work_out(text, outgoing.replies_to, text, asked, ok=outcome.ok, talk=turn.talk)
        return with_enclosures(replies, outcome)


def _question(turn: Turn) -> bytes:
    return messages.dump_messages((turn.question,))
