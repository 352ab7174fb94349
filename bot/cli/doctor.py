"""The verb `doctor`: checks everything that Aldis depends on, and says what to do."""

import argparse
import asyncio

from bot import app, logs
from bot.clock import MachineClock
from bot.doctor import checkup
from bot.doctor.findings import exit_status, format_findings
from bot.settings import Settings


def examine(given: Settings, options: argparse.Namespace) -> int:
    """`doctor`: prints every finding on a line; status 1 if one is a problem."""
    logs.set_up("ERROR", given.log.format)
    found = asyncio.run(checkup.examine(given, app.doctor_deps(given), MachineClock(), asks_models=options.model))
    print(format_findings(found, is_verbose=options.verbose))
    return exit_status(found)
