"""The verb `settings`: shows what is set and where it comes from, and changes the settings file.

Changes work even if the current settings are invalid, so that a bad line in the file can be removed.
"""

import argparse
import getpass
import re
import sys
from collections.abc import Mapping, Sequence

from bot.errors import ConfigError
from bot.invocation import command_line
from bot.settings.load import GivenValue, SettingsFile
from bot.settings.variables import NAMES, Variable, table

_USAGE = "settings: use `settings`, `settings NAME`, `settings set NAME=VALUE ...` or `settings unset NAME ...`"
_FROM_INPUT = "-"
_USER_INFO = re.compile(r"(?<=://)[^/@\s]*@")
"""The user and password in an address."""


def show_or_change(options: argparse.Namespace) -> int:
    """`settings`, `settings NAME`, `settings set NAME=VALUE ...`, `settings unset NAME ...`.

    Raises:
        ConfigError: a setting is wrong or misspelt.
    """
    words: Sequence[str] = options.words
    file = SettingsFile()
    match words:
        case [] if options.all:
            print(table(is_for_terminal=True), end="")
        case []:
            _show(file)
        case ["set", *pairs] if pairs:
            _change(file, dict(map(_pair, pairs)))
        case ["unset", *names] if names:
            _change(file, dict.fromkeys(names))
        case [pair] if "=" in pair:
            raise ConfigError("settings: to change a setting, use `aldis settings set NAME=VALUE`")
        case [name] if name not in {"set", "unset"}:
            _show_one(file, name)
        case _:
            raise ConfigError(_USAGE)
    return 0


def _show(file: SettingsFile) -> None:
    """Prints everything that is set, a line each."""
    values = file.load(file.read())[1]
    for name, given in values.items():
        print(f"{given.name}={_shown(NAMES[name], given)}  # {given.where}")
    if not values:
        hint = f"`{command_line('settings --all')}` lists them"
        print(f"Nothing is set: every setting has its default; {hint}", file=sys.stderr)


def _show_one(file: SettingsFile, name: str) -> None:
    variable, given = file.find(name)
    shown = f"{given.name}={_shown(variable, given)}  # {given.where}" if given else ""
    print(shown or f"{variable.name}={variable.default}  # default", variable.meaning, sep="\n")


def _shown(variable: Variable, given: GivenValue) -> str:
    """The value as it can be shown: for a secret, only that it is set."""
    if variable.is_secret or given.value.lstrip().startswith("{"):  # JSON, such as of servers with their keys
        return "(set)"
    return _USER_INFO.sub("***@", given.value)


def _change(file: SettingsFile, changes: Mapping[str, str | None]) -> None:
    try:
        is_changed = file.write(changes)
    except ConfigError as error:
        lines = [line.removesuffix(f" (it is set in {file.path.name})") for line in str(error).splitlines()]
        raise ConfigError("\n".join(lines) + "; nothing was changed") from None
    for name in changes:
        if where := file.winner(name):
            print(f"{name.upper()}: its value in {where} overrides the settings file", file=sys.stderr)
    if not is_changed:
        print(f"{file.path} already says so: nothing was changed", file=sys.stderr)
        return
    print(f"{file.path} is written; to have a running Aldis use it, run: {command_line('restart')}", file=sys.stderr)


def _pair(text: str) -> tuple[str, str]:
    """The name and the value of `NAME=VALUE`; `NAME=-` asks for the value, to keep it out of the shell's history.

    Raises:
        ConfigError: it has another form, or nothing was entered.
    """
    name, is_given, value = text.partition("=")
    if not (name and is_given):
        raise ConfigError(_USAGE)
    if value != _FROM_INPUT:
        return name, value
    try:
        entered = getpass.getpass(f"{name}: ") if sys.stdin.isatty() else sys.stdin.readline()
    except EOFError:  # Ctrl-D
        entered = ""
    if not entered.strip():
        raise ConfigError(
            f"{name}: nothing was entered; nothing was changed (`aldis settings unset {name}` removes it)"
        )
    return name, entered.rstrip("\n")
