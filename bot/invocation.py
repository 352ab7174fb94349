"""How a person at this machine types a command of Aldis, for every sentence that names one.

    Docker image             docker compose -f docker/compose.yaml run --rm aldis doctor
    package                  aldis doctor
    clone                    .venv/bin/python -m bot doctor

The image sets `ALDIS_COMMAND` to what comes before the verb; other ways of starting Aldis can set it, too.
"""

import os
import re
import shutil
import sys
from pathlib import Path

NAME = "aldis"
"""The script the package installs."""
VARIABLE = "ALDIS_COMMAND"

_MODULE = ("bot", "__main__.py")
_RUN = " run --rm aldis"
_IN_COMPOSE = {"run": " up --detach", "health": " exec aldis aldis health"}
"""The two verbs that make no sense in a second container."""
_QUOTED = re.compile(rf"`{NAME} ([^`]+)`")


def command_line(verb: str = "") -> str:
    """Returns the whole command for a verb and its arguments, if any; without a verb, the part before one."""
    command = os.environ.get(VARIABLE, "").strip()
    if command.endswith(_RUN) and verb in _IN_COMPOSE:
        return command.removesuffix(_RUN) + _IN_COMPOSE[verb]
    return f"{command or _command()} {verb}".rstrip()


def spell_commands(text: str) -> str:
    """Returns the text with every `aldis VERB` in backticks spelled the way it is typed on this machine."""
    return _QUOTED.sub(lambda found: f"`{command_line(found[1])}`", text)


def _command() -> str:
    """What is typed before the verb: the bare name if a shell finds it, or the path, relative if in a folder below."""
    program, more = Path(sys.argv[0] if sys.argv else ""), ""
    if program.parts[-2:] == _MODULE:
        program, more = Path(sys.executable), " -m bot"
    elif program.stem != NAME or program.absolute() == Path(shutil.which(NAME) or "").absolute():
        return NAME
    path = program.absolute()
    here = Path.cwd()
    return f"{path.relative_to(here) if here in path.parents[1:] else path}{more}"
