"""How the person at this machine types a verb of the command line, for every sentence that names one.

    an image of Docker       docker compose -f docker/compose.yaml run --rm aldis doctor
    a package                aldis doctor
    a clone                  .venv/bin/python -m bot doctor, with an activated .venv: python -m bot doctor

The image says in `ALDIS_COMMAND` what stands before the verb; whoever starts Aldis in another way can say it there.
"""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

NAME = "aldis"
"""The script of the package."""
VARIABLE = "ALDIS_COMMAND"

_MODULE = ("bot", "__main__.py")
_RUN = " run --rm aldis"
_IN_COMPOSE = {"run": " up --detach", "health": " exec aldis aldis health"}
"""The two verbs that make no sense in a second container."""
_QUOTED = re.compile(rf"`{NAME} ([^`]+)`")


def command_line(verb: str = "") -> str:
    """Returns the whole command for a verb, with its arguments if it has any; without a verb what stands before one."""
    command = os.environ.get(VARIABLE, "").strip()
    if command.endswith(_RUN) and verb in _IN_COMPOSE:
        return command.removesuffix(_RUN) + _IN_COMPOSE[verb]
    return f"{command or _command()} {verb}".rstrip()


def spell_commands(text: str) -> str:
    """Returns a text of a room that knows nothing of all this, with each `aldis VERB` in backticks as it is typed."""
    return _QUOTED.sub(lambda found: f"`{command_line(found[1])}`", text)


def _command() -> str:
    program = Path(sys.argv[0] if sys.argv else "")
    if program.stem == NAME:
        return _as_typed(program, NAME)
    if program.parts[-2:] == _MODULE:
        return f"{_as_typed(Path(sys.executable), 'python')} -m bot"
    return NAME


def _as_typed(program: Path, name: str) -> str:
    """The bare name where a shell finds this program by it, else its path, from this folder if it is below; as a shell
    reads it.
    """
    found = shutil.which(name)
    if found is not None and Path(found).absolute() == program.absolute():
        return name
    path, here = program.absolute(), Path.cwd()
    if path.parent == here:
        return shlex.quote(f"./{path.name}")  # a shell looks for a bare name elsewhere than in this folder
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))
