"""Watchdog: checks that Aldis still hears, and tells the operator if it does not.

    every 20 s  --> is the stream open, and does anything arrive on it, at least keep-alives?
                     does the bridge still have the account?
                     can incoming messages be decrypted?
                     is the bridge so old that Signal may drop it, or known to be faulty?
                     does a note to self appear on another device of the account? (if configured)

A bot that went deaf looks healthy: nothing fails, and nobody is answered. Problems are shown for as long as they last,
each in the language of its reader; the log has an English line for the beginning and the end of each.
Left to others: reopening the stream (`bot.loops.intake`), showing the problems (`bot.web.health`).
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from bot.chat.captchas import PAGE
from bot.clock import Clock, MachineClock
from bot.errors import Disconnected, TransportError
from bot.events import Kind
from bot.invocation import command_line
from bot.logs import describe_error
from bot.metrics import Counts
from bot.signal.bridge_versions import Concern, Release, age_days, warnings
from bot.signal.protocol import Transport

_log = logging.getLogger(__name__)

CLOSED = "the stream of messages is not open"
SILENT = "the stream of messages is open, but nothing comes over it, not even a keep-alive"
UNLINKED = f"the bridge to Signal no longer has the account; link it again with: {command_line('link')}"
UNREACHABLE = "the bridge to Signal does not say whether it still has the account"
UNREADABLE = "most of what came in the last hour could not be decrypted; look in signal-cli's log"
UNHEARD = "a note to self was not seen on any other device of the account: switch one on, or look at the bridge"
UNSENT = "a note to self could not be sent"
CAPTCHA = (
    f"Signal wants a captcha solved before it sends more: solve one at {PAGE}, copy the "
    f"link of “Open Signal”, and run: {command_line('captcha LINK')}"
)

NOTE = "Aldis listens."
"""The note to self; only the operator sees it."""

SILENCE_SECONDS = 180.0
"""Three times the longest pause between two signs of life: signal-cli sends one in 15 s, signal-cli-rest-api in 54."""

ANSWER_SECONDS = 120.0
"""How long the account's other devices may take to show a note to self."""

DEAF_SECONDS = 600.0
"""When admins are told: a bridge that restarts takes a minute or two."""

_LOOK_SECONDS = 20.0
"""So that an account that is no longer linked is noticed within half a minute."""
_TROUBLED_SECONDS = 3.0
"""The same while a problem lasts: its end, such as that of a restart of the bridge, is told soon."""
_HOUR_SECONDS = 3600.0
_FEW_UNREADABLE = 5
"""Fewer are no cause for concern: somebody who reinstalls Signal causes one or two."""
_UNREADABLE_NAME = f"envelopes_{Kind.UNDECRYPTABLE}"


ADVISED: set[str] = set()
"""What the log has said of the bridge's version since this process began."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sample:
    """The number of envelopes that had arrived by some time, since the start."""

    at_seconds: float
    unreadable: int
    readable: int


class Watchdog:
    """The loop that watches the stream; `problems` returns what it finds.

    `round_trip_seconds` is how often a note to self is sent, None for never. Signal delivers it only to the account's
    other devices (a phone that is switched on, for example), so it makes sense only if there is one; confirmations are
    reported to `on_confirmation`. `seconds` is the clock of `Transport.heard_at`.
    """

    def __init__(
        self,
        transport: Transport,
        counts: Counts,
        *,
        round_trip_seconds: float | None = None,
        look_seconds: float = _LOOK_SECONDS,
        seconds: Callable[[], float] = time.monotonic,
        clock: Clock | None = None,
    ) -> None:
        self._transport = transport
        self._counts = counts
        self._round_trip_seconds = round_trip_seconds
        self.on_answer: Callable[[], None] | None = None
        """Called when the bridge answers although no stream is open: it is back."""
        self._look_seconds = look_seconds
        self._seconds = seconds
        self.is_linked: bool | None = None
        """Whether the bridge had the account when last asked; None if it has not told yet."""
        self._deaf_since: float | None = None
        """Since when nothing is heard although the bridge answers; None: all is well, or nothing goes out either."""
        self._linked_problem: str | None = None
        self._samples: deque[_Sample] = deque([self._sample()])
        self._note_at = seconds() + (round_trip_seconds or 0)
        """When the next note is due."""
        self._awaited: tuple[int, float] | None = None
        """The note that was not seen yet, and its deadline."""
        self._note_problem: str | None = None
        self._noticed: deque[int] = deque(maxlen=64)
        self._told: tuple[str, ...] = ()
        self._clock = clock or MachineClock()
        self.release: Release | None = None
        """The bridge's version when last asked; None before."""
        self._release_at = seconds()
        """When to ask for the version again."""

    async def run(self) -> None:
        """Checks for ever; ends only by cancellation."""
        while True:
            await asyncio.sleep(min(self._look_seconds, _TROUBLED_SECONDS) if self._told else self._look_seconds)
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001  (a bug in the watchdog must not end Aldis)
                _log.error("the watchdog failed: %s", describe_error(error))

    async def look(self) -> None:
        """Checks once, and logs which problems began and ended since the last time."""
        await self._look_at_account()
        await self._look_at_release()
        self._samples.append(self._sample())
        while len(self._samples) > 1 and self._samples[1].at_seconds <= self._seconds() - _HOUR_SECONDS:
            self._samples.popleft()
        if self._round_trip_seconds is not None:
            await self._send_note(self._round_trip_seconds)
        problems = self.problems()
        can_send = self._linked_problem is None and self.is_linked is True
        unheard = {CLOSED, SILENT, UNREADABLE, UNHEARD} & set(problems)
        if not (can_send and unheard):
            self._deaf_since = None
        elif self._deaf_since is None:
            self._deaf_since = self._seconds()
        self._tell(problems)
        self._advise()

    def on_confirmation(self, sent_at: int) -> None:
        """Records that another device of the account confirmed or showed our message with this timestamp."""
        # The confirmation may arrive before the bridge's answer with the timestamp.
        self._noticed.append(sent_at)

    def problems(self) -> tuple[str, ...]:
        """Problems that keep Aldis from hearing or being heard now, a sentence each for the operator; empty if all is
        well.
        """
        found = (
            self._stream_problem(),
            self._linked_problem,
            UNREADABLE if self._is_mostly_unreadable() else None,
            self._round_trip_problem(),
            CAPTCHA if self._transport.challenge else None,
        )
        return tuple(problem for problem in found if problem is not None)

    @property
    def is_deaf(self) -> bool:
        """Whether nothing people write has been heard for a while although the bridge answers."""
        return self._deaf_since is not None and self._seconds() - self._deaf_since >= DEAF_SECONDS

    @property
    def concerns(self) -> tuple[Concern, ...]:
        """Remarks about the bridge's version; nothing that keeps Aldis from hearing now."""
        return warnings(self.release, self._clock.wall().date()) if self.release else ()

    @property
    def release_age_days(self) -> int | None:
        """The minimum age of the bridge's version; None if unknown."""
        return age_days(self.release, self._clock.wall().date()) if self.release else None

    @property
    def is_open(self) -> bool:
        """Whether a stream of messages is open, as far as known."""
        return self._transport.is_open

    @property
    def heard_seconds_ago(self) -> float | None:
        """The time since the stream's last sign of life; None before the first."""
        heard_at = self._transport.heard_at
        return None if heard_at is None else self._seconds() - heard_at

    @property
    def challenge(self) -> str | None:
        """The token of the captcha that Signal wants solved; None if it wants none."""
        return self._transport.challenge

    def _stream_problem(self) -> str | None:
        if not self._transport.is_open:
            return CLOSED
        silent_seconds = self.heard_seconds_ago
        return SILENT if silent_seconds is not None and silent_seconds > SILENCE_SECONDS else None

    async def _look_at_account(self) -> None:
        try:
            self.is_linked = await self._transport.is_linked()
        except Disconnected:
            self._linked_problem = UNREACHABLE
        else:
            self._linked_problem = None if self.is_linked else UNLINKED
            if self.on_answer is not None and not self._transport.is_open:
                self.on_answer()

    async def _look_at_release(self) -> None:
        if self._seconds() < self._release_at:
            return
        with suppress(Disconnected):
            self.release = await self._transport.release()
            self._release_at = self._seconds() + _HOUR_SECONDS

    def _sample(self) -> _Sample:
        counts = self._counts.all()
        unreadable = counts.get(_UNREADABLE_NAME, 0)
        came = sum(count for name, count in counts.items() if name.startswith("envelopes_"))
        return _Sample(at_seconds=self._seconds(), unreadable=unreadable, readable=came - unreadable)

    def _is_mostly_unreadable(self) -> bool:
        """Whether more undecryptable than decryptable messages arrived within the last hour."""
        before, now = self._samples[0], self._samples[-1]
        unreadable, readable = now.unreadable - before.unreadable, now.readable - before.readable
        return unreadable >= _FEW_UNREADABLE and unreadable > readable

    async def _send_note(self, every_seconds: float) -> None:
        if self._seconds() < self._note_at:
            return
        # The previous note's result is final now, whatever happens to this one.
        self._note_problem, self._awaited = self._round_trip_problem(), None
        self._note_at = self._seconds() + every_seconds
        try:
            sent_at = await self._transport.note_to_self(NOTE)
        except TransportError:
            self._note_problem = UNSENT
        else:
            self._awaited = sent_at, self._seconds() + ANSWER_SECONDS

    def _round_trip_problem(self) -> str | None:
        """The result of the last note; while it is under way, that of the one before."""
        if self._awaited is None:
            return self._note_problem
        sent_at, until_seconds = self._awaited
        if sent_at in self._noticed:
            return None
        return UNHEARD if self._seconds() > until_seconds else self._note_problem

    def _advise(self) -> None:
        """Logs what to do about the bridge's version, once, however often Aldis restarts in this process."""
        for concern in self.concerns:
            if concern.words not in ADVISED:
                ADVISED.add(concern.words)
                _log.warning("%s: %s", concern.words, concern.advice)

    def _tell(self, problems: tuple[str, ...]) -> None:
        for begun in [problem for problem in problems if problem not in self._told]:
            _log.warning("%s", begun)
        for ended in [problem for problem in self._told if problem not in problems]:
            _log.info("over: %s", ended)
        self._told = problems
