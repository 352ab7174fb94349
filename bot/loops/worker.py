"""Worker: claims what waits in the inbox and sees each turn through: one at a time per conversation, many side by side.

    urgent --> deletion, edit, command: carried out at once, whatever is running (it may be about just that), and before
               anything else of its conversation is claimed
    claim --> read the envelopes --> route --nothing to answer-------> ignore
                                       |-----too old, over the limit--> the person hears it
                                       '----> load --> agent --> keep
    it takes too long, or is stopped: the person hears it.  It fails, or kills the process: it is tried again, and after
    a few tries given up, and the person hears it (which tries count: `store.inbox`).
    Aldis is shut down: it is handed back, which does not count as a try.

A turn spends nearly all of its time waiting: for a model, a tool, a person. Meanwhile others are served;
`WORKER__CONVERSATIONS_AT_ONCE` only limits the memory. Computation is limited where it happens: files are opened a few
at a time, each conversation and each person has one or a few turns, and money has its budgets.
Left to others: the answer (`bot.chat`), what people see meanwhile (`bot.chat.status`), sending (`bot.loops.sender`).
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from bot.access.access import AccessList, is_admin, may_ask
from bot.access.routing import Command, Correction, Ignore, Question, Route, Talk, Verdict, route
from bot.chat import prompt
from bot.chat.agent import Agent
from bot.chat.approvals import Approvals
from bot.chat.context import GroupContext
from bot.chat.journal import Journal, Outcome, Pause, Turn
from bot.chat.status import Reactions, StatusMessages
from bot.chat.turn_tasks import TurnStopped, TurnTasks
from bot.chat.turns import Turns
from bot.clock import Clock
from bot.commands.urgent import UrgentItems
from bot.event_json import UnreadableJson, load_envelope, read_event
from bot.events import ChatId, Edited, Envelope, Event, Incoming, Kind
from bot.i18n import phrases
from bot.i18n.catalogues import Sentence, say
from bot.logs import RepeatedWarning, describe_error
from bot.metrics import Counts
from bot.settings import Settings
from bot.signal.protocol import Progress, Transport
from bot.trust.links import inert
from bot.unanswered import Unanswered
from store import Claim, ConversationId, InboxId, InboxItem, Repositories, Store, StoreError, StoreFull
from tools import shorten

_log = logging.getLogger(__name__)

_TYPING_SECONDS = 8.0
"""Signal hides the indicator after 15 s. Source: Signal-Android, TypingStatusRepository (2026)."""
_TYPING_ENDS_SECONDS = 1.0
"""How long the bridge may take to hide the indicator, which disappears by itself: neither the conversation nor a
shutdown waits longer."""
_REFUSALS = {"too_many": phrases.TOO_MANY, "queue_full": phrases.QUEUE_FULL}
_CLAIM_MARGIN_SECONDS = 60.0
_PAUSE_SECONDS = 1.0
_SHOWN_QUESTION_CHARS = 200
_MAX_CLAIMS = 16
"""The limit per transaction, because others need the store, too."""
_MAX_DEATHS = 5
"""How many processes may die while a turn is under way: it may be the cause."""
_MAX_LAST_TRIES = 10
"""How often Aldis tries to tell that a turn was given up; every process killed meanwhile counts as a try."""


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

    opened: OpenedItem
    message: Incoming
    excuse: Sentence | None
    """What the person reads instead of an answer; None: it will be answered."""
    is_bare: bool
    """Whether it is about the last thing said in its group."""


class Worker:
    """The loop of turns."""

    def __init__(
        self,
        transport: Transport,
        store: Store,
        clock: Clock,
        counts: Counts,
        *,
        turns: Turns,
        agent: Agent,
        approvals: Approvals,
        urgent_items: UrgentItems,
        status_messages: StatusMessages,
        reactions: Reactions,
        group_context: GroupContext,
        settings: Settings,
        allowed: AccessList,
        on_kept: Callable[[Turn], None] = lambda _: None,
        greeting: Callable[[], str] | None = None,
    ) -> None:
        """`on_kept` is called with each turn that was answered and is remembered. `greeting` returns what people are
        read before their first answer in a direct chat, in the current language; None: nothing.
        """
        self._on_kept = on_kept
        self._greeting = greeting
        self._transport = transport
        self._store = store
        self._clock = clock
        self._counts = counts
        self._unanswered = Unanswered(counts)
        self._turns = turns
        self._agent = agent
        self._approvals = approvals
        self._urgent_items = urgent_items
        self._status_messages = status_messages
        self._reactions = reactions
        self._group_context = group_context
        self._began_at = clock.now()
        self._seen = InboxId(0)
        """The newest waiting message that was looked at."""
        self._settings = settings
        self._allowed = allowed
        self.tasks = TurnTasks()
        """The running turns."""
        self._is_closing = False
        self._is_more_waiting = False
        """Whether something was left waiting at the last look, so that it looks again when a turn ends."""
        self._unread, self._unkept = RepeatedWarning(_log), RepeatedWarning(_log)

    async def run(self) -> None:
        """Takes turns until `drain` is called or the task is cancelled."""
        wakeup = self._store.wakeups["inbox"]
        try:
            async with asyncio.TaskGroup() as group:
                while not self._is_closing:
                    wakeup.clear()
                    await self._look(group)
                    await wakeup.wait()
        finally:
            await self._reactions.aclose()

    def drain(self) -> None:
        """Claims nothing new; `run` returns when the running turns have ended."""
        self._is_closing = True
        self._store.wakeups["inbox"].set()

    async def _look(self, group: asyncio.TaskGroup) -> None:
        """Begins everything that waits and may begin."""
        try:
            await self._urgent_items.begin_all(self.tasks, group)
            await self._take_all(group)
            if self._is_more_waiting and self._reactions.are_wanted:
                await self._mark_waiting()
        except StoreError as error:
            self._unread.tell(f"the inbox cannot be read: {error}", logging.ERROR)
            await asyncio.sleep(_PAUSE_SECONDS)
            self._store.wakeups["inbox"].set()

    async def _mark_waiting(self) -> None:
        """Marks messages that wait behind others, each once."""
        for item in await self._store.read(lambda repos: repos.inbox.waiting_after(self._seen)):
            self._seen = InboxId(max(self._seen, item.id))
            opened = await self._open(item.conversation, item)
            if opened is None or item.refusal is not None or opened.envelope.kind is not Kind.MESSAGE:
                continue
            if isinstance(opened.route, Question):
                self._reactions.put((opened.route.message,), may_stand=item.received_at < self._began_at)

    async def _take_all(self, group: asyncio.TaskGroup) -> None:
        """Claims what waits, as long as there is room for it."""
        while (limit := min(self._settings.worker.conversations_at_once - len(self.tasks), _MAX_CLAIMS)) > 0:
            self._is_more_waiting = True  # a turn that ends while the store looks makes it look again
            claims, self._is_more_waiting = await self._store.transaction(partial(self._claim, limit=limit))
            for claim in claims:
                task = group.create_task(self._see_through(claim), name=f"turn-{claim.turn}")
                self.tasks.add(claim, task)
                task.add_done_callback(lambda task, claim=claim: self._ended(claim, task))
            if len(claims) < limit:
                return
        self._is_more_waiting = True

    def _claim(self, repos: Repositories, limit: int) -> tuple[tuple[Claim, ...], bool]:
        """Claims what waits in up to `limit` conversations, on the store's thread, where each commit knows what the
        previous one has claimed. Also returns whether more waits.
        """
        busy = {*self.tasks.conversations, *self._urgent_items.conversations}
        busy_people = self.tasks.people(least=self._settings.limits.turns_at_once)
        seconds = self._settings.worker.turn_timeout_seconds + _CLAIM_MARGIN_SECONDS
        return self._turns.claim(repos, busy=busy, seconds=seconds, limit=limit, busy_people=busy_people)

    def _ended(self, claim: Claim, task: asyncio.Task[bool]) -> None:
        has_ended = task.cancelled() or task.exception() is not None or task.result()
        self.tasks.remove(claim, is_tried_again=not has_ended)
        if self._is_more_waiting:
            self._store.wakeups["inbox"].set()

    async def _see_through(self, claim: Claim) -> bool:
        """Sees one claim through; returns whether it ended, or is tried again. Raises only cancellation."""
        try:
            found = [await self._open(claim.conversation, item) for item in claim.items]
            opened = tuple(one for one in found if one is not None)  # without unreadable rows
            await self._served(claim, opened)
            for one in opened:  # their attachments have been read, or never will be
                message = one.event.message if isinstance(one.event, Edited) else one.event
                files = (*message.files, *message.text_files) if isinstance(message, Incoming) else ()
                for attachment in files:
                    await self._transport.discard(attachment)
        except asyncio.CancelledError:
            await self._handed_back(claim, counts=False)
            raise
        except Exception as error:  # noqa: BLE001  (one turn's failure must not end the others)
            self._counts.add("turns_failed")
            _log.error("turn %d failed (try %d): %s", claim.turn, claim.attempt, describe_error(error))
            try:
                await asyncio.sleep(_PAUSE_SECONDS)
            finally:  # even if it is halted meanwhile: a claim without a task would block its conversation
                await self._handed_back(claim, counts=True)
            return False
        return True

    async def _handed_back(self, claim: Claim, *, counts: bool) -> None:
        try:
            await self._store.transaction(lambda repos: repos.inbox.hand_back(claim.turn, counts=counts))
        except StoreError as error:
            # Maintenance finds the claim once its deadline has passed.
            _log.error("turn %d could not be handed back: %s", claim.turn, error)

    async def _served(self, claim: Claim, opened: tuple[OpenedItem, ...]) -> None:
        if self._is_over(claim, _MAX_LAST_TRIES) or len(opened) < len(claim.items):
            _log.error("turn %d cannot be read and was given up", claim.turn)
            await self._turns.ignore(claim, is_readable=False)
            return
        asked = await self._to_answer(claim, await self._undecided(claim, opened))
        if not asked:
            await self._turns.ignore(claim)
            return
        messages = tuple(found.message for found in asked)
        answered = [found for found in asked if found.excuse is None]
        incoming = tuple(found.message for found in answered)
        others = {item.id for item in claim.items} - {found.opened.item.id for found in asked}
        if others:
            await self._turns.set_apart(claim, others)
        turn = await self._turns.load(claim, incoming or messages)
        if await self._turns.is_paused(claim, turn):
            self._reactions.take_off(messages)  # possibly marked while they waited
            for _ in messages:
                self._unanswered.note("paused")
            return
        notes = tuple(dict.fromkeys(found.excuse for found in asked if found.excuse is not None))
        if not incoming:
            await self._turns.keep(turn, Outcome(text="\n\n".join(map(say, notes)), ok=False))
            self._counts.add("turns_refused")
            self._reactions.take_off(messages)
            return
        if self._greeting is not None:
            await self._turns.greet(turn, self._greeting())
        # A reminder, which no person wrote, gets no emoji.
        marked = tuple(found.message for found in answered if found.opened.envelope.kind is Kind.MESSAGE)
        is_from_before = claim.items[0].received_at < self._began_at
        self._reactions.put(marked, may_stand=not claim.is_new or is_from_before)
        try:
            await self._answered(claim, turn, notes, said_before=int(any(found.is_bare for found in asked)))
        finally:
            self._reactions.take_off(marked)

    def _is_over(self, claim: Claim, more: int = 0) -> bool:
        """Whether it was tried as often as allowed, plus `more` times."""
        return claim.attempt > self._settings.worker.max_attempts + more or claim.deaths > _MAX_DEATHS + more

    # What waits, read

    async def _open(self, conversation: ConversationId, item: InboxItem) -> OpenedItem | None:
        """The contents of an inbox row and where they go; None if the row is unreadable.

        If its event cannot be read, nothing is answered: a bug with one message must not affect those that came with
        it.
        """
        try:
            envelope = load_envelope(item.envelope)
        except UnreadableJson:
            return None
        in_group = envelope.chat is not None and envelope.chat.is_group
        always = in_group and (await self._turns.settings(conversation)).answers_always
        try:
            event = read_event(envelope, self._transport.event)
            found = route(event, name=self._settings.signal.name, answers_always=always)
        except Exception as error:  # noqa: BLE001  (see above)
            _log.error("message %d cannot be read: %s", item.id, describe_error(error))
            event, found = None, Ignore(reason="unreadable")
        return OpenedItem(item=item, envelope=envelope, event=event, route=found)

    async def _to_answer(self, claim: Claim, opened: Iterable[OpenedItem]) -> list[AskedMessage]:
        """The messages of a claim to answer, in order; talk among others is overheard."""
        now = self._clock.now()
        asked: list[AskedMessage] = []
        for one in opened:
            message = self._message(one.route, one.item)
            if message is not None and await self._may_ask(claim, one, message):
                is_bare = isinstance(one.route, Question) and one.route.is_bare and message.quote is None
                asked.append(AskedMessage(opened=one, message=message, excuse=self._excuse(one, now), is_bare=is_bare))
        return asked

    async def _may_ask(self, claim: Claim, opened: OpenedItem, message: Incoming) -> bool:
        """Whether the author may ask in this group, by its settings; the first who may not gets a sentence."""
        if not message.chat.is_group:
            return True
        envelope = opened.envelope
        askers = (await self._turns.settings(claim.conversation)).askers
        is_approved = askers == "list" and await self._store.read(
            lambda repos: repos.people.is_allowed(message.author, account=envelope.account)
        )
        if may_ask(envelope, self._allowed, askers, is_approved=is_approved):
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

    def _excuse(self, opened: OpenedItem, now: datetime) -> Sentence | None:
        """Returns what the person reads instead of an answer; None: the message is answered normally."""
        item, envelope = opened.item, opened.envelope
        if item.refusal is not None:
            return _REFUSALS.get(item.refusal, phrases.FAILED)
        if item.expires_at is not None and item.expires_at <= now and not self._clock.doubt():
            self._unanswered.note("expired")
            return phrases.MESSAGE_EXPIRED
        # At Signal by the server's clock, since the sender's and ours may be days off; here by ours.
        waited_seconds = (envelope.waited_ms or 0) / 1000 + (now - item.received_at).total_seconds()
        if waited_seconds <= self._settings.intake.max_age:
            return None
        self._unanswered.note("too_old")
        return phrases.TOO_OLD

    # One turn

    async def _undecided(self, claim: Claim, opened: Iterable[OpenedItem]) -> tuple[OpenedItem, ...]:
        """The rest of a claim without any yes or no that a turn waits for, which is applied here."""
        left: list[OpenedItem] = []
        for one in opened:
            if isinstance(one.route, Verdict) and self._urgent_items.awaits(claim.conversation, one.route):
                await self._store.transaction(lambda repos, item=one.item.id: repos.inbox.as_urgent(item))
                continue
            follows = any(before.envelope.author == one.envelope.author for before in left)
            if not isinstance(one.route, Verdict) or not await self._approvals.decide(
                claim.conversation,
                one.route,
                is_admin=is_admin(one.envelope, self._allowed),
                item=one.item.id,
                follows=follows,
            ):
                left.append(one)
        return tuple(left)

    async def _answered(self, claim: Claim, turn: Turn, notes: tuple[Sentence, ...], *, said_before: int) -> None:
        """Answers these messages; `notes` say why others beside them are not answered.

        `said_before` is how many preceding messages of others they are about in any case.
        """
        turn = replace(turn, talk=self._group_context.talk(turn.chat, at_least=said_before))
        if self._is_over(claim) or turn.is_damaged:
            self._counts.add("turns_given_up")
            _log.error("turn %d failed %d times and was given up", claim.turn, claim.attempt - 1 + claim.deaths)
            await self._turns.dead_letter(turn)
            return
        journal = self._turns.journal(turn)
        async with self._typing(turn.chat):
            outcome = await self._outcome(turn, journal)
            if isinstance(outcome, Pause):
                until = self._clock.now() + timedelta(seconds=self._settings.approvals.timeout)
                await self._turns.pause(turn, outcome, until=until)
                self._counts.add("turns_paused")
                return
            texts = (outcome.text, *map(say, notes))
            whole = replace(outcome, text="\n\n".join([*_asked_for(turn), *texts]))
            # Before the indicator is removed: a bridge that is slow to do so must not delay the answer.
            is_kept = await self._keep(turn, whole)
            self.tasks.on_answer(turn.id)
        if is_kept:
            self._counts.add("turns_answered" if outcome.ok else "turns_answered_with_failure")
        if is_kept and outcome.messages:
            self._on_kept(turn)
        if is_kept and outcome.ok:
            self._group_context.on_answer(turn.talk)

    @asynccontextmanager
    async def _typing(self, chat: ChatId) -> AsyncGenerator[None]:
        """Shows in a chat that Aldis is writing until the block ends."""

        async def keep_typing() -> None:
            while True:
                await self._transport.typing(chat, started=True)
                await asyncio.sleep(_TYPING_SECONDS)

        task = asyncio.create_task(keep_typing(), name="typing")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            with suppress(TimeoutError):
                async with asyncio.timeout(_TYPING_ENDS_SECONDS):
                    await self._transport.typing(chat, started=False)

    async def _keep(self, turn: Turn, outcome: Outcome) -> bool:
        """Keeps the outcome, as `Turns.keep`; it is paid, so this ends even if the turn is halted meanwhile."""
        while True:
            keeping = asyncio.create_task(self._turns.keep(turn, outcome), name=f"keep-{turn.id}")
            try:
                with suppress(StoreFull):
                    return await asyncio.shield(keeping)
                # Asking again would cost it once more.
                self._unkept.tell("answers wait for room on the disk", logging.ERROR)
                await asyncio.sleep(_PAUSE_SECONDS)
            except asyncio.CancelledError:
                await asyncio.gather(keeping, return_exceptions=True)
                raise

    async def _outcome(self, turn: Turn, journal: Journal) -> Outcome | Pause:
        """The agent's outcome, or what is said if it was stopped or took too long."""
        seconds = self._settings.worker.turn_timeout_seconds
        try:
            with self.tasks.answering(turn.id):
                async with asyncio.timeout(seconds), self._status_messages.show(turn) as showing:

                    async def on_progress(progress: Progress) -> None:
                        showing.watch(progress)
                        await self._transport.progress(turn.chat, progress)

                    return await self._agent.answer(turn, journal, on_progress)
        except TimeoutError:
            return journal.failure(say(phrases.TOOK_TOO_LONG))
        except TurnStopped:
            return journal.failure(say(phrases.STOPPED))


def _asked_for(turn: Turn) -> Sequence[str]:
    """The lines above an answer to something scheduled, since no one has just written it."""
    if not turn.is_unattended:
        return ()
    questions = (
        message.text if message.scheduled is None or message.scheduled.is_own else inert(message.text)
        for message in turn.incoming
    )
    shown = (shorten(" ".join(question.split()), _SHOWN_QUESTION_CHARS) for question in questions)
    return [say(phrases.REMINDER, text=text) for text in shown]
