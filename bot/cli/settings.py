"""The verb `settings`: shows what is set and where it comes from."""

import argparse
import re
import sys

from bot.settings.load import NAMES, SettingsFile

_USER_INFO = re.compile(r"(?<=://)[^/@\s]*@")
"""The user and password in an address."""


def show(_: argparse.Namespace) -> int:
    """`settings`: prints what is set."""
    file = SettingsFile()
    values = file.load(file.read())[1]
    for name, given in values.items():
        # Of a secret, and of JSON, such as of servers with their keys, only that it is set.
        is_hidden = NAMES[name].is_secret or given.value.lstrip().startswith("{")
        print(f"{given.name}={'(set)' if is_hidden else _USER_INFO.sub('***@', given.value)}  # {given.where}")
    if not values:
        print("Nothing is set: every setting has its default; docs/settings.md lists them", file=sys.stderr)
    return 0
