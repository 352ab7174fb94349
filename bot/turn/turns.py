"""Turns: claimed, loaded from the store, and kept in one transaction with everything they caused.

    claim -> load -> Turn --(agent)--> Outcome -> keep: history + ledger + outbox + journal closed + inbox done

A turn that a crash interrupted is claimed again with the same messages; its journal then holds what was already paid
for and done, and the agent goes on from there. A turn whose question was taken back meanwhile keeps nothing.
Left to others: what to ask and when to stop (`bot.turn.agent`), the steps (`bot.turn.journal`), what people take back
or change (`bot.turn.edits`), how an answer is cut and styled (`bot.formatting.split`).
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby

from bot import messages
from bot.clock import Clock
from bot.events import ChatId, File, Incoming, PersonId, Reply, SentId
from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import Language, speak, speaking
from bot.labels import UNKNOWN, Labels, join_labels
from bot.messages import AssistantMessage, CallId, Message, ToolMessage
from bot.policy import budgets
from bot.policy.chat import Askers, ChatSettings
from bot.turn import chats, outgoing, phrases, prompt
from bot.turn import journal as steps
from bot.turn.citations import as_kept
from bot.turn.context_note import RecalledContext, note_with_questions, recall
from bot.turn.files import with_enclosures
from bot.turn.journal import (
    Allowance,
    Asked,
    Journal,
    OpenQuestion,
    Outcome,
    PastTurn,
    Pause,
    Paused,
    Step,
    Turn,
    open_question,
)
from store import (
    Claim,
    ConversationId,
    LedgerEntry,
    Repositories,
    Store,
    StoredMessage,
    TurnEnd,
    TurnId,
)

_REMEMBERED_CONVERSATIONS = 32
_REMEMBERED_MEDIA_BYTES = 4_000_000
"""Of pictures and documents in one conversation; with more it is read again each time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Past:
    """One turn of the history."""

    turn: TurnId
    messages: PastTurn
    expires_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    """What surrounds a question, read in one go: each way to the store and back costs a fiftieth of a turn."""

    settings: ChatSettings
    zone: str | None
    """Where whoever asks lives, if they have told."""
    recalled: RecalledContext
    quoted: Labels
    """Of the answers of Aldis's own that are quoted."""
    answers: Mapping[SentId, "_Answer"]
    """Those answers themselves, by the messages that quote them."""
    open_questions: tuple[OpenQuestion, ...]
    allowed: frozenset[Allowance]
    """The tools that whoever asks has allowed for good; none where others ask with them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    """An answer of Aldis's own."""

    turn: TurnId
    message: AssistantMessage


class Turns:
    """The turns of all conversations."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        max_turns: int,
        timezone: str,
        language: Language = "en",
    ) -> None:
        """`language` is what Aldis itself speaks until it is known what the people of a conversation do."""
        self._store = store
        self._clock = clock
        self._max_turns = max_turns
        self._timezone = timezone
        self._language: Language = language
        self._recent: OrderedDict[ConversationId, tuple[_Past, ...]] = OrderedDict()
        """The last turns of the conversations that were active last: opening and reading them again costs a tenth of a
        turn. `keep` alone adds to the history; whoever takes from it or changes it calls `forget`."""
        self._changes = 0
        """How often something was taken from the history: what was read before is not remembered after."""

    def claim(
        self,
        repos: Repositories,
        *,
        busy: Iterable[ConversationId],
        seconds: float,
        most: int = 1,
        busy_people: Collection[bytes] = (),
    ) -> tuple[tuple[Claim, ...], bool]:
        """Take what waits in at most so many conversations that are not busy, those served longest ago first, within a
        transaction.

        What waits for somebody in `busy_people` (handles) is passed over, too. Gives also whether anything is left
        waiting, in busy conversations or beyond `most`.
        """
        now = self._clock.now()
        until = now + timedelta(seconds=seconds)
        passed_over, claims = set(busy), list[Claim]()
        while len(claims) < most:
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
        now, wall = self._clock.now(), self._clock.wall()
        past, changes = self._recent.get(claim.conversation), self._changes
        if past is None:
            rows = await self._store.read(lambda repos: repos.history.last(claim.conversation, self._max_turns))
            past = await self._lightened(claim.conversation, _turns(rows))
            self._remember(claim.conversation, past, changes)
        earlier = () if claim.is_new else await self._steps(claim)
        asked = next((step for step in earlier if isinstance(step, Asked)), None)
        known = await self._store.read(lambda repos: self._known(repos, claim, incoming, asked and asked.settings))
        settings, heard = known.settings, chats.heard_in(incoming, known.settings)
        speak(settings.language or heard or chats.language_of(settings, self._language))
        read_after = max(settings.starts_after, known.recalled.summed_up or 0)
        # A turn that has waited for a word goes on where it began: what was said meanwhile is after it.
        past = tuple(turn for turn in past if read_after < turn.turn < claim.turn)
        incoming = tuple(_as_kept(message, known.answers.get(message.sent_at), past) for message in incoming)
        open_labels = [question.labels for question in known.open_questions]
        return Turn(
            id=claim.turn,
            conversation=claim.conversation,
            chat=incoming[-1].chat,
            incoming=incoming,
            loaded_at=now,
            wall_at=wall,
            question=asked.question
            if asked
            else prompt.question(incoming, now=wall, timezone=known.zone or self._timezone),
            history=tuple(turn.messages for turn in past if turn.expires_at is None or turn.expires_at > now),
            steps=earlier,
            expires_at=claim.expires_at,
            replaces=claim.replaces,
            settings=settings,
            heard=heard,
            timezone=known.zone,
            note=note_with_questions(known.recalled.note, known.open_questions),
            note_labels=join_labels([known.recalled.labels, known.quoted, *open_labels]),
            allowed=known.allowed,
            open_questions=known.open_questions,
        )

    def _known(
        self,
        repos: Repositories,
        claim: Claim,
        incoming: tuple[Incoming, ...],
        settings: ChatSettings | None,
    ) -> _Known:
        """`settings` None: those of now."""
        now, conversation = self._clock.now(), claim.conversation
        open_questions = _open_questions(repos, claim, incoming)
        if settings is None:
            settings = chats.settings_of(repos, conversation, now)
        answers = {message.sent_at: _quoted_answer(repos, conversation, message) for message in incoming}
        return _Known(
            settings=settings,
            answers={sent_at: answer for sent_at, answer in answers.items() if answer is not None},
            zone=repos.reminders.zone(ChatId.direct(incoming[-1].author)),
            allowed=_allowed(repos, conversation, incoming),
            open_questions=open_questions,
            quoted=join_labels(_of_quoted(repos, conversation, message, open_questions) for message in incoming),
            recalled=recall(repos, conversation, now=now, starts_after=TurnId(settings.starts_after)),
        )

    async def settings(self, conversation: ConversationId) -> ChatSettings:
        """What is set for the conversation."""
        now = self._clock.now()
        return await self._store.read(lambda repos: chats.settings_of(repos, conversation, now))

    def language(self, repos: Repositories, conversation: ConversationId) -> Language:
        """What Aldis itself speaks there, within a transaction."""
        return chats.language_of(chats.settings_of(repos, conversation, self._clock.now()), self._language)

    def journal(self, turn: Turn) -> Journal:
        """Where the steps of this turn are written."""
        return Journal(self._store, turn)

    async def keep(self, turn: Turn, outcome: Outcome) -> bool:
        """Keep everything that the turn caused, in one transaction: either all of it happened, or nothing.

        Gives whether it was kept: a question that was taken back meanwhile has no answer.
        """
        replies = self._replies(turn, outcome)
        is_gone = turn.expires_at is not None and turn.expires_at <= self._clock.now()
        # What has expired while it ran is answered, but not remembered.
        kept = () if is_gone else tuple(map(messages.without_opaque, outcome.messages))
        rows = _rows(turn.id, kept)
        entries = steps.entries(outcome)
        if is_gone:
            entries = steps.without_words(entries)
        last = tuple(done for done in outcome.completions if done.message is None or not done.message.calls)
        unjournaled = steps.entries(
            replace(outcome, completions=() if outcome.is_journaled else last, runs=(), fees=())
        )
        end: TurnEnd = "kept" if kept else "failed"

        def transact(repos: Repositories) -> bool:
            now = self._clock.now()
            if not repos.journal.is_running(turn.id):
                # What its journal held was charged by whoever took it back; the last answer is in no journal.
                self.charge(repos, turn.conversation, turn.id, unjournaled, person=turn.person, chat=turn.chat)
                outgoing.clear(repos, turn.id, turn.chat, now)
                return False
            if chats.settings_of(repos, turn.conversation, now).is_taken(now):
                self._leave(repos, turn, entries)
                return False
            repos.history.append(turn.conversation, rows)
            repos.summaries.drop(turn.id)  # one that was made of later turns, while this one waited for a word
            self._replace(repos, turn, outcome.done)
            repos.chats.leave(turn.conversation, turn.id, None if kept or is_gone else _question(turn))
            if turn.heard not in {None, turn.settings.heard}:
                chats.change(repos, turn.conversation, now, lambda settings: replace(settings, heard=turn.heard))
            self.charge(
                repos,
                turn.conversation,
                turn.id,
                entries,
                person=turn.person,
                chat=turn.chat,
                warned=outcome.warned,
            )
            outgoing.put(repos, turn, replies, now)
            repos.journal.close(turn.id, end, now=now)
            repos.inbox.done(turn.id)
            return True

        # Forgotten until it is known to be kept: a failure or a cancellation leaves open which of the two it was.
        past, changes = self._recent.pop(turn.conversation, None), self._changes
        if not await self._store.transaction(transact):
            return False
        if past is not None and turn.replaces is None:
            more = (_Past(turn=turn.id, messages=PastTurn(kept), expires_at=turn.expires_at),) if kept else ()
            # In the order in which they began, as the store has them.
            whole = sorted((*past, *more), key=lambda kept: kept.turn)
            last = tuple(whole[-self._max_turns :]) if self._max_turns else ()
            self._remember(turn.conversation, last, changes)
        return True

    async def pause(self, turn: Turn, pause: Pause, *, until: datetime) -> None:
        """The turn waits for a person's word; they are asked, unless they were before a restart."""
        journal = self.journal(turn)
        calls = tuple(call.id for call in pause.calls)
        people = tuple(dict.fromkeys(message.author for message in turn.incoming))
        always = pause.allowance.tool if pause.allowance is not None else None
        question = phrases.may_i(pause.deeds, pause.cost_usd, pause.causes, always=always)
        tools = frozenset(call.name for call in pause.calls)
        whole = "\n\n\n".join(deed.whole for deed in pause.deeds if deed.whole)
        question = f"{question}\n\n{say(phrases.SHORTENED_IN_FILE)}" if whole else question
        texts = (question, f"{question}\n\n{say(phrases.TAKES_PLACE)}")
        files = question_files(whole)
        first, again = (outgoing.replies_to(text, turn.incoming, ok=True, files=files) for text in texts)
        step = Paused(
            call_ids=calls, until=until, people=people, allowance=pause.allowance, question=question, whole=whole
        )

        def put_off(repos: Repositories) -> None:
            if not repos.journal.is_running(turn.id):
                return
            if not pause.is_asked:
                position = len(repos.journal.steps(turn.conversation, turn.id))
                place = repos.outbox.next_position(turn.id)
                paused = steps.dump_step(replace(step, position=place))
                repos.journal.add(turn.conversation, turn.id, position, paused)
                is_another = self._replace(repos, turn, tools)
                outgoing.put(repos, turn, again if is_another else first, self._clock.now())
            wait = until if not pause.is_asked else min(journal.asked[call] for call in calls)
            repos.inbox.put_off(turn.id, until=wait)

        await self._store.transaction(put_off)

    def _replace(self, repos: Repositories, turn: Turn, tools: Collection[str]) -> bool:
        """End what this turn takes the place of, within a transaction: open questions about these tools; gives whether
        there was one.
        """
        if not turn.open_questions:
            return False
        waiting = repos.inbox.put_off_turns(turn.conversation)
        over = [one for one in turn.open_questions if one.turn in waiting and one.is_about(tools)]
        for one in over:
            self.end(repos, turn.conversation, one.turn, turn.incoming[-1])
        return bool(over)

    def end(self, repos: Repositories, conversation: ConversationId, turn: TurnId, message: Incoming) -> None:
        """A turn ends without a word, within a transaction; what it has cost so far is written down."""
        self.charge_so_far(repos, conversation, turn, person=message.author, chat=message.chat)
        repos.inbox.done(turn)
        repos.journal.close(turn, "failed", now=self._clock.now())

    async def charge_broken_off(self, turn: Turn, journal: Journal) -> None:
        """Write down what was paid and not waited for, of a turn whose end nobody keeps.

        Raises:
            StoreError: it could not be.
        """
        lost = journal.broken_off
        if not (lost.failures or lost.runs or lost.fees):
            return

        def charge(repos: Repositories) -> None:
            # Of a turn that goes on later the tools run again, or have their outcome unknown: then they are paid.
            found = replace(lost, runs=()) if repos.journal.is_running(turn.id) else lost
            spent = steps.without_words(steps.entries(found))
            self.charge(repos, turn.conversation, turn.id, spent, person=turn.person, chat=turn.chat)

        await self._store.transaction(charge)

    async def ignore(self, claim: Claim) -> None:
        """There is nothing to answer in these messages."""

        def transact(repos: Repositories) -> None:
            repos.journal.close(claim.turn, "ignored", now=self._clock.now())
            repos.inbox.done(claim.turn)

        await self._store.transaction(transact)

    async def bury(self, turn: Turn) -> None:
        """The turn failed too often: the person is told, its messages are dead; what it cost stays in the ledger."""
        spent = self.journal(turn).failure(say(phrases.GAVE_UP))
        replies = self._replies(turn, spent)

        def transact(repos: Repositories) -> None:
            now = self._clock.now()
            if not repos.journal.is_running(turn.id):
                return
            self.charge(repos, turn.conversation, turn.id, steps.entries(spent), person=turn.person, chat=turn.chat)
            repos.chats.leave(turn.conversation, turn.id, _question(turn))
            outgoing.put(repos, turn, replies, now)
            repos.journal.close(turn.id, "failed", now=now)
            repos.inbox.bury(turn.id)

        await self._store.transaction(transact)

    async def is_paused(self, claim: Claim, turn: Turn) -> bool:
        """Whether nothing is answered there now: then the claim is settled, and the first who asks is told."""

        def pass_over(repos: Repositories) -> bool:
            now = self._clock.now()
            # As it is now: a turn that goes on after a restart knows what was set when it began.
            settings = chats.settings_of(repos, claim.conversation, now)
            if settings.is_taken(now):
                self._leave(repos, turn, steps.entries(steps.failed_outcome(turn.steps, "")))
                return True
            if settings.paused_at is None or claim.started_at < settings.paused_at:
                return False
            self._tell_once(repos, turn, say(phrases.IS_PAUSED))
            repos.journal.close(claim.turn, "ignored", now=now)
            repos.inbox.done(claim.turn)
            return True

        if turn.settings.paused_at is None and turn.settings.taken_until is None and claim.is_new:
            return False  # a look into what was read anyway saves the way to the store
        return await self._store.transaction(pass_over)

    def _leave(self, repos: Repositories, turn: Turn, entries: tuple[LedgerEntry, ...]) -> None:
        """An admin has taken the chat over, within a transaction: nothing is said, what it has cost is written down."""
        now = self._clock.now()
        spent = steps.without_words(entries)
        self.charge(repos, turn.conversation, turn.id, spent, person=turn.person, chat=turn.chat)
        outgoing.clear(repos, turn.id, turn.chat, now)
        self._tell_once(repos, turn, say(phrases.IS_TAKEN_OVER))
        repos.journal.close(turn.id, "ignored", now=now)
        repos.inbox.done(turn.id)

    def _tell_once(self, repos: Repositories, turn: Turn, why: str) -> None:
        """Tell whoever asks first why there is no answer."""
        now = self._clock.now()
        if not chats.settings_of(repos, turn.conversation, now).told_paused:
            chats.change(repos, turn.conversation, now, lambda settings: replace(settings, told_paused=True))
            self.tell(repos, turn.conversation, turn.incoming[-1], why)

    async def greet(self, turn: Turn, words: str) -> None:
        """Greet whoever asks first in their own chat, before they are answered; once, also after a crash."""
        if turn.settings.is_greeted or turn.group is not None or turn.incoming[-1].scheduled is not None:
            return

        def transact(repos: Repositories) -> None:
            now = self._clock.now()
            settings = chats.settings_of(repos, turn.conversation, now)
            if settings.is_greeted or not repos.chats.is_first(turn.conversation, turn.id):
                return
            chats.change(repos, turn.conversation, now, lambda before: replace(before, is_greeted=True))
            self.tell(repos, turn.conversation, turn.incoming[-1], words)

        await self._store.transaction(transact)

    async def may_not_ask(self, claim: Claim, message: Incoming, askers: Askers) -> None:
        """Tell the first who may not ask in a group so; once, until that is set again."""
        why = phrases.ASKERS_ADMINS if askers == "admins" else phrases.ASKERS_LIST

        def tell(repos: Repositories) -> None:
            now = self._clock.now()
            if not chats.settings_of(repos, claim.conversation, now).told_askers:
                chats.change(repos, claim.conversation, now, lambda settings: replace(settings, told_askers=True))
                self.tell(repos, claim.conversation, message, why)

        await self._store.transaction(tell)

    async def discard(self, claim: Claim) -> None:
        """The messages of a claim cannot be read at all: they are dead, and there is nobody to tell."""

        def transact(repos: Repositories) -> None:
            repos.journal.close(claim.turn, "failed", now=self._clock.now())
            repos.inbox.bury(claim.turn)

        await self._store.transaction(transact)

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
    ) -> None:
        """Put what Aldis itself has to say into the outbox, within a transaction; in a group it quotes the message.

        The files go with its last part. `expires_at` is when all of it disappears also if it is not sent by then; None:
        it waits. `turn` is the one that says it; None: one of its own.
        """
        now = self._clock.now()
        if turn is None:
            turn = repos.inbox.begin_turn(conversation, now=now, expires_at=expires_at)
            repos.journal.close(turn, "ignored", now=now)
        with speaking(self.language(repos, conversation)):
            replies = outgoing.replies_to(text if isinstance(text, str) else say(text), (message,), ok=True)
        for reply in with_enclosures(replies, Outcome(text="", ok=True, files=files)):
            outgoing.add_message(repos, conversation, turn, reply, now)

    def charge(
        self,
        repos: Repositories,
        conversation: ConversationId,
        turn: TurnId,
        entries: tuple[LedgerEntry, ...],
        *,
        person: PersonId,
        chat: ChatId,
        warned: tuple[tuple[budgets.Scope, str], ...] = (),
    ) -> None:
        """Write down what a turn did and cost, within a transaction; it counts for this person and for the group.

        `warned` are the budgets, by scope and period, of which people were told that they are nearly used up.
        """
        now = self._clock.settled_now()
        group = chat if chat.is_group else None
        periods = budgets.periods(now, self._timezone)
        repos.ledger.add(conversation, turn, person, entries, now=now, group=group, periods=periods, warned=warned)

    def charge_so_far(
        self, repos: Repositories, conversation: ConversationId, turn: TurnId, *, person: PersonId, chat: ChatId
    ) -> None:
        """As `charge`, for a turn that is given up: what its journal holds, without any words."""
        done = map(steps.load_step, repos.journal.steps(conversation, turn))
        spent = steps.without_words(steps.entries(steps.failed_outcome(done, "")))
        self.charge(repos, conversation, turn, spent, person=person, chat=chat)

    def forget(self, conversation: ConversationId | None = None) -> None:
        """The history of a conversation (None: of all) was changed in the store: read it again."""
        self._changes += 1
        if conversation is None:
            self._recent.clear()
        else:
            self._recent.pop(conversation, None)

    async def _steps(self, claim: Claim) -> tuple[Step, ...]:
        lines = await self._store.read(lambda repos: repos.journal.steps(claim.conversation, claim.turn))
        return tuple(steps.load_step(line) for line in lines)

    async def _lightened(self, conversation: ConversationId, past: tuple[_Past, ...]) -> tuple[_Past, ...]:
        """The turns with the pictures and documents that are still shown; no others need to be kept."""
        light = tuple(map(_recalled, past, prompt.without_old_media([turn.messages for turn in past])))
        changed = [now.turn for now, before in zip(light, past, strict=True) if now.messages != before.messages]

        def lighten(repos: Repositories) -> None:
            for turn in changed:
                # As it is by now: it may have been edited.
                asked = messages.load_question(repos.history.question(conversation, turn))
                if asked is not None:
                    repos.history.correct(conversation, turn, messages.dump_messages((prompt.in_words(asked),)))

        if changed:
            await self._store.transaction(lighten)
        return light

    def _remember(self, conversation: ConversationId, past: tuple[_Past, ...], changes: int) -> None:
        """Remember what was read when there had been so many changes; not if there was one since."""
        past = tuple(map(_recalled, past, prompt.without_old_media([turn.messages for turn in past])))
        is_large = sum(turn.messages.media_bytes for turn in past) > _REMEMBERED_MEDIA_BYTES
        if changes != self._changes or is_large:
            return
        self._recent[conversation] = past
        self._recent.move_to_end(conversation)
        if len(self._recent) > _REMEMBERED_CONVERSATIONS:
            self._recent.popitem(last=False)

    def _replies(self, turn: Turn, outcome: Outcome) -> list[Reply]:
        replies = outgoing.replies_to(outcome.text, turn.incoming, ok=outcome.ok, talk=turn.talk)
        return with_enclosures(replies, outcome)


def question_files(whole: str) -> tuple[File, ...]:
    """What goes with a question in which something is shortened: all of it as a file; none where `whole` is empty."""
    return (outgoing.text_file("question.txt", whole),) if whole else ()


def _open_questions(repos: Repositories, claim: Claim, incoming: tuple[Incoming, ...]) -> tuple[OpenQuestion, ...]:
    """What whoever asks last was asked before, within a transaction; nothing for a reminder, which answers nobody."""
    if incoming[-1].scheduled is not None:
        return ()
    found = (
        open_question(turn, map(steps.load_step, repos.journal.steps(claim.conversation, turn)), incoming[-1].author)
        for turn in claim.put_off
        if turn < claim.turn
    )
    return tuple(question for question in found if question is not None)


def _of_quoted(
    repos: Repositories, conversation: ConversationId, message: Incoming, open_questions: Iterable[OpenQuestion]
) -> Labels:
    """Of an answer of Aldis's own that the message quotes, within a transaction: it may be long out of the history."""
    if message.quote is None or not message.quotes_me:
        return Labels()
    turn = repos.outbox.turn_of(conversation, message.quote.sent_at)
    asked = next((question for question in open_questions if question.turn == turn), None)
    if asked is not None:
        return asked.labels
    answer = _quoted_answer(repos, conversation, message)
    return UNKNOWN if answer is None else answer.message.labels or UNKNOWN


def _quoted_answer(repos: Repositories, conversation: ConversationId, message: Incoming) -> _Answer | None:
    """The answer of Aldis's own that the message quotes, within a transaction."""
    if message.quote is None or not message.quotes_me:
        return None
    turn = repos.outbox.turn_of(conversation, message.quote.sent_at)
    line = None if turn is None else repos.history.answer(conversation, turn)
    found = () if line is None else messages.load_messages(line)
    said = next((answer for answer in found if isinstance(answer, AssistantMessage)), None)
    return None if turn is None or said is None else _Answer(turn=turn, message=said)


def _as_kept(message: Incoming, answer: _Answer | None, past: Iterable[_Past]) -> Incoming:
    """The message with the numbers of pages in what it quotes as the model knows them, not as people see them."""
    if answer is None or message.quote is None:
        return message
    is_known = any(turn.turn == answer.turn for turn in past)
    text = as_kept(message.quote.text, answer.message, is_known=is_known)
    return replace(message, quote=replace(message.quote, text=text))


def _allowed(repos: Repositories, conversation: ConversationId, incoming: tuple[Incoming, ...]) -> frozenset[Allowance]:
    """What whoever asks alone has allowed for good there, within a transaction."""
    people = {message.author for message in incoming}
    grants = repos.grants.of(conversation, people.pop()) if len(people) == 1 else ()
    return frozenset(Allowance(tool=grant.tool, shape=grant.shape) for grant in grants)


def _turns(rows: Iterable[StoredMessage]) -> tuple[_Past, ...]:
    grouped = groupby(rows, key=lambda row: (row.turn, row.expires_at))
    return tuple(
        _Past(turn=turn, messages=PastTurn(_joined(group)), expires_at=expires_at)
        for (turn, expires_at), group in grouped
    )


def _recalled(past: _Past, said: PastTurn) -> _Past:
    """The turn with so much of what was said as is told again."""
    return past if said is past.messages else replace(past, messages=said)


def _joined(rows: Iterable[StoredMessage]) -> Iterable[Message]:
    """The messages of one turn: the rows of tool answers that follow each other are one message."""
    for is_tool, group in groupby(rows, key=lambda row: row.role == "tool"):
        read = [message for row in group for message in messages.load_messages(row.message)]
        if is_tool:
            yield ToolMessage(
                answers=tuple(a for message in read if isinstance(message, ToolMessage) for a in message.answers)
            )
        else:
            yield from read


def _rows(turn: TurnId, kept: Iterable[Message]) -> list[StoredMessage]:
    rows: list[StoredMessage] = []
    for message in kept:
        if isinstance(message, ToolMessage):
            rows += [_row(turn, ToolMessage(answers=(answer,)), answer.call_id) for answer in message.answers]
        else:
            rows.append(_row(turn, message, None))
    return rows


def _question(turn: Turn) -> bytes:
    """What was asked, so that it can be asked again."""
    return messages.dump_messages((turn.question,))


def _row(turn: TurnId, message: Message, call_id: CallId | None) -> StoredMessage:
    return StoredMessage(turn=turn, role=message.role, call_id=call_id, message=messages.dump_messages((message,)))
