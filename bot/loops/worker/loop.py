"""Worker: takes what waits in the inbox and sees each turn through, one at a time per conversation, many side by side.

    urgent --> deletion, edit, command: carried out at once, whatever runs (it may be about just that), and before
               anything else of its conversation is taken
    claim --> read the envelopes --> route --nothing to answer-------> ignore
                                       |-----too old, over the limit--> the person is told
                                       '----> load --> agent --> keep
    What arrives while there is room is claimed in the commit that writes it down (`Worker._claiming`): before anything
    computes both stand on the disk, and nothing ever happened between the two.
    it takes too long, or is stopped: the person is told.   It fails, or kills the process: tried again, after a few
    times buried and told (which tries count: `store.inbox`).
    Aldis is shut down: handed back, it does not count as a try.

A turn spends nearly all of its time waiting: for a model, a tool, a person. It keeps nobody else from being served
meanwhile; `WORKER__CONVERSATIONS_AT_ONCE` only bounds the memory. What computes is bounded where it computes:
files are opened a few at a time, each conversation and each person has one or a few turns, money has its budgets.
Left to others: what of a claim is to be answered (`questions`), everything about the answer (`bot.turn`), what people
see of it meanwhile (`typing_indicator`, `bot.turn.status`, `bot.turn.reactions`), sending it (`bot.loops.sender`).
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from bot.clock import Clock
from bot.commands.urgent import Authority, UrgentItems
from bot.events import Edited, Incoming, Kind
from bot.i18n import phrases
from bot.i18n.catalogues import Sentence, say
from bot.logs import describe_error
from bot.loops.worker.questions import OpenedItem, Questions
from bot.loops.worker.typing_indicator import TypingIndicator
from bot.metrics import Counts
from bot.policy.access import is_admin
from bot.policy.routing import Question, Verdict
from bot.settings import Settings
from bot.transports.base import Progress, Transport
from bot.turn.agent import Agent
from bot.turn.approvals import Approvals
from bot.turn.group_context import GroupContext
from bot.turn.journal import Journal, Outcome, Pause, Turn
from bot.turn.links import inert
from bot.turn.multimodal import MultimodalAgent
from bot.turn.reactions import Reactions
from bot.turn.status import StatusMessages
from bot.turn.turns import Turns
from bot.turn.work import Work
from bot.unanswered import Unanswered
from store import Claim, ConversationId, InboxId, Repositories, Store, StoreError, TurnId
from tools import shorten

_log = logging.getLogger(__name__)

_CLAIM_MARGIN_SECONDS = 60.0
_PAUSE_SECONDS = 1.0
_SHOWN_QUESTION_CHARS = 200
_MAX_CLAIMS = 16
"""In one transaction: others want something from the store, too."""
_MAX_DEATHS = 10
"""Of processes, while a turn only waited and came no further: it cannot have killed them as far as anybody sees, but so
many are no chance."""
_MAX_BURIALS = 10
"""How often it is tried to tell that a turn was given up. Every process that is killed meanwhile counts, too."""


_Taken = tuple[tuple[Claim, ...], bool]
"""What was claimed, and whether more waits."""


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
        agent: MultimodalAgent | Agent,
        approvals: Approvals,
        urgent_items: UrgentItems,
        status_messages: StatusMessages,
        reactions: Reactions,
        group_context: GroupContext,
        settings: Settings,
        authority: Authority,
        on_kept: Callable[[Turn], None] = lambda _: None,
        greeting: Callable[[], str] | None = None,
    ) -> None:
        """`on_kept` is called with each turn that was answered and is remembered. `greeting` gives what people hear
        before the first answer in their own chat, in the language that is spoken; None: nothing.
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
        self._typing_indicator = TypingIndicator(transport)
        self._questions = Questions(
            transport,
            store,
            clock,
            self._unanswered,
            turns=turns,
            reactions=reactions,
            group_context=group_context,
            authority=authority,
            max_age_seconds=settings.intake.max_age,
        )
        self._work = Work(store)
        self._seen = InboxId(0)
        """The newest message that was looked at while it waited."""
        self._settings = settings
        self._authority = authority
        self._running: dict[ConversationId, asyncio.Task[None]] = {}
        self._people: Counter[bytes] = Counter()
        """How many turns of each person (a handle) are under way."""
        self._stopped: set[ConversationId] = set()
        self._forgotten: set[ConversationId] = set()
        self._told: set[ConversationId] = set()
        """Where the turn has its answer kept, and only puts away what is left of it."""
        self._is_closing = False
        self._is_looking = False
        """Whether it takes what waits by itself: then nothing is claimed as it arrives."""
        self._is_more_waiting = False
        """Whether something waits that could not be taken when last looked; then the end of a turn is worth a look."""
        self._ends = 0
        """How many turns have ended."""

    async def run(self) -> None:
        """Take turns until `drain` is called or the task is cancelled."""
        wakeup = self._store.wakeups["inbox"]
        try:
            async with (
                asyncio.TaskGroup() as group,
                self._store.following("inbox", self._claiming, lambda taken: self._on_arrival(group, taken)),
            ):
                while not self._is_closing:
                    wakeup.clear()
                    await self._look(group)
                    await wakeup.wait()
        finally:
            await self._reactions.aclose()

    def drain(self) -> None:
        """Take nothing new; `run` returns when the turns under way have ended."""
        self._is_closing = True
        self._store.wakeups["inbox"].set()

    def running_turns(self) -> set[str]:
        """The names of the turns under way."""
        return {task.get_name() for task in self._running.values()}

    def stoppable_turns(self) -> set[str]:
        """Those of them that have not come to their answer yet."""
        return {task.get_name() for place, task in self._running.items() if place not in self._told}

    def stop_turns(self) -> None:
        """Stop what is under way, as a person asks for it: each conversation hears that."""
        self._stopped |= self._running.keys()
        for task in self._running.values():
            task.cancel()

    def stop(self, conversation: ConversationId) -> bool:
        """Stop the conversation's turn, which then says so; gives whether there was one."""
        task = self._running.get(conversation)
        if task is None:
            return False
        self._stopped.add(conversation)
        task.cancel()
        return True

    def stop_turn(self, turn: TurnId) -> bool:
        """Stop this turn, which then says so; gives whether it ran."""
        tasks = self._running.items()
        return any(self.stop(place) for place, task in list(tasks) if task.get_name() == f"turn-{turn}")

    def halt(self, conversation: ConversationId, *, is_forgotten: bool = False) -> None:
        """Stop the conversation's turn without a word, if there is one; `is_forgotten`: its journal is about to go."""
        task = self._running.get(conversation)
        if task is not None:
            if is_forgotten:
                self._forgotten.add(conversation)
            task.cancel()

    def halt_turn(self, turn: TurnId) -> None:
        """Stop this turn without a word, if it runs."""
        for task in self._running.values():
            if task.get_name() == f"turn-{turn}":
                task.cancel()

    async def _look(self, group: asyncio.TaskGroup) -> None:
        """Begin once whatever waits and may begin."""
        try:
            await self._urgent_items.begin_all(self, group)
            await self._take_all(group)
            if self._is_more_waiting and self._reactions.are_wanted:
                await self._mark_waiting()
        except StoreError as error:
            _log.error("the inbox cannot be read: %s", error)
            await asyncio.sleep(_PAUSE_SECONDS)
            self._store.wakeups["inbox"].set()

    async def _mark_waiting(self) -> None:
        """Messages that wait behind others are marked, too, each once."""
        for urgent_item in await self._store.read(lambda repos: repos.inbox.waiting_after(self._seen)):
            item = urgent_item.item
            self._seen = InboxId(max(self._seen, item.id))
            opened = await self._questions.open(urgent_item.conversation, item)
            if opened is None or item.refusal is not None or opened.envelope.kind is not Kind.MESSAGE:
                continue
            if isinstance(opened.route, Question):
                self._reactions.put((opened.route.message,), may_stand=item.received_at < self._began_at)

    async def _take_all(self, group: asyncio.TaskGroup) -> None:
        self._is_looking = True
        try:
            while (most := self._room()) > 0:
                if await self._take_some(group, most) < most:
                    return
            self._is_more_waiting = True
        finally:
            self._is_looking = False

    async def _take_some(self, group: asyncio.TaskGroup, most: int) -> int:
        """Take what waits in at most so many conversations; gives in how many something was taken."""
        ends = self._ends
        claims, self._is_more_waiting = await self._store.transaction(lambda repos: self._claim(repos, most))
        if self._is_more_waiting and self._ends != ends:
            # It may wait for a turn that has ended since: nobody else would look again.
            self._store.wakeups["inbox"].set()
        self._begin(group, claims)
        return len(claims)

    def _room(self) -> int:
        """In how many conversations more something may be taken at once."""
        return min(self._settings.worker.conversations_at_once - len(self._running), _MAX_CLAIMS)

    def _claiming(self) -> Callable[[Repositories], _Taken | None] | None:
        """Takes what arrives in the commit that writes it down; None: what waits is looked at by `_look`."""
        most = self._room()
        if self._is_closing or self._is_looking or most <= 0:
            return None

        def claim(repos: Repositories) -> _Taken | None:
            # What is urgent comes before anything else of its conversation.
            return None if repos.inbox.has_urgent() else self._claim(repos, most)

        return claim

    def _claim(self, repos: Repositories, most: int) -> _Taken:
        """Take what waits, on the store's thread: there each commit knows what the one before has taken."""
        busy = {*self._running, *self._urgent_items.conversations}
        people = self._people.copy()
        busy_people = [person for person, turns in people.items() if turns >= self._settings.limits.turns_at_once]
        seconds = self._settings.worker.turn_timeout_seconds + _CLAIM_MARGIN_SECONDS
        return self._turns.claim(repos, busy=busy, seconds=seconds, most=most, busy_people=busy_people)

    def _on_arrival(self, group: asyncio.TaskGroup, taken: _Taken) -> None:
        """Something was taken as it arrived."""
        claims, self._is_more_waiting = taken
        if self._is_more_waiting:
            self._store.wakeups["inbox"].set()
        self._begin(group, claims)

    def _begin(self, group: asyncio.TaskGroup, claims: Iterable[Claim]) -> None:
        for claim in claims:
            task = group.create_task(self._see_through(claim), name=f"turn-{claim.turn}")
            self._running[claim.conversation] = task
            self._people[claim.items[0].author] += 1
            task.add_done_callback(lambda _, claim=claim: self._ended(claim))

    def _ended(self, claim: Claim) -> None:
        self._running.pop(claim.conversation, None)
        self._people -= Counter([claim.items[0].author])  # drops whoever has none left
        self._stopped.discard(claim.conversation)
        self._forgotten.discard(claim.conversation)
        self._told.discard(claim.conversation)
        self._ends += 1
        if self._is_more_waiting:
            self._store.wakeups["inbox"].set()

    async def _see_through(self, claim: Claim) -> None:
        """One claim to its end; raises nothing but cancellation."""
        try:
            async with self._work.on(claim.turn, is_suspect=claim.attempt > 1):
                opened = await self._questions.open_all(claim)
                await self._served(claim, opened)
            await self._discard_files(opened)
        except asyncio.CancelledError:
            await self._handed_back(claim, counts=False)
            raise
        except Exception as error:  # noqa: BLE001  (one turn's failure must not end the others)
            self._counts.add("turns_failed")
            _log.error("turn %d failed (try %d): %s", claim.turn, claim.attempt, describe_error(error))
            await asyncio.sleep(_PAUSE_SECONDS)
            await self._handed_back(claim, counts=True)

    async def _discard_files(self, opened: Iterable[OpenedItem]) -> None:
        """What came with the messages is read, or nobody will: the bridge need not have it any more."""
        for one in opened:
            message = one.event.message if isinstance(one.event, Edited) else one.event
            for attachment in message.attachments if isinstance(message, Incoming) else ():
                await self._transport.discard(attachment)

    async def _handed_back(self, claim: Claim, *, counts: bool) -> None:
        try:
            await self._store.transaction(lambda repos: repos.inbox.hand_back(claim.turn, counts=counts))
        except StoreError as error:
            # Maintenance finds the claim when its deadline has passed.
            _log.error("turn %d could not be handed back: %s", claim.turn, error)

    async def _served(self, claim: Claim, opened: tuple[OpenedItem, ...]) -> None:
        if self._is_over(claim, _MAX_BURIALS) or len(opened) < len(claim.items):
            _log.error("turn %d cannot be read and is given up", claim.turn)
            await self._turns.discard(claim)
            return
        opened = await self._undecided(claim, opened)
        asked = await self._questions.to_answer(claim, opened)
        if not asked:
            await self._turns.ignore(claim)
            return
        messages = tuple(found.message for found in asked)
        incoming = tuple(found.message for found in asked if found.excuse is None)
        turn = await self._turns.load(claim, incoming or messages)
        if await self._turns.is_paused(claim, turn):
            self._reactions.take_off(messages)  # they may have been marked while they waited
            for _ in messages:
                self._unanswered.note("paused")
            return
        notes = tuple(dict.fromkeys(found.excuse for found in asked if found.excuse is not None))
        if incoming:
            if self._greeting is not None:
                await self._turns.greet(turn, self._greeting())
            marked = tuple(found.message for found in asked if found.excuse is None and found.is_marked)
            is_from_before = claim.items[0].received_at < self._began_at
            self._reactions.put(marked, may_stand=not claim.is_new or is_from_before)
            try:
                await self._answered(claim, turn, notes, said_before=int(any(found.is_bare for found in asked)))
            finally:
                self._reactions.take_off(marked)
        else:
            # Of one that waited, or was begun before a restart, something may be paid.
            await self._turns.keep(turn, self._turns.journal(turn).failure("\n\n".join(map(say, notes))))
            self._counts.add("turns_refused")
            self._reactions.take_off(messages)

    def _is_over(self, claim: Claim, more: int = 0) -> bool:
        """Whether it was tried as often as it may be, and so many times more."""
        return claim.attempt > self._settings.worker.max_attempts + more or claim.deaths > _MAX_DEATHS + more

    async def _undecided(self, claim: Claim, opened: Iterable[OpenedItem]) -> tuple[OpenedItem, ...]:
        """What is left of a claim without each yes or no that a turn waits for; then that is done."""
        left: list[OpenedItem] = []
        for one in opened:
            follows = any(before.envelope.author == one.envelope.author for before in left)
            if not isinstance(one.route, Verdict) or not await self._approvals.decide(
                claim.conversation,
                one.route,
                is_admin=is_admin(one.envelope, self._authority.allowed),
                item=one.item.id,
                follows=follows,
            ):
                left.append(one)
        return tuple(left)

    async def _answered(self, claim: Claim, turn: Turn, notes: tuple[Sentence, ...], *, said_before: int) -> None:
        """The messages that are to be answered; `notes` say why others with them are not.

        `said_before`: so many messages of others they are about in any case.
        """
        turn = replace(turn, talk=self._group_context.talk(turn.chat, at_least=said_before))
        if self._is_over(claim):
            self._counts.add("turns_buried")
            _log.error("turn %d was tried %d times and is given up", claim.turn, claim.attempt - 1 + claim.deaths)
            await self._turns.bury(turn)
            return
        async with self._typing_indicator.show(turn.chat):
            outcome = await self._outcome(turn)
            if isinstance(outcome, Pause):
                until = self._clock.now() + timedelta(seconds=self._settings.approvals.timeout)
                await self._turns.pause(turn, outcome, until=until)
                self._counts.add("turns_paused")
                self._note_seconds(claim, "paused")
                return
            texts = (outcome.text, *map(say, notes))
            told = replace(outcome, text="\n\n".join([*_asked_for(turn), *texts]))
            # Before the indicator is taken away: a bridge that is slow to do that must not hold the answer back.
            is_kept = await self._turns.keep(turn, told)
            self._told.add(claim.conversation)
        if is_kept:
            self._note_seconds(claim, "answered" if outcome.ok else "failed")
            self._counts.add("turns_answered" if outcome.ok else "turns_answered_with_failure")
        if is_kept and outcome.messages:
            self._on_kept(turn)
        if is_kept and outcome.ok:
            self._group_context.on_answer(turn.talk)

    def _note_seconds(self, claim: Claim, outcome: str) -> None:
        """How long the oldest of the messages has waited for this."""
        waited = self._clock.now() - min(item.received_at for item in claim.items)
        self._counts.observe("turn_seconds", waited.total_seconds(), outcome=outcome)

    async def _outcome(self, turn: Turn) -> Outcome | Pause:
        """What the agent comes to, or what is said when it was stopped or took too long."""
        journal, seconds = self._turns.journal(turn), self._settings.worker.turn_timeout_seconds
        try:
            async with asyncio.timeout(seconds), self._status_messages.show(turn) as showing:

                async def on_progress(progress: Progress) -> None:
                    showing.watch(progress)
                    await self._transport.progress(turn.chat, progress)

                return await self._agent.answer(turn, journal, on_progress, showing.on_text)
        except TimeoutError:
            return journal.failure(say(phrases.TOOK_TOO_LONG))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or turn.conversation not in self._stopped:
                await self._charge_broken_off(turn, journal)
                raise
            task.uncancel()
            return journal.failure(say(phrases.STOPPED))

    async def _charge_broken_off(self, turn: Turn, journal: Journal) -> None:
        try:
            await self._turns.charge_broken_off(turn, journal, is_forgotten=turn.conversation in self._forgotten)
        except StoreError as error:
            _log.error("what turn %d has cost could not be written down: %s", turn.id, error)


def _asked_for(turn: Turn) -> Sequence[str]:
    """What stands above the answer to what was planned to be asked now: nobody has just written it."""
    if not turn.is_unattended:
        return ()
    questions = (
        message.text if message.scheduled is None or message.scheduled.is_own else inert(message.text)
        for message in turn.incoming
    )
    shown = (shorten(" ".join(question.split()), _SHOWN_QUESTION_CHARS) for question in questions)
    return [say(phrases.REMINDER, text=text) for text in shown]
