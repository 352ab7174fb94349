"""Errands: what is urgent and no question: deletions, edits, a yes or no, commands. Carried out as they arrived.

They may be about the very turn that runs in their conversation, so they do not wait for it. Each is settled in the
transaction that carries it out. Left to others: what each does (`bot.turn.revisions`, `bot.turn.approvals`,
`bot.commands`), when they are looked for (`bot.loops.worker`).
"""

import logging
from dataclasses import dataclass

from bot import events
from bot.commands.base import Call, Commands, Running
from bot.events import Envelope
from bot.logs import described
from bot.metrics import Counts
from bot.policy.access import AccessList, is_admin
from bot.policy.routing import Command, Correction, Question, Verdict, Withdrawal, route
from bot.transports.base import Transport
from bot.turn.approvals import Approvals
from bot.turn.revisions import Revisions
from bot.turn.turns import Turns
from store import Errand, Store, StoreError, TurnId

_log = logging.getLogger(__name__)

_MOST_TRIES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """What is decided by."""

    name: str
    """What Aldis is called in groups."""
    allowed: AccessList
    """Who is an admin."""


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
        judgement: Judgement,
    ) -> None:
        self._transport = transport
        self._bell = store.bells["errands"]
        self._bell.set()  # something may be left from before
        self._counts = counts
        self._turns = turns
        self._revisions = revisions
        self._approvals = approvals
        self._commands = commands
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
        match route(self._transport.event(envelope), name=self._judgement.name):
            case Withdrawal(deletion=deletion):
                _halt(running, await self._revisions.withdraw(errand, deletion))
            case Correction() as correction:
                _halt(running, await self._revisions.correct(errand, correction))
            case Command() as command:
                await self._commands.run(Call(errand=errand, command=command, is_admin=by_admin, running=running))
            case Verdict() as verdict:
                item = errand.item.id
                if not await self._approvals.decide(errand.conversation, verdict, is_admin=by_admin, item=item):
                    await self._turns.settle(item)
            case Question():
                await self._turns.ask(errand.item.id)
            case ignored:
                self._counts.add(f"ignored_{ignored.reason}")
                await self._turns.settle(errand.item.id)


def _halt(running: Running, turn: TurnId | None) -> None:
    if turn is not None:
        running.halt_turn(turn)
