"""Status messages: show people what a long turn is doing, until the answer takes the message's place.

    a turn runs --some seconds--> status put --it arrived--> edited, now and then --> the answer takes its place

A status is an item of the outbox, put in a transaction of its own and only while the turn runs. So it survives a crash,
and whatever the turn ends with takes its place: the answer, a question, the sentence that it was stopped or failed. One
whose send is in doubt is not edited further: if no receipt comes, the answer is a new message.
A turn that repeats another after an edit shows no status: it will edit the earlier answer instead.

Reactions: an emoji on each message being answered, while it waits and while its turn runs.

    a message waits or is taken --a moment--> marked --its turn has ended, however--> the mark is removed

Best effort: nothing waits for a mark, a slow bridge delays no answer, and a message that is answered at once gets none.
Phones acknowledge a mark like a message. To keep its receipt from being taken for that of an answer in doubt, a mark
waits while something is being sent to its chat, and the store remembers each for a while (`store.attempts`).
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from bot.chat import phrases
from bot.chat.journal import Turn
from bot.clock import Clock, is_set_within
from bot.errors import SendUnknown
from bot.events import ChatId, Incoming, PersonId, Reply, SentId, Styled, dump_value
from bot.formatting.split import quoting
from bot.logs import describe_error
from bot.signal.protocol import Outside, Progress, ToolEnded, ToolStarted
from store import Repositories, Store, StoreError

_log = logging.getLogger(__name__)

Mode = Literal["off", "status"]

AFTER_SECONDS = 6.0
"""How long a turn runs before anything is shown; most have their answer by then."""
PAUSE_SECONDS = 3.0
"""The shortest pause between two statuses; each wakes the reader's phone."""
_PAUSE_FACTOR = 1.5
"""How much longer each pause is than the one before: few edits have to last for turns of minutes."""
_MAX_EDITS = 8
"""The limit for one message, including the answer; Signal's own apps stop at ten."""


@dataclass(frozen=True, slots=True)
class StatusMessages:
    """Shows running turns, or with the mode `off` nothing."""

    store: Store
    clock: Clock
    mode: Mode
    after_seconds: float = AFTER_SECONDS
    pause_seconds: float = PAUSE_SECONDS

    @asynccontextmanager
    async def show(self, turn: Turn, showing: "StatusMessage") -> AsyncGenerator[None]:
        """Shows this turn until the end of the context, and puts nothing for it afterwards."""
        if self.mode == "off" or turn.replaces is not None:
            yield
            return
        task = asyncio.create_task(self._keep_showing(turn, showing), name="live")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            if not task.cancelled() and (error := task.exception()) is not None:
                _log.warning("the progress of turn %d could not be shown: %s", turn.id, describe_error(error))

    async def _keep_showing(self, turn: Turn, showing: "StatusMessage") -> None:
        await asyncio.sleep(self.after_seconds)
        shown: Styled | None = None
        pause_seconds = self.pause_seconds
        while True:
            showing.changed.clear()
            content = showing.content()
            if content != shown and await self._put(turn, content):
                shown = content
                pause_seconds *= _PAUSE_FACTOR
            await asyncio.sleep(pause_seconds)
            if content == shown:
                await showing.changed.wait()

    async def _put(self, turn: Turn, content: Styled) -> bool:
        """Puts a status; returns whether it did, since the previous one may not have arrived yet."""
        newest = turn.incoming[-1]
        reply = Reply(
            chat=turn.chat,
            content=content,
            quote=quoting(newest),
            last=False,
            answers=tuple(message.sent_at for message in turn.incoming),
        )
        in_group, now = turn.group is not None, self.clock.now()
        try:
            return await self.store.transaction(
                lambda repos: repos.outbox.put_status(
                    turn.conversation, turn.id, dump_value(reply), in_group=in_group, now=now, max_edits=_MAX_EDITS
                )
            )
        except StoreError as error:
            _log.warning("the progress of turn %d could not be stored: %s", turn.id, error)
            return False


class StatusMessage:
    """The status of one turn: what it is doing."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self._running: list[str] = []

    def watch(self, progress: Progress) -> None:
        """Records a step of the turn."""
        match progress:
            case ToolStarted(name=name):
                self._running.append(name)
            case ToolEnded(name=name) if name in self._running:
                self._running.remove(name)
            case _:
                return
        self.changed.set()

    def content(self) -> Styled:
        """The text that people would see now."""
        return Styled(text=phrases.under_way(self._running[-1] if self._running else None))


EMOJI = "👀"
MARK_AFTER_SECONDS = 0.3
"""How long an answer may take before its message gets a mark: people look for a sign within half a second. What is
answered at once gets none, because each is a message to Signal's server."""
_MAX_SECONDS = 3600.0
"""When a mark is removed in any case: its message may have been taken back while it waited."""
_REACT_SECONDS = 30.0
_LATE = timedelta(seconds=90)
"""How long a failed reaction may still go out: as long as an answer in doubt waits for its receipt."""
LAST_SECONDS = 2.5
"""How long Aldis waits for the last marks to be removed when it ends: their answers go out first, and a busy bridge
takes a second for each."""

_MIN_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.05, 5.0

_Place = tuple[ChatId, PersonId, SentId]


@dataclass
class Reactions(Outside):
    """The marks of all conversations; without an `emoji` there are none."""

    emoji: str | None
    after_seconds: float = MARK_AFTER_SECONDS

    def __post_init__(self) -> None:
        self._standing: dict[_Place, tuple[asyncio.Event, asyncio.Task[None]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def put(self, messages: Iterable[Incoming], *, may_stand: bool = False) -> None:
        """Marks these messages soon, unless they are marked. `may_stand`: an earlier process may have marked them."""
        for message in messages if self.emoji else ():
            place = (message.chat, message.author, message.sent_at)
            if place not in self._standing:
                over = asyncio.Event()
                task = asyncio.create_task(self._marked(place, over, self.emoji or "", may_stand), name="mark")
                self._standing[place] = over, task
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    def take_off(self, messages: Iterable[Incoming]) -> None:
        """Removes the marks of these messages, whose turn has ended."""
        for message in messages:
            mark = self._standing.pop((message.chat, message.author, message.sent_at), None)
            if mark is not None:
                mark[0].set()

    async def aclose(self) -> None:
        """Waits briefly for marks being removed; all others stay on messages that wait for the next start."""
        self.emoji = None  # what is still admitted is not marked any more
        for _, task in self._standing.values():
            task.cancel()
        try:
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=LAST_SECONDS)
        finally:
            for task in self._tasks:
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _marked(self, place: _Place, over: asyncio.Event, emoji: str, may_stand: bool) -> None:  # noqa: FBT001
        if not await is_set_within(over, self.after_seconds):
            may_stand |= await self._react(place, emoji, removed=False, unless=over)
            await is_set_within(over, _MAX_SECONDS)
        if may_stand:
            await self._react(place, emoji, removed=True)
        if place in self._standing and self._standing[place][0] is over:
            del self._standing[place]

    async def _react(self, place: _Place, emoji: str, *, removed: bool, unless: asyncio.Event | None = None) -> bool:
        """Sends the reaction once its chat is quiet, unless it is obsolete by then; returns whether it was sent."""

        def begin(repos: Repositories) -> int | None:
            return repos.outbox.begin_reaction(place[0], in_group=place[0].is_group, now=self.clock.now())

        try:
            pause_seconds = _MIN_PAUSE_SECONDS
            while (number := await self.store.transaction(begin)) is None:
                await asyncio.sleep(pause_seconds)
                pause_seconds = min(2 * pause_seconds, _MAX_PAUSE_SECONDS)
                if unless is not None and unless.is_set():
                    return False
            await self._sent(number, place, emoji, removed=removed)
        except StoreError as error:
            _log.info("a reaction could not be set: %s", error)
        return True

    async def _sent(self, number: int, place: _Place, emoji: str, *, removed: bool) -> None:
        name: SentId | None = None
        may_come = _LATE
        try:
            async with asyncio.timeout(_REACT_SECONDS):
                name = await self.transport.react(*place, emoji, removed=removed)
            may_come = timedelta(0)
        except (TimeoutError, SendUnknown) as error:
            _log.info("unknown whether a reaction was set: %s", error or "no answer in time")
        finally:  # even if cancelled: the bridge may have accepted it

            def end(repos: Repositories) -> None:
                now = self.clock.now()
                repos.outbox.end_reaction(number, name, now=now, until=now + may_come)

            await self.store.transaction(end)
