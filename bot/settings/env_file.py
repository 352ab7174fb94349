"""The text of a file of `NAME=value` lines: reading its values, and changing some of its names.

The format is that of `.env` as python-dotenv reads it. Values are written in single quotes, where only a backslash and
a quote have a meaning, so that any text comes back as it was. Comments and all other lines stay as they are.
"""

import io
import re
from collections.abc import Container, Iterator, Mapping

from dotenv.parser import Binding, parse_stream

from bot.errors import ConfigError

_PLAIN = re.compile(r"[\w@%+:,./*~=-]+", re.ASCII)
"""Values that need no quotes."""
_REFERENCE = re.compile(r"\$[{A-Za-z_]")
_BYTE_ORDER_MARK = "\ufeff"


def entries(text: str, where: str, *, is_shared: bool = False) -> dict[str, str]:
    """The values in the text, by upper-case name; `where` is the name of its file.

    Values cannot refer to other variables: `$` is a dollar. `is_shared`: docker compose also reads the file, and
    replaces `$` with a name except in single quotes; such values are refused.

    Raises:
        ConfigError: a line is no setting, or a name is set twice; the message has the line's number, but nothing of
            its content.
    """
    found: dict[str, tuple[str, int]] = {}
    for binding in _bindings(text.removeprefix(_BYTE_ORDER_MARK)):
        line = _line(binding)
        if binding.error or (binding.key is not None and binding.value is None):
            raise ConfigError(f"{where}: line {line} is not NAME=value")
        if binding.key is None or binding.value is None:
            continue
        name = binding.key.upper()
        value, earlier = found.setdefault(name, (binding.value, line))
        if value != binding.value:
            raise ConfigError(f"{name}: lines {earlier} and {line} of {where} set it differently; remove one of them")
        if is_shared and _REFERENCE.search(value) and not _is_literal(binding):
            raise ConfigError(
                f"{name}: line {line} of {where} has a $ that docker compose takes for a variable, and Aldis does not;"
                " write out what is meant, or put the value in single quotes"
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


def rename_variables(text: str, names: Mapping[str, str]) -> str:
    """Returns the text with names (upper-case) replaced by others, and everything else unchanged."""
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
    """Whether the value is in single quotes."""
    return binding.original.string.partition("=")[2].lstrip().startswith("'")


def _bindings(text: str) -> Iterator[Binding]:
    return parse_stream(io.StringIO(text, newline=""))


def _line(binding: Binding) -> int:
    """The line number of the setting itself: the parser counts blank lines before it as part of it."""
    string = binding.original.string
    return binding.original.line + string[: len(string) - len(string.lstrip())].count("\n")
