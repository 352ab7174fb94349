"""Approvals: a turn that wants to do something waits until a person who is entitled to agrees.

    paused: the person is asked, the turn is put off --yes--> taken up: the calls run
                                   |                 |-no---> taken up: the model reads that they may not
                                   |                 '-time-> as no
                                   '-another question of the conversation-> the turn ends; nothing is done

The verdict applies to exactly the calls that were shown: the journal has them, with their arguments. It counts only
from the one who asked, or from an admin, in the same conversation.

    a reply that quotes the question, a thumb on it --> counts
    a word alone, from the asker
        one question is open, and nothing was said since --> counts
        one is open, but anything else was said since, by either side --> shown again
        several are open --> the person is asked which one
        it is an edit, or none existed yet when it came --> not a verdict
"""

from dataclasses import dataclass

from bot.access.routing import Verdict
from bot.chat import phrases
from bot.chat.steps import Decided, Paused, dump_step, journaled_steps
from bot.chat.turns import Turns
from bot.clock import Clock
from bot.events import Incoming
from bot.i18n.catalogues import say
from bot.i18n.language import use_language
from store import ConversationId, InboxId, Repositories, Store, TurnId


@dataclass(frozen=True, kw_only=True, slots=True)
class _Waiting:
    turn: TurnId
    asked: Paused
    position: int
    """The position of its journal's next step."""


class Approvals:
    """The verdicts that turns wait for."""

    def __init__(self, store: Store, clock: Clock, turns: Turns) -> None:
        self._store = store
        self._clock = clock
        self._turns = turns

    async def decide(
        self, conversation: ConversationId, verdict: Verdict, *, is_admin: bool, item: InboxId, follows: bool = False
    ) -> bool:
        """Accepts a verdict and settles its item if a turn waits for it; `follows`: its author asked more before it."""

        def accept(repos: Repositories) -> bool:
            if verdict.target is not None:
                is_one = self._quoted(repos, conversation, verdict, is_admin=is_admin)
            else:
                is_one = self._said(repos, conversation, verdict, item, follows=follows)
            if is_one:
                repos.inbox.settle(item)
            return is_one

        return await self._store.transaction(accept)

    def end_all(self, repos: Repositories, conversation: ConversationId) -> int:
        """Ends what waits for a verdict in the conversation, within a transaction; returns how many turns."""
        turns = repos.inbox.put_off_turns(conversation)
        for turn in turns:
            self._turns.end(repos, turn)
        return len(turns)

    def _quoted(self, repos: Repositories, conversation: ConversationId, verdict: Verdict, *, is_admin: bool) -> bool:
        """Accepts a verdict on a message of ours; returns whether a turn waits for one there."""
        place = None if verdict.target is None else repos.outbox.place_of(conversation, verdict.target)
        if place is None or place[0] not in repos.inbox.put_off_turns(conversation):
            return False
        turn, position = place
        one = _waiting(repos, conversation, turn)
        if one is None:
            return False
        may_say = is_admin or verdict.author in one.asked.people
        if may_say and position >= one.asked.position:
            self._decide(repos, conversation, one, verdict)
        elif may_say and verdict.instead is not None:  # they quote an earlier question of the turn
            self._show_again(repos, conversation, one, verdict.instead.message)
        return True

    def _said(
        self, repos: Repositories, conversation: ConversationId, verdict: Verdict, item: InboxId, *, follows: bool
    ) -> bool:
        """Accepts a word alone; returns whether it can mean any open question that its author could read before."""
        found = (_waiting(repos, conversation, turn) for turn in repos.inbox.put_off_turns(conversation))
        asked = [one for one in found if one is not None and verdict.author in one.asked.people]
        said = [(one, repos.outbox.said_since(conversation, one.turn, one.asked.position, item)) for one in asked]
        waiting = [(one, since) for one, since in said if since is not None]
        if not waiting or verdict.instead is None:
            return False
        message = verdict.instead.message
        one, since = waiting[0]
        if len(waiting) > 1:
            self._turns.tell(repos, conversation, message, phrases.WHICH_QUESTION)
        elif since.is_repeated:
            pass  # it crossed the question, which is the last thing they see
        elif follows or since.turns:  # it may answer that
            self._show_again(repos, conversation, one, message)
        else:
            self._decide(repos, conversation, one, verdict)
        return True

    def _show_again(self, repos: Repositories, conversation: ConversationId, one: _Waiting, message: Incoming) -> None:
        if not one.asked.question:
            self._turns.tell(repos, conversation, message, phrases.WHICH_QUESTION)
            return
        with use_language(self._turns.language(repos, conversation)):
            text = f"{say(phrases.STILL_OPEN)}\n\n{one.asked.question}"
        self._turns.tell(repos, conversation, message, text, turn=one.turn)

    def _decide(self, repos: Repositories, conversation: ConversationId, one: _Waiting, verdict: Verdict) -> None:
        """Records a verdict and lets the turn continue; what others wrote meanwhile is added, but has no say in it."""
        # An admin agrees once on behalf of others; only the sole asker can opt out of being asked again.
        allowance = one.asked.allowance if verdict.is_always and one.asked.people == (verdict.author,) else None
        if allowance is not None:
            repos.grants.allow(
                conversation, verdict.author, tool=allowance.tool, shape=allowance.shape, now=self._clock.now()
            )
        always = None if allowance is None else allowance.tool
        decided = Decided(call_ids=one.asked.call_ids, is_yes=verdict.is_yes, always=always)
        repos.journal.add(conversation, one.turn, one.position, dump_step(decided))
        repos.inbox.take_up(one.turn)


def _waiting(repos: Repositories, conversation: ConversationId, turn: TurnId) -> _Waiting | None:
    """A turn that was put off, with its last question; None if its journal is damaged: then it cannot go on."""
    steps = journaled_steps(repos, conversation, turn)
    if steps is None:
        return None
    asked = next(step for step in reversed(steps) if isinstance(step, Paused))
    return _Waiting(turn=turn, asked=asked, position=len(steps))
