"""Errands: what is urgent and no question: deletions, edits, a yes or no, commands. Carried out as they arrived.

They may be about the very turn that runs in their conversation, so they do not wait for it. Each is settled in the
transaction that carries it out. Left to others: what each does (`bot.turn.revisions`, `bot.turn.approvals`,
`bot.commands`), when they are looked for (`bot.loops.worker`).
"""

import logging
from dataclasses import dataclass

from bot import events
from bot.commands.base import Call, Commands, Running
from bot.events import Deleted, Envelope
from bot.logs import described
from bot.metrics import Counts
from bot.policy.access import AccessList, is_admin
from bot.policy.routing import Command, Correction, Halt, Question, Talk, Verdict, Withdrawal, route
from bot.transports.base import Transport
from bot.turn.approvals import Approvals
from bot.turn.overheard import Overheard
from bot.turn.revisions import Revisions
from bot.turn.turns import Turns
from store import ConversationId, Errand, Shelves, Store, StoreError, TurnId

_log = logging.getLogger(__name__)

_MOST_TRIES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """What is decided by."""

    name: str
    """What Aldis is called in groups."""
    allowed: AccessList
    """Who is an admin."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """What a reaction wants to be stopped."""

    turn: TurnId | None
    message: Deleted | None
    """The message as it would be taken back, where it still waits for its answer."""
    is_own: bool
    """Whether it is a message, or the answer to one, of whoever reacted."""


class Errands:
    """All that is urgent."""

    def __init__(
        self,
        transport: Transport,
        store: Store,
        counts: Counts,
        *,
        turns: Turns,
        revisions: Revisions,
        approvals: Approvals,
        commands: Commands,
        overheard: Overheard,
        judgement: Judgement,
    ) -> None:
        self._transport = transport
        self._store = store
        self._bell = store.bells["errands"]
        self._bell.set()  # something may be left from before
        self._counts = counts
        self._turns = turns
        self._revisions = revisions
        self._approvals = approvals
        self._commands = commands
        self._overheard = overheard
        self._judgement = judgement

    async def attend_all(self, running: Running) -> None:
        """Carry out what waits, in the order in which it came; nothing when nothing urgent has come since.

        Raises:
            StoreError: nothing can be written; try again later.
        """
        if not self._bell.is_set():
            return
        self._bell.clear()
        try:
            while errands := await self._turns.errands():
                for errand in errands:
                    await self._attend(errand, running)
        except StoreError:
            self._bell.set()
            raise

    async def _attend(self, errand: Errand, running: Running) -> None:
        """One item to its end; one that fails again and again is given up."""
        try:
            await self._carry_out(errand, running)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001  (one item's failure must not end the others)
            _log.error("item %d failed (try %d): %s", errand.item.id, errand.item.attempts, described(error))
            if errand.item.attempts >= _MOST_TRIES:
                await self._turns.settle(errand.item.id, dead=True)
            else:
                await self._turns.tried(errand.item.id)

    async def _carry_out(self, errand: Errand, running: Running) -> None:
        envelope = events.loaded(Envelope, errand.item.envelope)
        by_admin = is_admin(envelope, self._judgement.allowed)
        settings = await self._turns.settings(errand.conversation)
        event = self._transport.event(envelope)
        match route(event, name=self._judgement.name, answers_always=settings.answers_always):
            case Withdrawal(deletion=deletion):
                self._overheard.take_back(deletion.chat, deletion.author, deletion.target)
                _halt(running, await self._revisions.withdraw(errand, deletion))
            case Correction() as correction:
                self._correct_talk(correction)
                _halt(running, await self._revisions.correct(errand, correction))
            case Command() as command:
                self._forget_talk(command)
                keeps_house = by_admin or not self._judgement.allowed.admins
                call = Call(errand=errand, command=command, is_admin=by_admin, keeps_house=keeps_house, running=running)
                await self._commands.run(call)
            case Halt() as halt:
                await self._stop(errand, halt, running, by_admin=by_admin)
            case Verdict() as verdict:
                item = errand.item.id
                if not await self._approvals.decide(errand.conversation, verdict, is_admin=by_admin, item=item):
                    await self._turns.settle(item)
            case Question():
                await self._turns.ask(errand.item.id)
            case Talk(message=message, reason=reason):
                self._counts.add(f"ignored_{reason}")
                self._overheard.hear(message, expires_at=errand.item.expires_at)
                await self._turns.settle(errand.item.id)
            case ignored:
                self._counts.add(f"ignored_{ignored.reason}")
                await self._turns.settle(errand.item.id)

    async def _stop(self, errand: Errand, halt: Halt, running: Running, *, by_admin: bool) -> None:
        """Stop what the reaction is about, if whoever reacted may: it is theirs, or they are an admin."""
        found = await self._store.read(lambda shelves: _found(shelves, errand.conversation, halt))
        if found.turn is not None and (by_admin or found.is_own) and running.stop_turn(found.turn):
            # The turn itself says that it was stopped.
            await self._turns.settle(errand.item.id)
        elif found.message is not None and (by_admin or found.is_own):
            _halt(running, await self._revisions.withdraw(errand, found.message))
        else:
            await self._turns.settle(errand.item.id)

    def _correct_talk(self, correction: Correction) -> None:
        message = correction.edit.message
        if correction.is_addressed:
            self._overheard.take_back(message.chat, message.author, correction.edit.target)
        else:
            self._overheard.correct(correction.edit.target, message)

    def _forget_talk(self, command: Command) -> None:
        """What is to be forgotten goes here, too; for nothing of it stands in the store."""
        if command.name == "forget":
            self._overheard.forget(command.message.chat)
            if command.rest:
                self._overheard.forget_person(command.message.author)


def _halt(running: Running, turn: TurnId | None) -> None:
    if turn is not None:
        running.halt_turn(turn)


def _found(shelves: Shelves, conversation: ConversationId, halt: Halt) -> _Found:
    author = halt.target_author
    known = None if author is None else shelves.inbox.find(conversation, author, halt.target)
    if known is None or author is None:
        turn, message = shelves.outbox.turn_of(conversation, halt.target), None
    else:
        turn = known.turn
        message = Deleted(author=author, chat=halt.chat, target=halt.target) if known.is_open else None
    is_asker = turn is not None and shelves.inbox.is_asker(turn, halt.author)
    return _Found(turn=turn, message=message, is_own=halt.author == author or is_asker)
