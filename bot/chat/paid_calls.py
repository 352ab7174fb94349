"""Paid calls: what is asked of models, services and tools for money. The store knows each from before it is asked until
its cost is recorded, so that not even a kill loses it.

    begin --killed--> what asking costs counts
     '-> note_cost --killed--> what it has cost counts
          '-> end: its cost is in the ledger, or in the journal under its step

Left to others: charging for what a killed process left (`bot.chat.charges`), and the costs themselves.
"""

from decimal import Decimal
from typing import Literal, Self

from bot.events import ChatId, PersonId
from bot.media.findings import Fee
from store import OpenCall, Store, TurnId

SUMMARY = "summary"
"""The step of a summary, which is paid after its turn has ended."""

_NOTHING = Decimal(0)
_MAX_STEP = 60


def step_name(text: str) -> str:
    """The text, such as an id, as the name of a step."""
    return text[:_MAX_STEP]


class PaidCall:
    """One call of a turn, or several in a row whose costs are recorded together. As a context it ends with it."""

    def __init__(self, store: Store, turn: TurnId, step: str, *, person: PersonId, chat: ChatId) -> None:
        """`step` is the name under which the turn's journal has it (`bot.chat.journal.paid_steps`); any other name, if
        its cost goes straight into the ledger. It is charged to the person and, if the chat is one, the group.
        """
        self._store = store
        self._turn = turn
        self._step = step_name(step)
        self._person = person
        self._chat = chat
        self._kind: Literal["model", "tool"] = "model"
        self._names = ("", "")
        self._place: int | None = None
        self._paid_usd = _NOTHING
        """For what has arrived."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self, cost_usd: Decimal | None, *, name: str, provider: str = "", is_tool: bool = False) -> None:
        """Notes that it is asked, and what that costs whatever comes of it; None or 0: nothing, as far as known."""
        self._kind, self._names = "tool" if is_tool else "model", (provider, name)
        if cost_usd:
            self._note(self._paid_usd + cost_usd)

    def begin_fee(self, fee: Fee) -> None:
        """The same, of a service that names its own fee."""
        self.begin(fee.cost_usd, name=fee.name, provider=fee.provider)

    def note_cost(self, cost_usd: Decimal | None) -> None:
        """Notes what it has cost; None: as much as asking."""
        if cost_usd is not None:
            self._paid_usd += cost_usd
            self._note(self._paid_usd)

    def end(self) -> None:
        """Notes that its cost is recorded."""
        self._paid_usd = _NOTHING
        if self._place is not None:
            self._store.working.close_call(self._place)
            self._place = None

    def _note(self, cost_usd: Decimal) -> None:
        provider, name = self._names
        call = OpenCall(
            turn=self._turn,
            kind=self._kind,
            person=self._store.handle_of(self._person),
            group=self._store.handle_of_chat(self._chat) if self._chat.is_group else b"",
            provider=provider,
            name=name,
            step=self._step,
            cost_usd=cost_usd,
        )
        if self._place is not None:
            self._store.working.update_call(self._place, call)
        elif cost_usd:
            self._place = self._store.working.open_call(call)
