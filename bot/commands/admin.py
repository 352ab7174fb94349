"""The commands for admins: who may write besides those on the operator's list.

Left to others: the table (`bot.commands.base`), who is an admin (`bot.policy.access`).
"""

from bot import phrases
from bot.clock import Clock
from bot.commands.base import Call, Desk, Entry, WrongForm
from bot.policy.pairing import Pairing
from store import Shelves


class AdminCommands:
    """What admins may tell Aldis to do. `account` is the number that Aldis answers for."""

    def __init__(self, desk: Desk, clock: Clock, pairing: Pairing, *, account: str) -> None:
        self._desk = desk
        self._clock = clock
        self._pairing = pairing
        self._account = account

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Their lines in the table."""
        return (
            Entry(
                name="allow",
                form="/allow CODE",
                summary="lets in whoever was given this code.",
                run=self._allow,
                for_admins=True,
            ),
            Entry(
                name="deny",
                form="/deny LABEL",
                summary="takes that back; `/people` shows the labels.",
                run=self._deny,
                for_admins=True,
            ),
            Entry(
                name="people",
                form="/people",
                summary="shows who was let in by a code.",
                run=self._people,
                for_admins=True,
            ),
        )

    async def _allow(self, call: Call) -> None:
        code = call.command.rest
        if not code:
            raise WrongForm
        person = self._pairing.approve(code, self._clock.now())

        def allow(shelves: Shelves) -> str:
            if person is None:
                return phrases.UNKNOWN_CODE
            by, now = call.message.author, self._clock.now()
            shelves.people.allow(person, account=self._account, by=by, now=now)
            return phrases.let_in(shelves.people.label(person, account=self._account))

        await self._desk.answer(call, allow)

    async def _deny(self, call: Call) -> None:
        label = call.command.rest
        if not label:
            raise WrongForm

        def deny(shelves: Shelves) -> str:
            is_done = shelves.people.deny(label, account=self._account)
            return phrases.shut_out(label) if is_done else phrases.UNKNOWN_PERSON

        await self._desk.answer(call, deny)

    async def _people(self, call: Call) -> None:
        def told(shelves: Shelves) -> str:
            lines = [phrases.guest(found.label, found.at, found.by) for found in shelves.people.allowed()]
            return "\n".join(lines) or phrases.NOBODY_LET_IN

        await self._desk.answer(call, told)
