"""What the machine lets a process have."""

import asyncio
import resource

from bot import app


async def test_a_process_may_open_as_many_files_as_the_machine_allows() -> None:
    """Its shell gave it few; a thousand conversations that wait need one connection each."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        app.widen()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (min(hard, 65_536), hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_many_wait_beside_the_loop_without_delaying_another() -> None:
    """Each lookup of a name occupies a thread until the name server answers."""
    app.widen()
    is_over = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait() -> None:
        asyncio.run_coroutine_threadsafe(is_over.wait(), loop).result()

    waiting = [asyncio.create_task(asyncio.to_thread(wait)) for _ in range(40)]
    assert await asyncio.to_thread(lambda: "done") == "done"
    is_over.set()
    await asyncio.gather(*waiting)
