"""Charges: writes what turns did and cost into the ledger, within a transaction of the caller.

    kept, or ended with a sentence ----> add          what its outcome lists
    given up, its person known --------> add_so_far   what its journal holds
    given up, found in the inbox ------> add_open     the same, for whoever asked last
    killed while a model was asked ----> add_killed   what the question costs, for whoever asked last

Left to others: the rows themselves (`ledger_entries`), how much may be spent (`bot.turn.budget`).
"""

from bot import events
from bot.clock import Clock
from bot.events import ChatId, Envelope, PersonId, UnreadableEvent
from bot.policy import budgets
from bot.providers.base import Attempt
from bot.turn import journal
from bot.turn.ledger_entries import KILLED, ledger_entries, without_words
from store import ConversationId, LedgerEntry, OpenCall, Repositories, TurnId


class Charges:
    """The ledger, whose days and months are those of `timezone`."""

    def __init__(self, clock: Clock, *, timezone: str) -> None:
        self._clock = clock
        self._timezone = timezone

    def add(
        self,
        repos: Repositories,
        conversation: ConversationId,
        turn: TurnId,
        entries: tuple[LedgerEntry, ...],
        *,
        person: PersonId,
        chat: ChatId,
        warned: tuple[tuple[budgets.Scope, str], ...] = (),
    ) -> None:
        """Records what a turn did and cost, for this person and, if the chat is one, the group.

        `warned` are the budgets, by scope and period, that people were told are nearly used up.
        """
        now = self._clock.settled_now()
        group = chat if chat.is_group else None
        periods = budgets.periods(now, self._timezone)
        repos.ledger.add(conversation, turn, person, entries, now=now, group=group, periods=periods, warned=warned)

    def add_so_far(
        self, repos: Repositories, conversation: ConversationId, turn: TurnId, *, person: PersonId, chat: ChatId
    ) -> None:
        """Records what the journal of an abandoned turn holds, without any words."""
        done = map(journal.load_step, repos.journal.steps(conversation, turn))
        spent = without_words(ledger_entries(journal.failed_outcome(done, "")))
        self.add(repos, conversation, turn, spent, person=person, chat=chat)

    def add_open(self, repos: Repositories, conversation: ConversationId, turn: TurnId) -> None:
        """Does the same as `add_so_far`, charging the last person whose message the turn was to answer."""
        asker = _last_asker(repos, conversation, turn)
        if asker is not None:
            self.add_so_far(repos, conversation, turn, person=asker[0], chat=asker[1])

    def add_killed(self, repos: Repositories, call: OpenCall) -> None:
        """Records what a question to a model costs during which the process was killed; nothing if it is gone."""
        turn = TurnId(call.turn)
        conversation = repos.journal.conversation(turn)
        asker = None if conversation is None else _last_asker(repos, conversation, turn)
        if conversation is None or asker is None:
            return
        lost = Attempt(
            provider=call.provider, model=call.model, error=KILLED, latency_seconds=0, cost_usd=call.cost_usd
        )
        spent = ledger_entries(journal.Outcome(text="", ok=False, failures=(lost,)))
        self.add(repos, conversation, turn, spent, person=asker[0], chat=asker[1])


def _last_asker(repos: Repositories, conversation: ConversationId, turn: TurnId) -> tuple[PersonId, ChatId] | None:
    """Who asked last of what the turn is to answer, and where; None if that is answered, or cannot be read."""
    line = repos.inbox.last_open(conversation, turn)
    try:
        envelope = None if line is None else events.load_value(Envelope, line)
    except UnreadableEvent:
        return None
    if envelope is None or envelope.author is None or envelope.chat is None:
        return None
    return envelope.author, envelope.chat
