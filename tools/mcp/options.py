"""Which MCP servers there are: read out of `TOOLS__MCP__SERVERS`, in the form that other programs keep them in.

    {"mcpServers": {"files": {"command": "mcp-files", "args": ["/srv"], "env": {"MODE": "ro"}},
                    "crm":   {"url": "https://crm.example/mcp", "headers": {"Authorization": "Bearer ..."}}}}

What a server is given (environment, headers, what follows the `?` of its address) is secret and is shown nowhere.

Source: modelcontextprotocol.io, "Connect to local MCP servers", 2026-11-21, for the usual names of the fields.
"""

import json
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import parse_qsl, quote, urlencode

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from tools.base import BaseUrl, Options

Approve = Literal["writes", "all", "never"]
"""Which calls a person has to approve: those of tools not marked read-only; all; none."""
_UNFIT = re.compile(r"[^a-z0-9]+")
_MAX_NAME_CHARS = 64


class ServerOptions(BaseModel):
    """A server: a command to run here, or an address."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str = Field(min_length=1, max_length=40)
    """The operator's name for it, with which its tools' names begin."""
    type: Literal["stdio", "http", "streamable-http", "streamable_http"] | None = None
    """The kind of server, which other programs require; here `command` or `url` says it."""
    command: str | None = Field(default=None, min_length=1)
    args: tuple[str, ...] = ()
    env: Mapping[str, SecretStr] = {}
    """The command's environment variables besides PATH, HOME, LANG and TZ."""
    cwd: str | None = None
    url: BaseUrl | None = None
    """The address, without the query."""
    query: tuple[tuple[str, SecretStr], ...] = ()
    """The query of the address: some servers want their key there."""
    headers: Mapping[str, SecretStr] = {}
    disabled: bool = False
    timeout: float | None = Field(default=None, ge=0.1, le=600)
    """The time limit of a call; None means `TOOLS__TIMEOUT_SECONDS`."""
    tools: tuple[str, ...] | None = None
    """The tools that models are offered, by the server's own names; None: all."""
    approve: Approve = "writes"
    private: bool = True
    """Whether its answers are private, so that nothing of them may leave in an address."""

    @property
    def address(self) -> str:
        """The whole address, which is a secret."""
        query = urlencode([(name, value.get_secret_value()) for name, value in self.query], quote_via=quote)
        return "?".join(filter(None, (self.url, query)))

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("must have either a command or a url")
        return self


def _servers(given: Any) -> Any:
    """Returns the servers in JSON text, or in a file that contains it, in its order."""
    if not isinstance(given, str):
        return given
    try:
        text = given if given.lstrip().startswith("{") else Path(given).read_text(encoding="utf-8")
        found: Any = json.loads(text)
        named: list[tuple[str, dict[str, Any]]] = [
            (name, {**server, "name": name}) for name, server in found.get("mcpServers", found).items()
        ]
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        # What was given is left out: people paste the JSON, with its keys, in place of the path.
        raise ValueError(
            'must be JSON like {"files": {"command": "mcp-files"}}, or the path of a file with it that can be read'
        ) from error
    servers: list[ServerOptions] = []
    for name, server in named:
        address, sign, query = str(server.get("url", "")).partition("?")
        if sign and "#" not in query:  # apart, as the query may be a key
            server |= {"url": address, "query": parse_qsl(query, keep_blank_values=True)}
        try:
            servers.append(ServerOptions.model_validate(server))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            what = ": ".join([*map(str, first["loc"][:1]), first["msg"]])
            raise ValueError(f"must be right for the server {name[:40]!r}: {what}") from None  # its cause has the input
    return tuple(servers)


class McpOptions(Options):
    """Tools of MCP servers. They are offered as `server_tool`, and ask before they change anything."""

    servers: Annotated[tuple[ServerOptions, ...], BeforeValidator(_servers)] = ()
    """The servers: JSON such as `{"files": {"command": "mcp-files", "args": ["/srv"]}, "crm": {"url":
    "https://crm.example/mcp", "headers": {"Authorization": "Bearer ..."}}}`, alone or under `mcpServers`, or the path
    of a file with it. For each also `timeout` (seconds), `tools` (the only ones, a list), `approve` (`writes`, `all`,
    `never`), `private` (`false`: its answers are no secrets), `disabled`. Needs the extra `mcp`."""

    def missing_settings(self) -> str | None:
        """See `Options`: servers."""
        return None if self.servers else "SERVERS"

    def seen_by(self) -> tuple[str, ...] | None:
        """See `Options`: the servers by the operator's names."""
        return tuple(f"{server.name}: what it is called with" for server in self.servers if not server.disabled)

    @field_validator("servers")
    @classmethod
    def _can_be_asked(cls, servers: tuple[ServerOptions, ...]) -> tuple[ServerOptions, ...]:
        if servers and find_spec("mcp") is None:
            raise ValueError(
                "needs the package mcp, which is not installed: pip install 'mcp>=2.3,<3', or an image with EXTRAS=mcp"
            )
        return servers


def spell_name(name: str) -> str:
    """Returns the name in lower-case letters, digits and single underscores; `x` if nothing is left of it."""
    return _UNFIT.sub("_", name.lower()[:_MAX_NAME_CHARS]).strip("_") or "x"


def prefix_of(server: str) -> str:
    """Returns the prefix of the names of a server's tools, which begins with a letter."""
    prefix = spell_name(server)
    return f"{prefix}_" if prefix[0].isalpha() else f"mcp_{prefix}_"
