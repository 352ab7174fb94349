"""Approvals: a turn that wants to do something waits until a person who may has agreed.

    paused: the person is asked, the turn is put off --yes--> taken up: the calls run
                                   |                 |-no---> taken up: the model is told that they may not
                                   |                 '-time-> as no
                                   '-another question of the conversation-> the turn ends; nothing is done

The word is bound to the very calls that were shown: they stand in the journal, with their arguments. It counts only
from somebody who asked, or from an admin, in the conversation where it was asked. Said without quoting the question it
counts while one question is open, from somebody who asked, if it came after that went out.
Left to others: which calls need a word (`bot.policy.trust`), asking and going on (`bot.turn.turns`, `bot.turn.agent`).
"""

from dataclasses import replace

from bot import phrases
from bot.clock import Clock
from bot.events import Incoming
from bot.policy.routing import Verdict
from bot.turn import steps
from bot.turn.steps import Decided, Paused
from bot.turn.turns import Turns
from store import Claim, ConversationId, InboxId, Shelves, Store, TurnId


class Approvals:
    """The words that turns wait for."""

    def __init__(self, store: Store, clock: Clock, turns: Turns) -> None:
        self._store = store
        self._clock = clock
        self._turns = turns

    async def decide(self, conversation: ConversationId, verdict: Verdict, *, is_admin: bool, item: InboxId) -> bool:
        """Take a word; gives whether it was one that a turn waits for. Then the item that it came in is settled."""

        def decide(shelves: Shelves) -> bool:
            turn = _meant(shelves, conversation, verdict, item)
            if turn is None:
                return False
            # In a group an admin's word to somebody else is none to us.
            may_be_admins = is_admin and verdict.target is not None
            if self._written_down(shelves, conversation, turn, verdict, is_admin=may_be_admins):
                shelves.inbox.take_up(turn)
            elif verdict.target is None:
                return False
            shelves.inbox.settle(item)
            return True

        return await self._store.transaction(decide)

    async def cancel(self, claim: Claim, message: Incoming) -> None:
        """Something else was asked: what waits for a word in the conversation ends, and the person is told."""
        if not claim.put_off:
            return

        def cancel(shelves: Shelves) -> None:
            if self.end_all(shelves, claim.conversation, message):
                self._turns.tell(shelves, claim.conversation, message, phrases.LEFT_UNDONE)

        await self._store.transaction(cancel)

    def end_all(self, shelves: Shelves, conversation: ConversationId, message: Incoming) -> int:
        """What waits for a word in the conversation ends, within a transaction; gives how many turns that were."""
        turns = shelves.inbox.put_off_turns(conversation)
        for turn in turns:
            self.end(shelves, conversation, turn, message)
        return len(turns)

    def _written_down(
        self, shelves: Shelves, conversation: ConversationId, turn: TurnId, verdict: Verdict, *, is_admin: bool
    ) -> bool:
        """Write a word down, within a transaction, if it counts: gives whether it does.

        Who else wrote in the group meanwhile is taken up with the question, and has no say in it.
        """
        done = [steps.loaded(line) for line in shelves.journal.steps(conversation, turn)]
        asked = next(step for step in reversed(done) if isinstance(step, Paused))
        if not (is_admin or verdict.author in asked.people):
            return False
        # An admin agrees for somebody else once; only whoever asked alone may spare themselves to be asked.
        allowance = asked.allowance if verdict.is_always and asked.people == (verdict.author,) else None
        if allowance is not None:
            shelves.grants.allow(
                conversation, verdict.author, tool=allowance.tool, shape=allowance.shape, now=self._clock.now()
            )
        always = allowance.tool if allowance is not None else None
        decided = Decided(call_ids=asked.call_ids, is_yes=verdict.is_yes, always=always)
        shelves.journal.add(conversation, turn, len(done), steps.dumped(decided))
        return True

    def end(self, shelves: Shelves, conversation: ConversationId, turn: TurnId, message: Incoming) -> None:
        """A turn ends without a word, within a transaction; what it has cost so far is written down."""
        done = tuple(steps.loaded(line) for line in shelves.journal.steps(conversation, turn))
        entries = tuple(replace(entry, details=None) for entry in steps.entries(steps.spent(done, "")))
        self._turns.charge(shelves, conversation, turn, entries, person=message.author, chat=message.chat)
        shelves.inbox.done(turn)
        shelves.journal.close(turn, "failed", now=self._clock.now())


def _meant(shelves: Shelves, conversation: ConversationId, verdict: Verdict, item: InboxId) -> TurnId | None:
    """The turn that waits for this word, within a transaction; None: none does."""
    waiting = shelves.inbox.put_off_turns(conversation)
    if verdict.target is not None:
        turn = shelves.outbox.turn_of(conversation, verdict.target)
        return turn if turn in waiting else None
    return waiting[0] if len(waiting) == 1 and shelves.outbox.went_out_before(waiting[0], item) else None
