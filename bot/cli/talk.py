"""The second half of the verb `chat`: Aldis in the terminal, from assembling it until the input ends."""

import asyncio
import signal

from bot import app
from bot.service import Service
from bot.settings import Settings
from bot.shutdown import Shutdown
from bot.terminal.transport import Terminal
from store import TurnId


async def talk(given: Settings, terminal: Terminal, shutdown: Shutdown) -> None:
    """Answers what is typed into the terminal until its input ends or a stop is requested.

    Raises:
        StoreError, ConfigError: as `bot.app.build_service`.
    """
    async with app.build_service(given, terminal, realm="terminal") as aldis:
        _on_interrupt(aldis, shutdown)
        await aldis.chat(shutdown.requested, shutdown.hurried)


def _on_interrupt(aldis: Service, shutdown: Shutdown) -> None:
    """Has Ctrl-C stop the running turns; if there are none, or it comes again before they stopped, leaves."""
    interrupted: set[TurnId] = set()

    def interrupt() -> None:
        running = aldis.worker.tasks.stoppable()
        if running <= interrupted:
            shutdown.request()
        interrupted.update(running)
        aldis.worker.tasks.stop_all()

    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupt)
