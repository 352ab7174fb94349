"""The end of a run: asked for once, hurried up by a second time, and never longer than Docker waits."""

import threading

from annotated_types import Le

from bot.chat.status import LAST_SECONDS
from bot.service import _LAST_READING_SECONDS
from bot.settings.groups import WorkerSettings
from bot.shutdown import MAX_SECONDS, Shutdown
from tests.waiting import WAIT_SECONDS


async def test_a_second_time_hurries_it_up() -> None:
    """The first asks, the second and all others hurry."""
    shutdown = Shutdown(leave=lambda: None)
    assert not shutdown.requested.is_set()
    shutdown.request()
    assert (shutdown.requested.is_set(), shutdown.hurried.is_set()) == (True, False)
    shutdown.request()
    shutdown.request()
    assert shutdown.hurried.is_set()


async def test_whatever_hangs_the_process_ends() -> None:
    """Also where it is the event loop itself that hangs; but only once the end was requested."""
    left = threading.Event()
    shutdown = Shutdown(max_seconds=0.01, leave=left.set)
    assert shutdown._limit is None
    shutdown.request()
    assert left.wait(WAIT_SECONDS)  # nothing else runs in this loop meanwhile


async def test_a_restart_ends_one_run_and_begins_another() -> None:
    """The end of the run has the same bound, which is lifted when it has ended; the next run can be ended as well."""
    left = threading.Event()
    shutdown = Shutdown(max_seconds=WAIT_SECONDS, leave=left.set)
    shutdown.request_restart()
    shutdown.request_restart()
    assert (shutdown.requested.is_set(), shutdown.hurried.is_set()) == (True, False)
    limit = shutdown._limit
    assert limit is not None
    assert limit.is_alive()
    assert shutdown.begins_again()
    limit.join()
    assert (shutdown.requested.is_set(), left.is_set()) == (False, False)
    shutdown.request()
    assert (shutdown.requested.is_set(), shutdown.begins_again()) == (True, False)
    limit = shutdown._limit
    assert limit is not None
    limit.cancel()


def test_an_end_takes_less_than_docker_waits() -> None:
    """Whatever the setting says: what it can be leaves some seconds to close, and all of it is bounded."""
    [most] = [bound.le for bound in WorkerSettings.model_fields["shutdown_seconds"].metadata if isinstance(bound, Le)]
    assert isinstance(most, int | float)
    assert most + max(LAST_SECONDS, _LAST_READING_SECONDS) < MAX_SECONDS < 10.0
