"""The verb `settings`: shows what is set and where it comes from."""

import argparse
import re
import sys

from bot.invocation import command_line
from bot.settings.load import KNOWN, NAMES, GivenValue, SettingsFile, Variable

_USER_INFO = re.compile(r"(?<=://)[^/@\s]*@")
"""The user and password in an address."""


def show(options: argparse.Namespace) -> int:
    """`settings`, `settings NAME`, `settings --all`: prints what is set, one setting, or all that there are.

    Raises:
        ConfigError: a setting is wrong or misspelt.
    """
    if options.all:
        for one in KNOWN:
            also = f" Also: {', '.join(one.names[1:])}." if one.names[1:] else ""
            print(f"{one.name}={one.default}\n    {one.meaning}{also}\n")
        return 0
    file = SettingsFile()
    if options.name is not None:
        variable, given = file.find(options.name)
        print(_line(variable, given) if given else f"{variable.name}={variable.default}  # default")
        print(variable.meaning)
        return 0
    values = file.load(file.read())[1]
    for name, given in values.items():
        print(_line(NAMES[name], given))
    if not values:
        hint = f"`{command_line('settings --all')}` lists them"
        print(f"Nothing is set: every setting has its default; {hint}", file=sys.stderr)
    return 0


def _line(variable: Variable, given: GivenValue) -> str:
    """A value with its place; of a secret, and of JSON, such as of servers with their keys, only that it is set."""
    is_hidden = variable.is_secret or given.value.lstrip().startswith("{")
    return f"{given.name}={'(set)' if is_hidden else _USER_INFO.sub('***@', given.value)}  # {given.where}"
