"""Pure: gives the tools of MCP servers unique names, `server_tool`, that every model's API accepts.

The same tools of the same servers always get the same names, whichever servers are up: an interrupted turn must not
call another tool by the name of the one that it meant.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

MAX_NAME_CHARS = 64
_MARK_CHARS = 6
_UNFIT = re.compile(r"[^a-z0-9]+")


def spell_name(name: str) -> str:
    """Returns the name in lower-case letters, digits and single underscores; `x` if nothing is left of it."""
    return _UNFIT.sub("_", name.lower()[:MAX_NAME_CHARS]).strip("_") or "x"


def prefix_of(server: str) -> str:
    """Returns the prefix of the names of a server's tools, which begins with a letter."""
    prefix = spell_name(server)
    return f"{prefix}_" if prefix[0].isalpha() else f"mcp_{prefix}_"


def names_of(
    server: str, tools: Sequence[str], *, servers: Collection[str], taken: Collection[str]
) -> Mapping[str, str]:
    """Returns the tools of a server by their names here, in the server's order.

    `servers` are the names of all servers, `taken` those of the tools that are always there. A name that is too long,
    or that something else has or may have, ends in a mark made of what it stands for. A tool listed twice is one.
    """
    prefix = prefix_of(server)
    plain = {tool: prefix + spell_name(tool) for tool in tools}
    others = [prefix_of(other) for other in servers if other != server]
    count = Counter(plain.values())

    def is_free(name: str) -> bool:
        is_ours = not any(name.startswith(other) and len(other) >= len(prefix) for other in others)
        return is_ours and len(name) <= MAX_NAME_CHARS and count[name] == 1 and name not in taken

    named: dict[str, str] = {}
    for tool, name in plain.items():
        named.setdefault(name if is_free(name) else _with_mark(name, server, tool), tool)
    return named


def _with_mark(name: str, server: str, tool: str) -> str:
    mark = hashlib.sha256(f"{server}\0{tool}".encode(errors="replace")).hexdigest()[:_MARK_CHARS]
    return f"{name[: MAX_NAME_CHARS - _MARK_CHARS - 1]}_{mark}"
