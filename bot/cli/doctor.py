"""The verb `doctor`: checks everything that Aldis depends on, and repairs what can be repaired safely."""

import argparse
import asyncio

from bot import app, logs, settings
from bot.clock import MachineClock
from bot.doctor import checkup
from bot.doctor.findings import exit_status, format_findings
from bot.doctor.mending import mend
from bot.settings import Settings
from bot.web.control import socket_path


def examine(given: Settings, options: argparse.Namespace) -> int:
    """`doctor`: prints every finding on a line; status 1 if one is a problem."""
    logs.set_up("ERROR", given.log.format)
    found = asyncio.run(checkup.examine(given, app.doctor_deps(given), MachineClock(), asks_models=options.model))
    print(format_findings(found, is_verbose=options.verbose))
    return exit_status(found)


def fix(options: argparse.Namespace) -> int:
    """`doctor --fix`: repairs what can be repaired safely and says so, then checks everything as `doctor` does."""
    for line in mend(settings.settings_file_path(), socket_of=socket_path):
        print(line)
    return examine(settings.load_settings(), options)
