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
`WORKER__CONVERSATIONS_AT_ONCE` only limits the memory.
Left to others: the answer (`bot.chat`), what people see meanwhile (`bot.chat.status`), sending (`bot.loops.sender`).
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import KW_ONLY, dataclass, replace
from datetime import timedelta
from functools import partial

from bot.access.access import AccessList, is_admin, may_ask
from bot.access.routing import Command, Correction, Ignore, Question, Route, Talk, Verdict, is_translated
from bot.chat import prompt
from bot.chat.agent import Agent
from bot.chat.approvals import Approvals
from bot.chat.context import GroupContext
from bot.chat.journal import OnProgress, Outcome, Pause, Turn
from bot.chat.status import Reactions, StatusMessage, StatusMessages
from bot.chat.turn_tasks import TurnStopped, TurnTasks
from bot.chat.turns import Turns
from bot.commands.urgent import OpenedItem, UrgentItems
from bot.events import ChatId, Edited, Incoming, Kind
from bot.i18n import phrases
from bot.i18n.catalogues import Sentence, say
from bot.logs import RepeatedWarning, describe_error
from bot.settings import Settings
from bot.signal.protocol import Outside, Progress
from bot.trust.links import inert
from store import Claim, InboxItem, Repositories, StoreError, StoreFull
from tools import shorten

_log = logging.getLogger(__name__)

_TYPING_SECONDS = 8.0
"""Signal hides the indicator after 15 s. Source: Signal-Android, TypingStatusRepository (2026)."""
_TYPING_ENDS_SECONDS = 1.0
"""How long the bridge may take to hide the indicator, which disappears by itself."""
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

_Asked = tuple[OpenedItem, Incoming]


@dataclass
class Worker(Outside):
    """The loop of turns."""

    _: KW_ONLY
    turns: Turns
    agent: Agent
    approvals: Approvals
    urgent_items: UrgentItems
    status_messages: StatusMessages
    reactions: Reactions
    group_context: GroupContext
    settings: Settings
    allowed: AccessList
    translate: Callable[[Turn, OnProgress], Awaitable[None]]
    """Translates the message of a turn."""
    on_kept: Callable[[Turn], None] = lambda _: None
    """Called with each turn that was answered and is remembered."""
    greeting: Callable[[], str] | None = None
    """Returns what people read before their first answer in a direct chat; None: nothing."""

    def __post_init__(self) -> None:
        self.tasks = TurnTasks()
        self._began_at = self.clock.now()
        self._is_closing = False
        self._is_more_waiting = False
        """Whether something was left waiting at the last look, so that it looks again when a turn ends."""
        self._unread, self._unkept = RepeatedWarning(_log), RepeatedWarning(_log)

    async def run(self) -> None:
        """Takes turns until `drain` is called or the task is cancelled."""
        wakeup = self.store.wakeups["inbox"]
        try:
            async with asyncio.TaskGroup() as group:
                while not self._is_closing:
                    wakeup.clear()
                    await self._look(group)
                    await wakeup.wait()
        finally:
            await self.reactions.aclose()

    def drain(self) -> None:
        """Claims nothing new; `run` returns when the running turns have ended."""
        self._is_closing = True
        self.store.wakeups["inbox"].set()

    async def _look(self, group: asyncio.TaskGroup) -> None:
        try:
            await self.urgent_items.begin_all(self.tasks, group)
            await self._take_all(group)
        except StoreError as error:
            self._unread.tell(f"the inbox cannot be read: {error}", logging.ERROR)
            await asyncio.sleep(_PAUSE_SECONDS)
            self.store.wakeups["inbox"].set()

    async def _take_all(self, group: asyncio.TaskGroup) -> None:
        seconds = self.settings.worker.turn_timeout_seconds + _CLAIM_MARGIN_SECONDS

        def claim_some(repos: Repositories, limit: int) -> tuple[tuple[Claim, ...], bool]:
            # Seen on the store's thread, where each commit knows what the previous one has claimed.
            busy = {*self.tasks.conversations, *self.urgent_items.lanes}
            busy_people = self.tasks.people(least=self.settings.limits.turns_at_once)
            return self.turns.claim(repos, busy=busy, seconds=seconds, limit=limit, busy_people=busy_people)

        while (limit := min(self.settings.worker.conversations_at_once - len(self.tasks), _MAX_CLAIMS)) > 0:
            self._is_more_waiting = True  # a turn that ends while the store looks makes it look again
            claims, self._is_more_waiting = await self.store.transaction(partial(claim_some, limit=limit))
            for claim in claims:
                task = group.create_task(self._see_through(claim), name=f"turn-{claim.turn}")
                self.tasks.add(claim, task)
                task.add_done_callback(lambda task, claim=claim: self._ended(claim, task))
            if len(claims) < limit:
                return
        self._is_more_waiting = True

    def _ended(self, claim: Claim, task: asyncio.Task[bool]) -> None:
        has_ended = task.cancelled() or task.exception() is not None or task.result()
        self.tasks.remove(claim, is_tried_again=not has_ended)
        if self._is_more_waiting:
            self.store.wakeups["inbox"].set()

    async def _see_through(self, claim: Claim) -> bool:
        """Sees one claim through; returns whether it ended, or is tried again."""
        try:
            found = [await self.urgent_items.open(item) for item in claim.items]
            opened = tuple(one for one in found if one is not None)  # without unreadable rows
            said = [one.event.message if isinstance(one.event, Edited) else one.event for one in opened]
            messages = [one for one in said if isinstance(one, Incoming)]
            try:
                await self._served(claim, opened)
            finally:
                edits = [one.event for one in opened if isinstance(one.event, Edited)]
                # Possibly marked while they waited, an edit under the name of the message that it replaces.
                self.reactions.take_off([*messages, *(replace(one.message, sent_at=one.target) for one in edits)])
            for message in messages:  # their attachments have been read, or never will be
                for attachment in (*message.files, *message.text_files):
                    await self.transport.discard(attachment)
        except asyncio.CancelledError:
            await self._handed_back(claim, counts=False)
            raise
        except Exception as error:  # noqa: BLE001  (one turn's failure must not end the others)
            self.counts.add("turns_failed")
            _log.error("turn %d failed (try %d): %s", claim.turn, claim.attempt, describe_error(error))
            try:
                await asyncio.sleep(_PAUSE_SECONDS)
            finally:  # even if it is halted meanwhile: a claim without a task would block its conversation
                await self._handed_back(claim, counts=True)
            return False
        return True

    async def _handed_back(self, claim: Claim, *, counts: bool) -> None:
        try:
            await self.store.transaction(lambda repos: repos.inbox.hand_back(claim.turn, counts=counts))
        except StoreError as error:
            # Maintenance finds the claim once its deadline has passed.
            _log.error("turn %d could not be handed back: %s", claim.turn, error)

    async def _served(self, claim: Claim, opened: tuple[OpenedItem, ...]) -> None:
        if self._is_over(claim, _MAX_LAST_TRIES) or len(opened) < len(claim.items):
            _log.error("turn %d cannot be read and was given up", claim.turn)
            await self.turns.ignore(claim, is_readable=False)
            return
        asked = await self._to_answer(claim, opened)
        if any(is_translated(one.route) for one, _ in asked):
            asked = await self._translated(claim, asked)
        if not asked:
            await self.turns.ignore(claim)
            return
        excuses = {one.item.id: self._excuse(one) for one, _ in asked}
        answered = [(one, message) for one, message in asked if excuses[one.item.id] is None]
        messages, incoming = (tuple(message for _, message in some) for some in (asked, answered))
        if others := {item.id for item in claim.items} - excuses.keys():
            await self.store.transaction(lambda repos: repos.inbox.set_apart(claim.turn, others))
        turn = await self.turns.load(claim, incoming or messages)
        if await self.turns.is_paused(claim, turn):
            for _ in messages:
                self.counts.note_unanswered("paused")
            return
        notes = tuple(dict.fromkeys(excuse for excuse in excuses.values() if excuse is not None))
        if turn.question.persona and turn.settings.persona is None:
            notes = (phrases.NO_SUCH_PERSONA,)
            incoming = ()
        if not incoming:
            await self.turns.keep(turn, Outcome(text="\n\n".join(map(say, notes)), ok=False))
            self.counts.add("turns_refused")
            return
        if self.greeting is not None:
            await self.turns.greet(turn, self.greeting())
        # A reminder, which no person wrote, gets no emoji.
        marked = tuple(message for one, message in answered if one.envelope.kind is Kind.MESSAGE)
        is_from_before = claim.items[0].received_at < self._began_at
        self.reactions.put(marked, may_stand=not claim.is_new or is_from_before)
        is_bare = any(message.preface == prompt.CALLED_BARE and message.quote is None for message in messages)
        turn = replace(turn, talk=self.group_context.talk(turn.chat, at_least=int(is_bare)))
        await self._answered(claim, turn, notes)

    async def _translated(self, claim: Claim, asked: list[_Asked]) -> list[_Asked]:
        """Has the first message translated, unless others are answered in this turn, and returns those; each other one
        to be translated waits for a turn of its own, so that it can be edited and deleted alone.
        """
        talk = [(one, message) for one, message in asked if is_translated(one.route)]
        others = [(one, message) for one, message in asked if not is_translated(one.route)]
        later = [one.item.id for one, _ in (talk if others else talk[1:])]
        if later:
            await self.store.transaction(lambda repos: repos.inbox.put_back(claim.turn, later))
        opened, message = talk[0]
        if not (others or self._is_over(claim) or self._excuse(opened)):
            turn = await self.turns.load(claim, (message,))
            with suppress(TurnStopped), self.tasks.answering(turn.id):
                await self.translate(turn, partial(self.transport.progress, turn.chat))
        return others

    def _is_over(self, claim: Claim, more: int = 0) -> bool:
        """Whether it was tried as often as allowed, plus `more` times."""
        return claim.attempt > self.settings.worker.max_attempts + more or claim.deaths > _MAX_DEATHS + more

    # What waits, read

    async def _to_answer(self, claim: Claim, opened: Iterable[OpenedItem]) -> list[_Asked]:
        """The messages of a claim to answer, in order; talk among others is overheard, a yes or no applied."""
        asked = list[_Asked]()
        authors = set[str | None]()
        for one in opened:
            follows = one.envelope.author in authors
            if isinstance(one.route, Verdict) and await self._decides(claim, one, one.route, follows=follows):
                continue
            authors.add(one.envelope.author)
            message = self._message(one.route, one.item)
            if message is not None and await self._may_ask(claim, one, message):
                asked.append((one, message))
        return asked

    async def _decides(self, claim: Claim, one: OpenedItem, verdict: Verdict, *, follows: bool) -> bool:
        """Whether a command or a turn waits for this yes or no, which then takes effect; `follows` as in `decide`."""
        item = one.item.id
        place = claim.conversation
        if self.urgent_items.commands.awaits(place, verdict.author):
            await self.store.transaction(lambda repos: repos.inbox.as_urgent(item))
            return True
        by_admin = is_admin(one.envelope, self.allowed)
        return await self.approvals.decide(place, verdict, is_admin=by_admin, item=item, follows=follows)

    async def _may_ask(self, claim: Claim, opened: OpenedItem, message: Incoming) -> bool:
        """Whether the author may ask in this group, by its settings; the first who may not gets a sentence."""
        if not message.chat.is_group or is_translated(opened.route):
            return True
        envelope = opened.envelope
        askers = (await self.turns.settings(claim.conversation)).askers
        is_approved = askers == "list" and await self.store.read(
            lambda repos: repos.people.is_allowed(message.author, account=envelope.account)
        )
        if may_ask(envelope, self.allowed, askers, is_approved=is_approved):
            return True
        self.counts.note_unanswered("not_asker")
        await self.turns.may_not_ask(claim, opened.item.id, message, askers)
        return False

    def _message(self, found: Route, item: InboxItem) -> Incoming | None:
        match found:
            case Question(message=message, is_bare=True):
                return replace(message, text="", preface=prompt.CALLED_BARE)
            case Question(message=message) | Command(question=Incoming() as message) | Command(message=message):
                return message
            case Verdict(instead=Question() | Talk() as instead):
                return self._message(instead, item)  # a yes or no to nothing that was asked
            case Correction(edit=edit):
                return edit.message  # among the waiting messages it has become one
            case Talk(message=message, reason=reason):
                self.group_context.hear(message, expires_at=item.expires_at)
                if found.is_translated:
                    return message
                self.counts.note_unanswered(reason)
            case Ignore(reason=reason):
                self.counts.note_unanswered(reason)
            case _:
                pass  # what is carried out as it comes
        return None

    def _excuse(self, opened: OpenedItem) -> Sentence | None:
        """Returns what the person reads instead of an answer; None: it is answered."""
        item = opened.item
        envelope = opened.envelope
        now = self.clock.now()
        if item.refusal is not None:
            return _REFUSALS.get(item.refusal, phrases.FAILED)
        if item.expires_at is not None and item.expires_at <= now and not self.clock.doubt():
            self.counts.note_unanswered("expired")
            return phrases.MESSAGE_EXPIRED
        # At Signal by the server's clock, since the sender's and ours may be days off; here by ours.
        waited_seconds = (envelope.waited_ms or 0) / 1000 + (now - item.received_at).total_seconds()
        if waited_seconds <= self.settings.intake.max_age:
            return None
        self.counts.note_unanswered("too_old")
        return phrases.TOO_OLD

    # One turn

    async def _answered(self, claim: Claim, turn: Turn, notes: tuple[Sentence, ...]) -> None:
        """Answers a turn; `notes` say why other messages of the claim are not answered."""
        if self._is_over(claim) or turn.is_damaged:
            self.counts.add("turns_given_up")
            _log.error("turn %d failed %d times and was given up", claim.turn, claim.attempt - 1 + claim.deaths)
            await self.turns.dead_letter(turn)
            return
        async with self._typing(turn.chat):
            outcome = await self._outcome(turn)
            if isinstance(outcome, Pause):
                until = self.clock.now() + timedelta(seconds=self.settings.approvals.timeout)
                await self.turns.pause(turn, outcome, until=until)
                self.counts.add("turns_paused")
                self._note_seconds(claim, "paused")
                return
            text = "\n\n".join([*_asked_for(turn), outcome.text, *map(say, notes)])
            # Before the indicator is removed: a bridge that is slow to do so must not delay the answer.
            is_kept = await self._keep(turn, replace(outcome, text=text))
            self.tasks.on_answer(turn.id)
        if not is_kept:
            return
        self._note_seconds(claim, "answered" if outcome.ok else "failed")
        self.counts.add("turns_answered" if outcome.ok else "turns_answered_with_failure")
        if outcome.messages:
            self.on_kept(turn)
        if outcome.ok:
            self.group_context.on_answer(turn.talk)

    @asynccontextmanager
    async def _typing(self, chat: ChatId) -> AsyncGenerator[None]:
        """Shows in a chat that Aldis is writing until the block ends."""

        async def keep_typing() -> None:
            while True:
                await self.transport.typing(chat, started=True)
                await asyncio.sleep(_TYPING_SECONDS)

        task = asyncio.create_task(keep_typing(), name="typing")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            with suppress(TimeoutError):
                async with asyncio.timeout(_TYPING_ENDS_SECONDS):
                    await self.transport.typing(chat, started=False)

    def _note_seconds(self, claim: Claim, outcome: str) -> None:
        """Records how long the oldest of the messages has waited for this."""
        waited = self.clock.now() - min(item.received_at for item in claim.items)
        self.counts.observe("turn", waited.total_seconds(), outcome=outcome)

    async def _keep(self, turn: Turn, outcome: Outcome) -> bool:
        """Keeps the outcome, as `Turns.keep`; it is paid, so this ends even if the turn is halted meanwhile."""
        while True:
            keeping = asyncio.create_task(self.turns.keep(turn, outcome), name=f"keep-{turn.id}")
            try:
                with suppress(StoreFull):
                    return await asyncio.shield(keeping)
                # Asking again would cost it once more.
                self._unkept.tell("answers wait for room on the disk", logging.ERROR)
                await asyncio.sleep(_PAUSE_SECONDS)
            except asyncio.CancelledError:
                await asyncio.gather(keeping, return_exceptions=True)
                raise

    async def _outcome(self, turn: Turn) -> Outcome | Pause:
        """The agent's outcome, or what is said if it was stopped or took too long."""
        showing = StatusMessage()

        async def on_progress(progress: Progress) -> None:
            showing.watch(progress)
            await self.transport.progress(turn.chat, progress)

        seconds = self.settings.worker.turn_timeout_seconds
        journal = self.turns.journal(turn, on_progress)
        try:
            with self.tasks.answering(turn.id):
                async with asyncio.timeout(seconds), self.status_messages.show(turn, showing):
                    return await self.agent.answer(journal)
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
