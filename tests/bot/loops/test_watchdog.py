"""The watchdog: what it takes for deafness, what it does not, and that problems begin and end in the log once."""

import logging
from dataclasses import dataclass, field

import pytest

from bot.clock import SetClock
from bot.errors import Disconnected
from bot.loops.watchdog import (
    CAPTCHA,
    CLOSED,
    SILENCE_SECONDS,
    SILENT,
    UNLINKED,
    UNREACHABLE,
    Watchdog,
)
from bot.signal.protocol import Release, StreamState
from tests.bot.loops.fake_transport import FakeTransport
from tests.waiting import eventually, running

Problems = tuple[str, ...]


@dataclass
class Watch:
    """A watchdog over a fake transport that is well, on a clock that stands still until it is moved."""

    transport: FakeTransport = field(
        default_factory=lambda: FakeTransport(stream=StreamState(is_open=True, heard_at=0.0))
    )
    now: float = 0.0

    def __post_init__(self) -> None:
        self.watchdog = Watchdog(self.transport, seconds=lambda: self.now)

    async def look(self, *, after: float = 60) -> Problems:
        """Let so many seconds pass, in which the stream gives signs of life, and look."""
        self.now += after
        self.transport.stream.heard_at = self.now
        await self.watchdog.look()
        return self.watchdog.problems()


async def test_where_all_is_well_there_is_nothing_to_say(caplog: pytest.LogCaptureFixture) -> None:
    """No problem and no line in the log; the figures of the moment are there, and no note is sent unasked."""
    caplog.set_level(logging.INFO)
    watch = Watch()
    assert watch.watchdog.is_linked is None
    assert await watch.look() == ()
    watch.now += 7
    dog = watch.watchdog
    assert (dog.is_open, dog.is_linked, dog.heard_seconds_ago, dog.challenge) == (True, True, 7.0, None)
    assert caplog.records == []


@pytest.mark.parametrize(
    ("heard_at", "is_open", "problems"),
    [
        (-SILENCE_SECONDS, True, ()),
        (-SILENCE_SECONDS - 1, True, (SILENT,)),
        (None, True, ()),
        (0.0, False, (CLOSED,)),
        (-SILENCE_SECONDS - 1, False, (CLOSED,)),
    ],
)
def test_a_stream_without_a_sign_of_life(heard_at: float | None, is_open: bool, problems: Problems) -> None:
    """Open is not enough: keep-alives have to come. A stream that is known to be closed is told as such alone."""
    watch = Watch(transport=FakeTransport(stream=StreamState(is_open=is_open, heard_at=heard_at)))
    assert watch.watchdog.problems() == problems


async def test_problems_begin_and_end(caplog: pytest.LogCaptureFixture) -> None:
    """Unlinked on the phone, a bridge that cannot be asked, and a captcha whose token is in no line of the log."""
    caplog.set_level(logging.INFO)
    watch = Watch()
    watch.transport.linked = False
    assert await watch.look() == (UNLINKED,)
    watch.transport.linked = Disconnected("no connection to signal-cli")
    assert await watch.look() == (UNREACHABLE,)
    assert watch.watchdog.is_linked is False
    watch.transport.linked, watch.transport.challenge = True, "token-of-the-captcha"
    assert await watch.look() == (CAPTCHA,)
    assert watch.watchdog.challenge == "token-of-the-captcha"
    watch.transport.challenge = None
    assert await watch.look() == ()
    begin_and_end = [line for problem in (UNLINKED, UNREACHABLE, CAPTCHA) for line in (problem, f"over: {problem}")]
    assert sorted(record.getMessage() for record in caplog.records) == sorted(map(str, begin_and_end))


async def test_a_bridge_over_which_nothing_comes_is_called_deaf_after_a_while() -> None:
    """Not before ten minutes, not where nothing could go out to tell it either, and not any more once it is over."""
    watch = Watch(transport=FakeTransport(stream=StreamState(is_open=False)))
    for _ in range(10):
        await watch.look()
        assert not watch.watchdog.is_deaf
    await watch.look()
    assert watch.watchdog.is_deaf
    watch.transport.linked = Disconnected("away")
    await watch.look()
    assert not watch.watchdog.is_deaf
    watch.transport.linked, watch.transport.stream.is_open = True, True
    await watch.look(after=3600)
    assert not watch.watchdog.is_deaf


async def test_an_old_bridge_is_told_of_and_is_no_problem(clock: SetClock, caplog: pytest.LogCaptureFixture) -> None:
    """Aldis still hears; the log has one line for each advice, not one a minute."""
    transport = FakeTransport(
        stream=StreamState(is_open=True, heard_at=0.0), known_release=Release(bridge="signal_cli", version="0.14.6")
    )
    watchdog = Watchdog(transport, seconds=lambda: 0.0, clock=clock)
    assert (watchdog.concerns, watchdog.release_age_days) == ((), None)
    for _ in range(3):
        await watchdog.look()
    assert watchdog.problems() == ()
    assert watchdog.release_age_days == 132
    assert [concern.is_urgent for concern in watchdog.concerns] == [True]
    assert caplog.text.count("signal-cli 0.14.6") == 1


# The loop


async def test_it_looks_again_and_again_whatever_happens(caplog: pytest.LogCaptureFixture) -> None:
    """A bug in the watching is logged without its words, and does not end what is watched."""
    transport = FakeTransport(linked=RuntimeError("a secret"))
    watchdog = Watchdog(transport)
    watchdog.look_seconds = 0
    async with running(watchdog.run()):
        await eventually(lambda: "the watchdog failed: RuntimeError" in caplog.text)
        transport.linked = False
        await eventually(lambda: str(UNLINKED) in caplog.text)
    assert "secret" not in caplog.text
