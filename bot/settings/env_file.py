"""A file of `NAME=value` lines as text: what stands in it, and the same text with some names changed.

The form is that of `.env`, as python-dotenv reads it. What is written here is in single quotes, where nothing but a
backslash and a quote has a meaning, so that any text comes back as it was. Comments and all other lines stay as they
are.
"""

import io
import re
from collections.abc import Container, Iterator, Mapping

from dotenv.parser import Binding, parse_stream

from bot.errors import ConfigError

_PLAIN = re.compile(r"[\w@%+:,./*~=-]+", re.ASCII)
"""What needs no quotes."""
_REFERENCE = re.compile(r"\$[{A-Za-z_]")
_BYTE_ORDER_MARK = "\ufeff"


def entries(text: str, where: str, *, is_shared: bool = False) -> dict[str, str]:
    """What stands in the text, by upper-case name; `where` is its file's name.

    Nothing in a value refers to another variable: `$` is a dollar. `is_shared`: docker compose reads the file as well,
    and puts something in the place of a `$` with a name, but for single quotes; there such a value is refused.

    Raises:
        ConfigError: a line is no setting, or a name stands there twice; the message has the line's number and nothing
            of what is set there.
    """
    found: dict[str, tuple[str, int]] = {}
    for binding in _bindings(text.removeprefix(_BYTE_ORDER_MARK)):
        line = _line(binding)
        if binding.error or (binding.key is not None and binding.value is None):
            raise ConfigError(f"{where}: line {line} is no NAME=value")
        if binding.key is None or binding.value is None:
            continue
        name = binding.key.upper()
        value, earlier = found.setdefault(name, (binding.value, line))
        if value != binding.value:
            raise ConfigError(
                f"{name}: lines {earlier} and {line} of {where} set it differently; leave out one of them"
            )
        if is_shared and _REFERENCE.search(value) and not _is_literal(binding):
            raise ConfigError(
                f"{name}: line {line} of {where} has a $ that docker compose takes for a variable, and Aldis does not;"
                " write out what is meant, or put the value in single quotes"
            )
    return {name: value for name, (value, _) in found.items()}


def change_text(text: str, values: Mapping[str, str], removed: Container[str]) -> str:
    """Returns the text without the names in `removed` (upper-case), and with these values in place of their own."""
    kept = "".join(
        binding.original.string
        for binding in _bindings(text)
        if binding.key is None or not (binding.key.upper() in removed or binding.key.upper() in values)
    )
    if kept and not kept.endswith(("\n", "\r")):
        kept += "\n"
    return kept + "".join(f"{name}={quote_value(value)}\n" for name, value in values.items())


def rename_variables(text: str, names: Mapping[str, str]) -> str:
    """Returns the text with names (upper-case) replaced by others, and everything else as it was."""
    return "".join(_with_name(binding, names) for binding in _bindings(text))


def quote_value(value: str) -> str:
    """Returns the value as it is written into the file."""
    if _PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _with_name(binding: Binding, names: Mapping[str, str]) -> str:
    line, key = binding.original.string, binding.key
    new = None if key is None else names.get(key.upper())
    return line if key is None or new is None else re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", new, line, count=1)


def _is_literal(binding: Binding) -> bool:
    """Whether the value stands in single quotes."""
    return binding.original.string.partition("=")[2].lstrip().startswith("'")


def _bindings(text: str) -> Iterator[Binding]:
    return parse_stream(io.StringIO(text, newline=""))


def _line(binding: Binding) -> int:
    """The number of the line that it stands in; blank lines before it are taken for a part of it."""
    string = binding.original.string
    return binding.original.line + string[: len(string) - len(string.lstrip())].count("\n")
