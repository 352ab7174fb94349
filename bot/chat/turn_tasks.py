"""The tasks of the running turns: which conversations and people have one, and how one is stopped.

    stop --the agent is at work--> it is interrupted; the turn says so and ends
       |-before that-------------> the agent does not start; the turn says so and ends
       '-the answer is there-----> too late: the answer is kept
    halt -------------------------> the turn is cancelled wherever it is, and says nothing

A stop interrupts nothing but the agent. Anywhere else the turn would be handed back to the inbox, claimed again, and
answered in spite of it.
"""

import asyncio
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from store import Claim, ConversationId, TurnId


class TurnStopped(Exception):
    """A person wants no answer from this turn any more."""


@dataclass(kw_only=True, slots=True)
class _Running:
    turn: TurnId
    task: asyncio.Task[bool]
    is_answering: bool = False
    """Whether its agent is at work."""
    is_answered: bool = False
    """Whether it has stored its answer and is only cleaning up."""
    is_halted: bool = False


class TurnTasks:
    """The running turns, at most one per conversation."""

    def __init__(self) -> None:
        self._running: dict[ConversationId, _Running] = {}
        self._people: Counter[bytes] = Counter()
        """How many turns of each person (a handle) are running."""
        self._stopped: set[TurnId] = set()

    def __len__(self) -> int:
        """The number of running turns."""
        return len(self._running)

    @property
    def conversations(self) -> set[ConversationId]:
        """The conversations with a running turn; safe to read on the store's thread."""
        return {*self._running}

    def people(self, *, least: int) -> list[bytes]:
        """The people (handles) with at least this many running turns; safe to read on the store's thread."""
        return [person for person, turns in self._people.copy().items() if turns >= least]

    def turn_of(self, conversation: ConversationId) -> TurnId | None:
        """The conversation's running turn; None if it has none."""
        one = self._running.get(conversation)
        return None if one is None else one.turn

    def stoppable(self) -> set[TurnId]:
        """The running turns that have not stored their answer yet."""
        return {one.turn for one in self._running.values() if not one.is_answered}

    def add(self, claim: Claim, task: asyncio.Task[bool]) -> None:
        """Records the task that sees a claim through."""
        self._running[claim.conversation] = _Running(turn=claim.turn, task=task)
        self._people[claim.items[0].author] += 1

    def remove(self, claim: Claim, *, is_tried_again: bool) -> None:
        """Forgets the task of a claim; if the turn is tried again, that it was stopped still holds then."""
        self._running.pop(claim.conversation, None)
        self._people -= Counter([claim.items[0].author])  # drops people without any left
        if not is_tried_again:
            self._stopped.discard(claim.turn)

    @contextmanager
    def answering(self, turn: TurnId) -> Generator[None]:
        """Surrounds the agent's work on a turn of the current task, which a stop interrupts.

        Raises:
            TurnStopped: in place of the cancellation that stopped it, or at once if it was stopped before.
        """
        if turn in self._stopped:
            raise TurnStopped
        one = self._find(turn)
        if one is not None:
            one.is_answering = True
        try:
            yield
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or turn not in self._stopped:
                raise
            task.uncancel()
            raise TurnStopped from None
        finally:
            if one is not None:
                one.is_answering = False

    def on_answer(self, turn: TurnId) -> None:
        """Notes that the turn has stored its answer."""
        if (one := self._find(turn)) is not None:
            one.is_answered = True

    def stop_all(self) -> None:
        """Stops all running turns, as if people had asked for it: each conversation reads so."""
        for conversation in self.conversations:
            self.stop(conversation)

    def stop(self, conversation: ConversationId) -> bool:
        """Stops the conversation's turn, which then says so; returns whether there was one that can."""
        one = self._running.get(conversation)
        if one is None or one.is_halted:
            return False
        self._stopped.add(one.turn)
        if one.is_answering:
            one.task.cancel()
        return True

    def stop_turn(self, turn: TurnId) -> bool:
        """Stops this turn, which then says so; returns whether it was running."""
        places = [conversation for conversation, one in self._running.items() if one.turn == turn]
        return any(map(self.stop, places))

    def halt(self, conversation: ConversationId) -> None:
        """Stops the conversation's turn silently, if there is one."""
        if (one := self._running.get(conversation)) is not None:
            self.halt_turn(one.turn)

    def halt_turn(self, turn: TurnId) -> None:
        """Stops this turn silently, if it is running."""
        if (one := self._find(turn)) is not None:
            one.is_halted = True
            one.task.cancel()

    def _find(self, turn: TurnId) -> _Running | None:
        return next((one for one in self._running.values() if one.turn == turn), None)
