"""The verb `chat`: talk to Aldis in the terminal.

    settings --> terminal --a person is there--> the prompt --.
                      |                                       |--> Aldis is imported and assembled
                      '--one text, or a pipe------------------'

Importing Aldis takes a second or two, most of it for the model's SDK. By then the person at the prompt is already
typing, so the prompt comes first: this module imports at its top only what the prompt needs.
"""

import argparse
import asyncio
import shutil
import signal
import sys
import textwrap
from importlib import import_module

from bot import logs
from bot.errors import ConfigError
from bot.settings import Settings
from bot.shutdown import Shutdown
from bot.terminal.transport import Terminal
from store import TurnId


def chat(given: Settings, options: argparse.Namespace) -> int:
    """`chat`: answers in the terminal until the person leaves; status 1 if anything failed and no one saw it."""
    once = (options.once or "").lower().split()
    if options.once is not None and not once:
        raise ConfigError("chat: the message is empty")
    if once[:1] == ["/forget"] and "yes" not in once:
        raise ConfigError("chat: /forget asks before it deletes, and --once cannot answer; add yes: `/forget yes`")
    # Log lines between answers are a distraction, so only a few appear unless asked for.
    by_verbosity = {0: "error", 1: "warning"}.get(options.verbose, "info")
    level = given.log.level if "level" in given.log.model_fields_set else by_verbosity
    logs.set_up(level.upper(), given.log.format)
    return asyncio.run(_chat(given, options))


async def _chat(given: Settings, options: argparse.Namespace) -> int:
    terminal = Terminal(
        stdin=sys.stdin,
        stdout=sys.stdout,
        stderr=sys.stderr,
        conversation=options.conversation,
        once=options.once,
        verbosity=options.verbose,
    )
    shutdown = Shutdown()
    shutdown.listen(signal.SIGTERM, signal.SIGHUP)
    if options.once is None and sys.stdin.isatty():
        names = ", ".join(given.llm.providers_in_order)
        banner = f"Aldis ({names}). /help lists commands, Ctrl-C stops an answer, /quit leaves."
        print(textwrap.fill(banner, shutil.get_terminal_size().columns), file=sys.stderr)
    await terminal.show_prompt()
    app = await asyncio.to_thread(import_module, "bot.app")
    await asyncio.to_thread(app.models.import_sdks, given)
    app.widen()
    async with app.build_service(given, terminal, realm="terminal") as aldis:
        tasks, interrupted = aldis.worker.tasks, set[TurnId]()

        def stop_answers() -> bool:
            """Stops the running turns; returns False if there are none, or some did not stop since."""
            running = tasks.stoppable()
            is_first = not running <= interrupted
            interrupted.update(running)
            for turn in running:
                tasks.stop(turn)
            return is_first

        def interrupt() -> None:
            """Stops the running turns, or leaves."""
            if not stop_answers():
                shutdown.request()

        terminal.stop_answers = stop_answers
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupt)
        await aldis.chat(shutdown.requested, shutdown.hurried)
    return 1 if terminal.failed and not terminal.is_interactive else 0
