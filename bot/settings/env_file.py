"""The text of a file of `NAME=value` lines: reading its values, and changing some of its names.

The format is that of `.env` as python-dotenv reads it. Values are written in single quotes, where only a backslash and
a quote have a meaning, so that any text comes back as it was. Comments and all other lines stay as they are.
"""

import io
import re
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from bot.errors import ConfigError

_PLAIN = re.compile(r"[\w@%+:,./*~=-]+", re.ASCII)
"""Values that need no quotes."""
_READ_DIFFERENTLY = {
    "'": re.compile(r"\\\\"),
    '"': re.compile(r"\$[{$A-Za-z_]|\\[$'0]"),
    "": re.compile(r"\$[{$A-Za-z_]|\t#"),
}
"""By the quote around a value, what docker compose reads in another way than python-dotenv, which reads `.env` here.

Source: compose-go 2.13.0, `dotenv/parser.go` and `template/template.go`; python-dotenv 1.2.4, `parser.py` (2026-11-27).
"""
_BYTE_ORDER_MARK = "\ufeff"


def read_text(path: Path) -> str:
    """Returns what is in the file; nothing if there is none.

    Raises:
        ConfigError: it cannot be read, or is not UTF-8 text.
    """
    try:
        return path.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):  # the doctor reports a folder that is none
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise unusable(path, "read", error) from error


def unusable(file: Path, done: str, error: OSError | UnicodeError) -> ConfigError:
    """Returns the error for a file that cannot be `done` ("read", "written"); it names the file's path."""
    why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
    return ConfigError(f"{file}: cannot be {done}: {why}")


def entries(text: str, where: str, *, is_shared: bool = False) -> dict[str, str]:
    """The values in the text, by upper-case name; `where` is the name of its file.

    Values cannot refer to other variables: `$` is a dollar. `is_shared`: docker compose also reads the file; what it
    would read differently is refused.

    Raises:
        ConfigError: a line is no setting, or a name is set twice; the message has the line's number, but nothing of
            its content.
    """
    found: dict[str, tuple[str, int]] = {}
    for binding in _bindings(text.removeprefix(_BYTE_ORDER_MARK)):
        line = _line(binding)
        if binding.error and re.match(r"\s*(export\s+)?\w+\s*=\s*['\"]", binding.original.string):
            raise ConfigError(f"{where}: line {line} has a quote around its value that is not closed")
        if binding.error or (binding.key is not None and binding.value is None):
            raise ConfigError(f"{where}: line {line} is not NAME=value")
        if binding.key is None or binding.value is None:
            continue
        name = binding.key.upper()
        value, earlier = found.setdefault(name, (binding.value, line))
        if value != binding.value:
            raise ConfigError(f"{name}: lines {earlier} and {line} of {where} set it differently; remove one of them")
        if is_shared and _is_read_differently(binding):
            raise ConfigError(
                f"{name}: line {line} of {where} is read differently by docker compose ($ begins a variable there, and"
                " backslashes count otherwise); write it in single quotes, or without these characters"
            )
    return {name: value for name, (value, _) in found.items()}


def change_text(text: str, values: Mapping[str, str], removed: Container[str]) -> str:
    """Returns the text without the names in `removed` (upper-case), and with these values instead of its own."""
    kept = "".join(
        binding.original.string
        for binding in _bindings(text)
        if binding.key is None or not (binding.key.upper() in removed or binding.key.upper() in values)
    )
    if kept and not kept.endswith(("\n", "\r")):
        kept += "\n"
    return kept + "".join(f"{name}={quote_value(value)}\n" for name, value in values.items())


def quote_value(value: str) -> str:
    """Returns the value as it is written into the file."""
    if _PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _is_read_differently(binding: Binding) -> bool:
    written = binding.original.string.partition("=")[2].lstrip()
    quote = written[:1] if written[:1] in _READ_DIFFERENTLY else ""
    return bool(_READ_DIFFERENTLY[quote].search(written.partition(" #")[0] if not quote else written))


def _bindings(text: str) -> Iterator[Binding]:
    return parse_stream(io.StringIO(text, newline=""))


def _line(binding: Binding) -> int:
    """The line number of the setting itself: the parser counts blank lines before it as part of it."""
    string = binding.original.string
    return binding.original.line + string[: len(string) - len(string.lstrip())].count("\n")
