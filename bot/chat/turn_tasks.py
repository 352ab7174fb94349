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
from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from store import Claim, ConversationId, TurnId


class TurnStopped(Exception):
    """A person wants no answer from this turn any more."""


@dataclass(kw_only=True, slots=True)
class _Running:
    conversation: ConversationId
    person: bytes  # a handle
    task: asyncio.Task[bool]
    is_answering: bool = False
    is_answered: bool = False
    """Whether it has stored its answer and is only cleaning up."""
    is_halted: bool = False


class TurnTasks:
    """The running turns, at most one per conversation."""

    def __init__(self) -> None:
        self._running: dict[TurnId, _Running] = {}
        self._stopped: set[TurnId] = set()

    def __len__(self) -> int:
        return len(self._running)

    @property
    def conversations(self) -> set[ConversationId]:
        """The conversations with a running turn; safe to read on the store's thread."""
        return {one.conversation for one in tuple(self._running.values())}

    def people(self, *, least: int) -> list[bytes]:
        """The people (handles) with at least this many running turns; safe to read on the store's thread."""
        turns = Counter([one.person for one in tuple(self._running.values())])
        return [person for person, count in turns.items() if count >= least]

    def turn_of(self, conversation: ConversationId) -> TurnId | None:
        """The conversation's running turn; None if it has none."""
        return next((turn for turn, one in self._running.items() if one.conversation == conversation), None)

    def stoppable(self) -> set[TurnId]:
        """The running turns that have not stored their answer yet."""
        return {turn for turn, one in self._running.items() if not one.is_answered}

    def add(self, claim: Claim, task: asyncio.Task[bool]) -> None:
        """Records the task that sees a claim through."""
        person = claim.items[0].author
        self._running[claim.turn] = _Running(conversation=claim.conversation, person=person, task=task)

    def remove(self, claim: Claim, *, is_tried_again: bool) -> None:
        """Forgets the task of a claim; if the turn is tried again, that it was stopped still holds then."""
        self._running.pop(claim.turn, None)
        if not is_tried_again:
            self._stopped.discard(claim.turn)

    @contextmanager
    def answering(self, turn: TurnId) -> Generator[None]:
        """Surrounds the agent's work on this task's turn; raises `TurnStopped` if a stop interrupts or precedes it."""
        if turn in self._stopped:
            raise TurnStopped
        one = self._running[turn]
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
            one.is_answering = False

    def on_answer(self, turn: TurnId) -> None:
        """Notes that the turn has stored its answer."""
        self._running[turn].is_answered = True

    def is_stopped(self, turn: TurnId) -> bool:
        """Whether a person has stopped the turn."""
        return turn in self._stopped

    def stop(self, turn: TurnId | None) -> bool:
        """Stops this turn (None: none), which then says so; returns whether it was running and can."""
        one = self._running.get(turn) if turn is not None else None
        if turn is None or one is None or one.is_halted:
            return False
        self._stopped.add(turn)
        if one.is_answering:
            one.task.cancel()
        return True

    def halt(self, turns: Collection[TurnId | None]) -> None:
        """Stops these turns silently, as far as they are running."""
        for turn, one in self._running.items():
            if turn in turns:
                one.is_halted = True
                one.task.cancel()
