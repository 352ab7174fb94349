"""Approvals: a turn that wants to do something waits until a person who may has agreed.

    paused: the person is asked, the turn is put off --yes--> taken up: the calls run
                                   |                 |-no---> taken up: the model is told that they may not
                                   |                 '-time-> as no
                                   '-another question of the conversation-> the turn ends; nothing is done

The word is bound to the very calls that were shown: they stand in the journal, with their arguments. It counts only
from somebody who asked, or from an admin, in the conversation where it was asked. Said without quoting the question it
counts from somebody who asked, while that is the last thing that was said to them; where they were asked several, they
are told to show which.
Left to others: which calls need a word (`bot.policy.trust`), asking and going on (`bot.turn.turns`, `bot.turn.agent`).
"""

from bot.clock import Clock
from bot.events import Incoming
from bot.policy.routing import Verdict
from bot.turn import journal, phrases
from bot.turn.journal import Decided, Paused
from bot.turn.turns import Turns
from store import ConversationId, InboxId, Repositories, Store, TurnId


class Approvals:
    """The words that turns wait for."""

    def __init__(self, store: Store, clock: Clock, turns: Turns) -> None:
        self._store = store
        self._clock = clock
        self._turns = turns

    async def decide(self, conversation: ConversationId, verdict: Verdict, *, is_admin: bool, item: InboxId) -> bool:
        """Take a word; gives whether it was one that a turn waits for. Then the item that it came in is settled."""

        def transact(repos: Repositories) -> bool:
            meant = _meant(repos, conversation, verdict, item)
            if not meant:
                return False
            if len(meant) > 1:
                if verdict.instead is not None:
                    self._turns.tell(repos, conversation, verdict.instead.message, phrases.WHICH_QUESTION)
                repos.inbox.settle(item)
                return True
            turn = next(iter(meant))
            # In a group an admin's word to somebody else is none to us.
            may_be_admins = is_admin and verdict.target is not None
            if self._written_down(repos, conversation, turn, verdict, is_admin=may_be_admins):
                repos.inbox.take_up(turn)
            elif verdict.target is None:
                return False
            repos.inbox.settle(item)
            return True

        return await self._store.transaction(transact)

    def end_all(self, repos: Repositories, conversation: ConversationId, message: Incoming) -> int:
        """What waits for a word in the conversation ends, within a transaction; gives how many turns that were."""
        turns = repos.inbox.put_off_turns(conversation)
        for turn in turns:
            self._turns.end(repos, conversation, turn, message)
        return len(turns)

    def _written_down(
        self, repos: Repositories, conversation: ConversationId, turn: TurnId, verdict: Verdict, *, is_admin: bool
    ) -> bool:
        """Write a word down, within a transaction, if it counts: gives whether it does.

        Who else wrote in the group meanwhile is taken up with the question, and has no say in it.
        """
        done = [journal.load_step(line) for line in repos.journal.steps(conversation, turn)]
        asked = next(step for step in reversed(done) if isinstance(step, Paused))
        if not (is_admin or verdict.author in asked.people):
            return False
        # An admin agrees for somebody else once; only whoever asked alone may spare themselves to be asked.
        allowance = asked.allowance if verdict.is_always and asked.people == (verdict.author,) else None
        if allowance is not None:
            repos.grants.allow(
                conversation, verdict.author, tool=allowance.tool, shape=allowance.shape, now=self._clock.now()
            )
        always = allowance.tool if allowance is not None else None
        decided = Decided(call_ids=asked.call_ids, is_yes=verdict.is_yes, always=always)
        repos.journal.add(conversation, turn, len(done), journal.dump_step(decided))
        return True


def _meant(repos: Repositories, conversation: ConversationId, verdict: Verdict, item: InboxId) -> tuple[TurnId, ...]:
    """The turns that may be meant, within a transaction; a word alone means what was asked last, and nothing where
    something else was said since: it would be taken for the answer to that.
    """
    waiting = repos.inbox.put_off_turns(conversation)
    if verdict.target is not None:
        turn = repos.outbox.turn_of(conversation, verdict.target)
        return (turn,) if turn is not None and turn in waiting else ()
    own = tuple(turn for turn in waiting if repos.inbox.is_asker(turn, verdict.author))
    return own if any(repos.outbox.was_last_before(turn, item) for turn in own) else ()
