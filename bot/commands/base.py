"""The table of commands: what each is called, the form it wants, who may give it, and what it does.

    /name rest --> known? --> may they? --> right form? --> done, answered and settled in one transaction

Left to others: what the commands do (`bot.commands.chat`, `bot.commands.admin`), what is a command at all
(`bot.policy.routing`).
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot import phrases
from bot.events import Incoming
from bot.policy.routing import Command
from bot.turn.turns import Turns
from store import ConversationId, Errand, Shelves, Store, TurnId


class Running(Protocol):
    """The turns under way."""

    def stop(self, conversation: ConversationId) -> bool:
        """Stop the conversation's turn, which then says so; gives whether there was one."""
        ...

    def halt(self, conversation: ConversationId) -> None:
        """Stop the conversation's turn without a word, if there is one."""
        ...

    def halt_turn(self, turn: TurnId) -> None:
        """Stop this turn without a word, if it runs."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A command as somebody gave it."""

    errand: Errand
    command: Command
    is_admin: bool
    running: Running

    @property
    def message(self) -> Incoming:
        """The message that it stood in."""
        return self.command.message

    @property
    def conversation(self) -> ConversationId:
        """Where it was given."""
        return self.errand.conversation


class WrongForm(ValueError):
    """The rest of a command is not as it has to be: the person is shown the right form."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One line of the table."""

    name: str
    form: str
    """The command with what may follow it: `/forget [everything]`."""
    summary: str
    """What it does, in one sentence for the help."""
    run: Callable[[Call], Awaitable[None]]
    """Do it, answer it and settle it. Raises `WrongForm`."""
    for_admins: bool = False


class Desk:
    """What commands work with: the store, and the way to answer."""

    def __init__(self, store: Store, turns: Turns) -> None:
        self.store = store
        self.turns = turns

    async def answer(self, call: Call, work: Callable[[Shelves], str]) -> None:
        """Do `work`, say what it gives, and settle the command: all of it or nothing."""

        def answered(shelves: Shelves) -> None:
            self.say(shelves, call, call.conversation, work(shelves))

        await self.store.transaction(answered)

    def say(self, shelves: Shelves, call: Call, conversation: ConversationId, text: str) -> None:
        """Answer and settle the command within a transaction; `conversation` is where that is by now."""
        self.turns.tell(shelves, conversation, call.message, text)
        shelves.inbox.settle(call.errand.item.id)


class Commands:
    """All commands that there are: those given, and the help on them."""

    def __init__(self, desk: Desk, entries: Sequence[Entry]) -> None:
        self._desk = desk
        about = Entry(name="help", form="/help", summary="shows these lines.", run=self._help)
        self._entries = {entry.name: entry for entry in (about, *entries)}

    async def run(self, call: Call) -> None:
        """Carry a command out and answer it. One that nobody meant for Aldis is passed over.

        Raises:
            StoreError: nothing was done; try again.
        """
        entry = self._entries.get(call.command.name)
        if entry is None or (entry.for_admins and not call.is_admin):
            await self._refuse(call)
            return
        try:
            await entry.run(call)
        except WrongForm:
            await self._desk.answer(call, lambda _: phrases.wrong_form(entry.form))

    async def _help(self, call: Call) -> None:
        """A line for each command that the person may give."""
        entries = [entry for entry in self._entries.values() if call.is_admin or not entry.for_admins]
        lines = [f"- `{entry.form}`: {entry.summary}" for entry in entries]
        await self._desk.answer(call, lambda _: "\n".join([phrases.HELP, "", *lines]))

    async def _refuse(self, call: Call) -> None:
        """An admin's command looks to everybody else like one that does not exist."""
        if call.command.is_addressed:
            await self._desk.answer(call, lambda _: phrases.unknown_command(call.command.name))
        else:
            await self._desk.store.transaction(lambda shelves: shelves.inbox.settle(call.errand.item.id))
