"""The fork server: a process that has imported all of Aldis and forks a life whenever it is told to.

To import a vendor's SDK takes seconds, and a round has hundreds of lives: a fork begins in a tenth of a second. What is
forked has one thread, no event loop and nothing open; from there on it is `python -m bot run` in its own process.

A line of JSON on standard input says how the next life is to be; lines on standard output say `ready`, its process id,
and the status with which it ended (negative: the signal).
"""

import json
import os
import random
import sys
import traceback
from typing import Any

from bot.cli.main import main
from tests.campaigns.chaos import crash_points
from tests.flows.warm import die_with_parent  # with all that no life has to import then

_CRASHED = 70
"""The status of a life that ended by an error of its own."""


def live(orders: dict[str, Any]) -> None:
    """Be Aldis: in this environment and folder, with this file as standard error, until this step if there is one."""
    os.environ.clear()
    os.environ.update(orders["environment"])
    os.chdir(orders["folder"])
    log = os.open(orders["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for descriptor, stream in ((os.open(os.devnull, os.O_RDONLY), 0), (log, 1), (log, 2)):
        os.dup2(descriptor, stream)
    random.seed()  # or all lives would draw the same lots
    if orders["step"] is not None:
        crash_points.arm(crash_points.Step(**orders["step"]))
    main(["run"])


def serve() -> None:
    """One life after the other, until standard input ends."""
    die_with_parent()
    _say("ready")
    for line in sys.stdin:
        process_id = os.fork()
        if process_id == 0:
            _be(json.loads(line))
        _say(str(process_id))
        _, status = os.waitpid(process_id, 0)
        _say(str(os.waitstatus_to_exitcode(status)))


def _be(orders: dict[str, Any]) -> None:
    """Live and leave, without anything of the fork server's being done twice."""
    die_with_parent()
    status = _CRASHED
    try:
        live(orders)
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else _CRASHED
    except BaseException:  # noqa: BLE001 - whatever it is, the fork server's own code must not go on in this process
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve()
