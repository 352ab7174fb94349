"""Watchdog: checks that Aldis still hears and works, and warns the operator and the admins if not.

    every 20 s      is the stream open, and does anything arrive on it, at least keep-alives? does the bridge still have
                    the account? ------------------------------------------------------------------------------> health
    every minute    the disk, models' refusals, whether anything is heard ----.
    every 6 hours   the bridge's age, models, speech, pictures, searches -----> findings --> the health page
                                                                                         '--> the admins, once each

An Aldis that went deaf looks healthy: nothing fails, and no message is answered. Everything is bounded in time and asks
no model. Left to others: showing the problems (`bot.web.health`), the checks (`bot.doctor`), telling admins
(`bot.chat.notices`).
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from bot.chat.captchas import PAGE
from bot.chat.notices import Notice, Notices
from bot.clock import again_and_again
from bot.doctor.findings import Finding, wanting
from bot.errors import Disconnected
from bot.invocation import command_line
from bot.signal.protocol import Contact, Identities, Receipts, Transport

_log = logging.getLogger(__name__)

CLOSED = "the stream of messages is not open"
SILENT = "the stream of messages is open, but nothing comes over it, not even a keep-alive"
UNLINKED = f"the bridge to Signal no longer has the account; link it again with: {command_line('link')}"
UNREACHABLE = "the bridge to Signal does not say whether it still has the account"
CAPTCHA = (
    f"Signal wants a captcha solved before it sends more: solve one at {PAGE}, copy the "
    f"link of “Open Signal”, and run: {command_line('captcha LINK')}"
)

SILENCE_SECONDS = 180.0
"""Many times the longest pause between two signs of life: either bridge is asked for one at least every 15 s."""
DEAF_SECONDS = 600.0
"""When admins hear of it: a bridge that restarts takes a minute or two."""
_TROUBLED_SECONDS = 3.0
"""The same while a problem lasts: its end, such as that of a restart of the bridge, is noticed soon."""


@dataclass
class Watchdog:
    """The loops that watch the stream, and check what the doctor can check for free."""

    look_seconds = 20.0
    """So that an account that is no longer linked is noticed within half a minute."""
    check_seconds = 60.0
    first_seconds = 300.0
    """After a start: people waiting for answers go first, and an Aldis that keeps restarting asks no server."""
    ask_seconds = 6 * 3600.0

    transport: Transport
    notices: Notices
    check: Callable[[], Iterable[Finding]]
    """Is quick and asks no server."""
    ask_servers: Callable[[], Awaitable[Sequence[Finding]]]
    """Ends in time by itself, as each check does."""
    contacts: Callable[[], Awaitable[Sequence[Contact] | None]]
    """Returns None if the bridge is silent."""
    seconds: Callable[[], float] = time.monotonic
    """The clock of the stream's `heard_at`."""

    def __post_init__(self) -> None:
        self.is_linked: bool | None = None
        """Whether the bridge had the account when last asked; None if it has not said yet."""
        self._deaf_since: float | None = None
        """Since when nothing is heard although the bridge answers; None: all is well, or nothing goes out either."""
        self._linked_problem: str | None = None
        self._reported: tuple[str, ...] = ()
        self._asked: tuple[Finding, ...] | None = None
        """What was found when the servers were last asked; None: they have not been yet."""

    async def run(self) -> None:
        """Checks for ever; ends only by cancellation."""

        def until_look() -> float:
            return min(self.look_seconds, _TROUBLED_SECONDS) if self.problems() else self.look_seconds

        def until_ask() -> float:
            return self.first_seconds if self._asked is None else self.ask_seconds

        async with asyncio.TaskGroup() as group:
            group.create_task(again_and_again(self.look, until_look, _log, "the watchdog"))
            group.create_task(again_and_again(self.ask, until_ask, _log, "checking the servers"))
            group.create_task(again_and_again(self.tell, lambda: self.check_seconds, _log, "notifying the admins"))

    async def look(self) -> None:
        """Checks once, and logs which problems began and ended since the last time."""
        if isinstance(self.transport, Identities):
            try:
                self.is_linked = await self.transport.is_linked()
                self._linked_problem = None if self.is_linked else UNLINKED
            except Disconnected:
                self._linked_problem = UNREACHABLE
        problems = self.problems()
        can_send = self._linked_problem is None and self.is_linked is True
        is_deaf = can_send and not {CLOSED, SILENT}.isdisjoint(problems)
        self._deaf_since = (self._deaf_since or self.seconds()) if is_deaf else None
        for begun in [words for words in problems if words not in self._reported]:
            _log.warning("%s", begun)
        for ended in [words for words in self._reported if words not in problems]:
            _log.info("over: %s", ended)
        self._reported = problems

    def problems(self) -> tuple[str, ...]:
        """Returns what keeps Aldis from hearing or being heard now, a sentence each for the operator."""
        is_silent = (self.heard_seconds_ago or 0) > SILENCE_SECONDS
        found = (
            CLOSED if not self.transport.stream.is_open else SILENT if is_silent else None,
            self._linked_problem,
            CAPTCHA if self.challenge else None,
        )
        return tuple(problem for problem in found if problem is not None)

    @property
    def is_deaf(self) -> bool:
        """Whether nothing people write has been heard for a while although the bridge answers."""
        return self._deaf_since is not None and self.seconds() - self._deaf_since >= DEAF_SECONDS

    @property
    def heard_seconds_ago(self) -> float | None:
        """The time since the stream's last sign of life; None before the first."""
        heard_at = self.transport.stream.heard_at
        return None if heard_at is None else self.seconds() - heard_at

    @property
    def challenge(self) -> str | None:
        """The token of the captcha that Signal wants solved; None if it wants none."""
        return self.transport.challenge if isinstance(self.transport, Receipts) else None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the operator should know; the quick checks are made now."""
        level, words = ("problem", "nothing is heard over it") if self.is_deaf else ("ok", "something is heard")
        heard = Finding(level, "bridge", words, notice=Notice(kind="deaf"))
        return (*(self._asked or ()), *self.check(), heard)

    async def ask(self) -> None:
        """Asks the servers once."""
        self._asked = tuple(await self.ask_servers())

    async def tell(self) -> None:
        """Tells the admins what is new, and forgets what is over."""
        found = self.findings
        standing = {finding.notice for finding in wanting(found)}
        judged = {finding.notice: finding.notice in standing for finding in found if finding.notice is not None}
        is_any_listed = any(judged.values()) and self.notices.admins.are_numbers_listed
        await self.notices.settle(judged, await self.contacts() or () if is_any_listed else ())
