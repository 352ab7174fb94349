"""The machine's limits for a process, raised for a thousand conversations waiting at the same time.

Each of them may hold a connection to its model, and a process may open 1,024 files unless it asks for more. Resolving a
name occupies a thread until the name server answers, and by default there are only a few threads for everything outside
the event loop: names that never resolve would block those that do.
"""

import asyncio
import resource
import weakref
from concurrent.futures import ThreadPoolExecutor

_MAX_FILES = 65_536
_MAX_THREADS = 64

_widened: weakref.WeakSet[asyncio.AbstractEventLoop] = weakref.WeakSet()
"""The loops that have their threads: a second pool for the same loop would leave the first one behind."""


def widen() -> None:
    """Lets the process open more files, and its running loop use more threads."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    loop = asyncio.get_running_loop()
    if loop not in _widened:
        loop.set_default_executor(ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="beside"))
        _widened.add(loop)
