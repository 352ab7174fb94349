"""Charges: writes what turns did and cost into the ledger, within a transaction of the caller.

    kept, or ended with a sentence ----> add          what its outcome lists
    paid beside it, by a tool ---------> add_for      the same
    broken off, or not to be kept -----> add_lost     the same, as answers that were lost
    given up, its person known --------> add_so_far   what its journal holds
    given up, found in the inbox ------> add_open     the same, for whoever asked last
    killed before a cost was recorded -> add_killed   what the call costs, as far as it was known then

Left to others: the rows themselves (`ledger_entries`), how much may be spent (`bot.chat.budget`).
"""

from dataclasses import replace

from bot.chat.journal import Outcome, Turn, failed_outcome, paid_steps
from bot.chat.ledger_entries import KILLED, ledger_entries, lost_entries
from bot.chat.paid_calls import SUMMARY
from bot.chat.steps import journaled_steps
from bot.clock import Clock
from bot.event_json import UnreadableEvent, load_envelope
from bot.events import ChatId, PersonId
from bot.money import budgets
from bot.money.budgets import Scope
from store import ConversationId, LedgerEntry, OpenCall, Repositories, StoreError, TurnId


class Charges:
    """The ledger, whose days and months are those of `timezone`."""

    def __init__(self, clock: Clock, *, timezone: str) -> None:
        self._clock = clock
        self._timezone = timezone

    def add(self, repos: Repositories, turn: Turn, outcome: Outcome, *, keeps_words: bool = True) -> None:
        """Records what a turn did and cost, for its person and, if it was asked in one, the group.

        `keeps_words`: with what tools were asked and answered.
        """
        self.add_for(
            repos, turn.conversation, turn.id, outcome, person=turn.person, chat=turn.chat, keeps_words=keeps_words
        )

    def add_for(
        self,
        repos: Repositories,
        conversation: ConversationId,
        turn: TurnId,
        outcome: Outcome,
        *,
        person: PersonId,
        chat: ChatId,
        keeps_words: bool = True,
    ) -> None:
        """Does the same as `add`, for this person and, if the chat is one, the group."""
        entries = ledger_entries(outcome)
        if not keeps_words:
            entries = tuple(replace(entry, details=None) for entry in entries)
        self._put(repos, conversation, turn, entries, person=person, chat=chat, warned=outcome.warned)

    def add_lost(self, repos: Repositories, turn: Turn, outcome: Outcome) -> None:
        """Records what a turn paid and could not keep, without any words."""
        self._put(repos, turn.conversation, turn.id, lost_entries(outcome), person=turn.person, chat=turn.chat)

    def _put(
        self,
        repos: Repositories,
        conversation: ConversationId,
        turn: TurnId,
        entries: tuple[LedgerEntry, ...],
        *,
        person: PersonId,
        chat: ChatId,
        warned: tuple[tuple[Scope, str], ...] = (),
    ) -> None:
        now = self._clock.settled_now()
        group = chat if chat.is_group else None
        periods = budgets.periods(now, self._timezone)
        repos.ledger.add(conversation, turn, person, entries, now=now, group=group, periods=periods, warned=warned)

    def add_so_far(
        self, repos: Repositories, conversation: ConversationId, turn: TurnId, *, person: PersonId, chat: ChatId
    ) -> None:
        """Records what the journal of an abandoned turn holds, without any words."""
        spent = failed_outcome(journaled_steps(repos, conversation, turn) or ())
        self.add_for(repos, conversation, turn, spent, person=person, chat=chat, keeps_words=False)

    def add_open(self, repos: Repositories, conversation: ConversationId, turn: TurnId) -> None:
        """Does the same as `add_so_far`, charging the last person whose message the turn was to answer."""
        asker = _last_asker(repos, conversation, turn)
        if asker is not None:
            self.add_so_far(repos, conversation, turn, person=asker[0], chat=asker[1])

    def add_killed(self, repos: Repositories, call: OpenCall) -> None:
        """Records a paid call whose cost the process had not recorded when it was killed."""
        turn = TurnId(call.turn)
        conversation = repos.turns.conversation(turn)
        if self._is_recorded(repos, conversation, call):
            return
        lost = LedgerEntry(
            kind=call.kind,
            name=call.name,
            outcome=KILLED,
            latency_seconds=0,
            provider=call.provider or None,
            cost_usd=call.cost_usd,
        )
        now = self._clock.settled_now()
        repos.ledger.add(
            conversation,
            turn,
            call.person,
            (lost,),
            now=now,
            group=call.group or None,
            periods=budgets.periods(now, self._timezone),
        )

    def _is_recorded(self, repos: Repositories, conversation: ConversationId | None, call: OpenCall) -> bool:
        """Whether the cost is recorded although the process had no time to note that."""
        turn = TurnId(call.turn)
        if conversation is None or call.step == SUMMARY:
            return False
        if repos.turns.end(turn) in {"kept", "failed"}:
            return True
        try:
            return call.step in paid_steps(journaled_steps(repos, conversation, turn) or ())
        except StoreError:
            return False


def _last_asker(repos: Repositories, conversation: ConversationId, turn: TurnId) -> tuple[PersonId, ChatId] | None:
    """Returns who asked last of what the turn is to answer, and where; None if that is answered, or cannot be read."""
    line = repos.inbox.last_open(conversation, turn)
    try:
        envelope = None if line is None else load_envelope(line)
    except UnreadableEvent:
        return None
    if envelope is None or envelope.author is None or envelope.chat is None:
        return None
    return envelope.author, envelope.chat
