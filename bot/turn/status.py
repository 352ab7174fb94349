"""Status messages: what people see of a turn that takes long: what is going on, until the answer takes its place.

    a turn runs --some seconds--> status put --it arrived--> edited, now and then --> the answer takes its place

A status is an item of the outbox, put in a transaction of its own and only while the turn runs. So it is there after a
crash, the next attempt of the turn goes on with it, and whatever the turn comes to takes its place: the answer, a
question whether something may be done, the sentence that it was stopped or failed. What is taken back while it runs
takes its status with it (`bot.turn.outgoing`).
A status whose send is in doubt is shown no further: the outbox never sends it again, gives its receipt some seconds,
and lets the answer go out as a new message when none came. A receipt that comes later still tells where the status
stands: then it is removed, or becomes the answer where that is not there yet.
A turn that repeats another after an edit shows no status: its place is the answer that it will edit.
Left to others: the rows and what is in doubt (`store.outbox`), how an edit is sent (`bot.loops.sender.delivery`).
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Literal

from bot import events
from bot.clock import Clock
from bot.events import Reply, Styled
from bot.formatting.graphemes import borders, clean_text
from bot.formatting.split import parts, quoting
from bot.logs import describe_error
from bot.providers.base import OnText
from bot.transports.base import Progress, ToolEnded, ToolStarted
from bot.turn import phrases
from bot.turn.journal import Turn
from store import Store, StoreError

_log = logging.getLogger(__name__)

Mode = Literal["off", "status", "stream"]

AFTER_SECONDS = 6.0
"""How long a turn runs before anything is said of it: most have their answer by then."""
PAUSE_SECONDS = 3.0
"""The shortest pause between two statuses; each makes the phone of whoever reads it look again."""
_PAUSE_FACTOR = 1.5
"""By how much each pause is longer than the one before: few edits have to last for turns of minutes."""
_MAX_EDITS = 8
"""Of one message, the answer included; Signal's own apps stop at ten."""
_GOES_ON = "…"

_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_NO_MARKER = re.compile(r"(?<!\S)\*(?!\S)")
"""A star that stands alone: an item of a list, a product."""
_MARKERS = ("**", "__", "~~", "||", "`", "*", "_", "[")


class StatusMessages:
    """Shows turns while they run. `mode`: nothing, what is going on, or also the words of the answer so far."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        mode: Mode,
        after_seconds: float = AFTER_SECONDS,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        self._store = store
        self._clock = clock
        self._mode: Mode = mode
        self._after_seconds = after_seconds
        self._pause_seconds = pause_seconds

    @asynccontextmanager
    async def show(self, turn: Turn) -> AsyncGenerator["StatusMessage"]:
        """Show this turn until the end of the context; afterwards nothing more is put for it."""
        showing = StatusMessage(streams=self._mode == "stream")
        if self._mode == "off" or turn.replaces is not None:
            yield showing
            return
        task = asyncio.create_task(self._keep_showing(turn, showing), name="live")
        try:
            yield showing
        finally:
            task.cancel()
            await asyncio.wait([task])
            if not task.cancelled() and (error := task.exception()) is not None:
                _log.warning("what turn %d is doing could not be shown: %s", turn.id, describe_error(error))

    async def _keep_showing(self, turn: Turn, showing: "StatusMessage") -> None:
        await asyncio.sleep(self._after_seconds)
        shown: Styled | None = None
        pause_seconds = self._pause_seconds
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
        """Put a status; gives whether it was: the former one may not have arrived yet."""
        newest = turn.incoming[-1]
        reply = Reply(
            chat=turn.chat,
            content=content,
            quote=quoting(newest),
            last=False,
            answers=tuple(message.sent_at for message in turn.incoming),
        )
        in_group, now = turn.group is not None, self._clock.now()
        try:
            return await self._store.transaction(
                lambda repos: repos.outbox.put_status(
                    turn.conversation,
                    turn.id,
                    events.dump_value(reply),
                    in_group=in_group,
                    now=now,
                    most_edits=_MAX_EDITS,
                )
            )
        except StoreError as error:
            _log.warning("what turn %d is doing could not be written: %s", turn.id, error)
            return False


class StatusMessage:
    """What there is to show of one turn: the tools that run, or the words so far."""

    def __init__(self, *, streams: bool) -> None:
        self.changed = asyncio.Event()
        self.on_text: OnText | None = self._hear if streams else None
        """Is called with the words of the answer so far; None where nobody wants to see them."""
        self._running: list[str] = []
        self._words = ""

    def watch(self, progress: Progress) -> None:
        """Take note of a step of the turn."""
        match progress:
            case ToolStarted(name=name):
                self._running.append(name)
                self._words = ""
            case ToolEnded(name=name) if name in self._running:
                self._running.remove(name)
            case _:
                return
        self.changed.set()

    def content(self) -> Styled:
        """What people would see now."""
        words = parts(unfinished_part(self._words), max_parts=1, cut_mark=_GOES_ON) if self._words else ()
        if words:
            return words[0]
        return Styled(text=phrases.under_way(self._running[-1] if self._running else None))

    def _hear(self, text: str) -> None:
        self._words = text
        self.changed.set()


def unfinished_part(text: str) -> str:
    """So much of an answer that is still being written as can be shown, with a mark that it goes on; perhaps nothing.

    The word that is being written is left out, and so is what stands behind a marker that has no partner yet.
    """
    whole = _whole_words(clean_text(text))
    fences = [match.start() for match in _FENCE.finditer(whole)]
    if len(fences) % 2 == 0:
        head, gap, block = whole.rpartition("\n\n")
        whole = head + gap + _paired(block)
    elif not whole[fences[-1] :].partition("\n")[2].strip():
        whole = whole[: fences[-1]]  # code of which nothing is there but its language
    whole = whole.rstrip()
    # Behind the end of a block of code the mark would keep the block open.
    gap = "\n\n" if _FENCE.match(whole.rpartition("\n")[2]) else " "
    return f"{whole}{gap}{_GOES_ON}" if whole else ""


def _whole_words(text: str) -> str:
    """Without the last word; without the last character where words are not set apart."""
    found = re.search(r"\S{1,40}\Z", text)
    if found is None:
        return text
    before = text[: found.start()]
    if before[-1:].isspace() or (not before and text.isascii()):
        return before
    return text[: max(borders(text).rfind(1, 0, len(text)), 0)]


def _paired(block: str) -> str:
    """The block up to the first marker that has no partner in it."""
    for marker in _MARKERS:
        seen = _NO_MARKER.sub(" ", block)
        is_open = seen.rfind("[") > seen.rfind(")") if marker == "[" else seen.count(marker) % 2 == 1
        if is_open:
            block = block[: seen.rfind(marker)]
    return block
