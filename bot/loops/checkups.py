"""Check-ups: a running Aldis regularly checks, by itself, whatever the doctor can check for free.

    every minute    the disk, models' refusals, whether anything is heard -------.
    every 6 hours   the servers of models, speech, pictures and searches -----> findings --> the health page
                                                                                        '--> the admins, once each

Everything is bounded in time, sends nothing that anybody wrote, and asks no model. Left to others: the checks
(`bot.doctor`), telling (`bot.chat.notices`).
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence

from bot.chat.notices import Notices
from bot.clock import is_set_within
from bot.doctor.findings import Finding, wanting
from bot.logs import describe_error
from bot.signal.protocol import Contact

_log = logging.getLogger(__name__)

FIRST_SECONDS = 300.0
"""After a start: people waiting for answers go first, and an Aldis that keeps restarting asks nobody."""
LOOK_SECONDS = 60.0
ASK_SECONDS = 6 * 3600.0
"""Between two rounds of asking servers, plus up to a tenth at random, so that not everybody asks at once."""
AFTER_CHANGE_SECONDS = 0.5
"""A model that fails in one request usually fails in several at once."""
AGAIN_SECONDS = 600.0
"""If nothing has changed: an admin may have written meanwhile, so that there is now a chat to tell them in."""
_ROUND_SECONDS = 90.0


class Checkups:
    """The loop that checks; `findings` is what it has found."""

    def __init__(
        self,
        notices: Notices,
        *,
        look: Callable[[], Iterable[Finding]],
        ask: Callable[[], Awaitable[Sequence[Finding]]],
        contacts: Callable[[], Awaitable[Sequence[Contact] | None]],
        first_seconds: float = FIRST_SECONDS,
        ask_seconds: float = ASK_SECONDS,
    ) -> None:
        """`look` is quick and asks nobody, `ask` asks servers; `contacts` returns None if the bridge is silent."""
        self._notices = notices
        self._look = look
        self._ask = ask
        self._contacts = contacts
        self._first_seconds = first_seconds
        self._ask_seconds = ask_seconds
        self._asked: tuple[Finding, ...] = ()
        self._changed = asyncio.Event()
        self._told_state: object = None
        self._told_at = 0.0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings; the quick checks are made now."""
        return (*self._asked, *self._look())

    def wake(self) -> None:
        """Makes it look soon, because something has changed."""
        self._changed.set()

    async def run(self) -> None:
        """Checks for ever; ends only by cancellation."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._asking(), name="asking servers")
            group.create_task(self._telling(), name="telling admins")

    async def ask(self) -> None:
        """Asks the servers once."""
        try:
            async with asyncio.timeout(_ROUND_SECONDS):
                self._asked = tuple(await self._ask())
        except TimeoutError:
            _log.warning("the check of the servers did not finish within %g seconds", _ROUND_SECONDS)
        except Exception as error:  # noqa: BLE001  (a bug in a check must not end Aldis)
            _log.error("checking the servers failed: %s", describe_error(error))
        self._changed.set()

    async def tell(self) -> None:
        """Tells the admins what is new, and forgets what is over."""
        found = self.findings
        judged = frozenset(finding.notice.name for finding in found if finding.notice is not None)
        standing = [(one.notice.name, one.notice) for one in wanting(found) if one.notice is not None]
        state, now = (frozenset(standing), judged), time.monotonic()
        if state == self._told_state and now < self._told_at + AGAIN_SECONDS:
            return
        try:
            contacts = await self._contacts() if standing and self._notices.admins.are_numbers_listed else ()
            await self._notices.settle(standing, judged, contacts or ())
            self._told_state, self._told_at = state, now
        except Exception as error:  # noqa: BLE001  (a bug in telling must not end the loop; it is tried again)
            _log.error("notifying the admins failed: %s", describe_error(error))

    async def _asking(self) -> None:
        await asyncio.sleep(self._first_seconds)
        while True:
            await self.ask()
            await asyncio.sleep(self._ask_seconds * (1 + random.random() / 10))  # noqa: S311 - it keeps no secret

    async def _telling(self) -> None:
        while True:
            if await is_set_within(self._changed, LOOK_SECONDS):
                await asyncio.sleep(AFTER_CHANGE_SECONDS)
            self._changed.clear()
            await self.tell()
