"""What the machine lets a process have, widened for a thousand conversations that wait at the same time.

Each of them may hold a connection to its model, and a process may open 1,024 files unless it asks for more. Looking a
name up occupies a thread until the name server answers, and by default there are a few threads for all that is done
beside the loop: names that do not answer would keep those that do from being looked up.
"""

import asyncio
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_MAX_FILES = 65_536
_MAX_THREADS = 64


def widen() -> None:
    """Let the process open more files, and its running loop have more threads beside it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    threads = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="beside")
    asyncio.get_running_loop().set_default_executor(threads)


def is_contained() -> bool:
    """Whether the process runs in a container of Docker or Podman, whose files these are."""
    return any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv"))
