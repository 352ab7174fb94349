"""The home of the MCP SDK: a connection to a server, and what servers send in the forms that models take.

Imported only when the first server is started (`tools.mcp.servers`). A connection is opened and closed in the same
task; calls may come from any. A message has at most `MAX_ANSWER_BYTES`. A command sees PATH, HOME, LANG and TZ and what
the operator gives it, none of our settings; its standard error is discarded, and it is ended with everything it
started.

A schema that a vendor's API refuses makes every question fail, so what one of them is known to refuse is left out, and
a tool whose schema cannot be mended is not offered.

Source: the rules for tools of the APIs of Anthropic and OpenAI; Model Context Protocol 2026-07-28, "Tools"; read
2026-11-21. mcp 2.3.0: `call_tool` checks answers against the server's own schema, which can take forever; the level
below does not. Its client for commands has no bound for a line, and its time grows with the square of the length: 60 MB
took more than a minute of the event loop (measured 2026-11-27), so the lines of commands are read here.
"""

import asyncio
import base64
import json
import logging
import os
import re
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import islice
from typing import Any, ClassVar, cast

import anyio
import httpx2
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from jsonschema import Draft202012Validator, SchemaError
from jsonschema.protocols import Validator
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from pydantic import TypeAdapter, model_validator
from pydantic_core import PydanticCustomError
from referencing import Registry

from tools.base import Arguments, Result, ResultFile
from tools.connections import trusted_certificates
from tools.errors import BadArguments, Unavailable, UnknownOutcome
from tools.mcp.options import ServerOptions
from tools.mcp.servers import ConnectionState, Greeting, ListedTool, McpSession
from tools.text import clean_line, shorten

MAX_ANSWER_BYTES = 12_000_000
"""Per answer: the largest picture, in base64."""
MAX_TOOLS = 32
"""The limit of tools per server; every question pays for each."""
MAX_SCHEMA_BYTES = 8_000
MAX_TEXT_CHARS = 200_000
"""Far more than models are shown, and still quick to shorten."""
MAX_PICTURES = 4
_MAX_NAMED = 10
_MAX_DESCRIPTION_CHARS = 800
_MAX_ARGUMENT_CHARS = 400
_MAX_QUOTED_CHARS = 500
_SHOWN_PROBLEMS = 3
_MAX_PROBLEM_CHARS = 150
_CONNECT_SECONDS = 10.0
_SILENT_SECONDS = 600.0  # no call may take longer
_EACH_STEP_SECONDS = 0.6
"""The time limits for a command to end: after its input is closed, after a request to end, after being killed. Aldis
has ten seconds for all of its own shutdown."""
_INHERITED = ("PATH", "HOME", "LANG", "TZ")
_TOO_LONG = "it says more than an answer may hold"
_SESSION_IS_OVER = frozenset({"Session terminated", "Session not found"})
"""The error of a restarted server, or of the SDK on its behalf, for a session from before."""
_SDK_SAYS_CLOSED = ("Connection closed", "SSE stream")
"""The beginning of the SDK's message when it gives up a call; many servers use the same code for any failure."""
_REFUSALS = frozenset({401, 403, 429})
"""HTTP statuses that mean that the call did not happen."""
_PICTURES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}

_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""The argument names that Anthropic's API accepts."""
_NAMED_SCHEMAS = frozenset({"properties", "$defs", "definitions"})
_VALUES = frozenset({"enum", "const", "default"})
_DROPPED = frozenset({"title", "$schema", "$id", "$comment", "examples", "pattern"})
"""What costs tokens and says nothing, or is understood differently by each; the server checks patterns anyway."""
_NOT_AT_THE_TOP = frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "const"})
"""Keywords that both vendors refuse at the top level of a tool's schema; calls are checked by them all the same."""

_ANSWER: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)
"""Source: Model Context Protocol 2026-07-28, `tools/call`; read 2026-11-27."""

_Read = SessionMessage | Exception

# The SDK logs whatever it cannot read of what servers send: people's words, and more.
for _name in ("mcp", "client", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


@asynccontextmanager
async def open_session(server: ServerOptions, state: ConnectionState, greeting: Greeting) -> AsyncGenerator[McpSession]:
    """Opens a connection to the server, and closes it at the end; a command is ended with everything it started.

    Enter and leave it in the same task, inside a cancel scope that bounds the opening. Any error may come out of it.
    """
    async with AsyncExitStack() as stack:
        if server.url is None:
            transport = _command(server, state)
        else:
            web = await stack.enter_async_context(_http_client(server, state))
            transport = streamable_http_client(
                server.address, http_client=web, max_sse_event_size=MAX_ANSWER_BYTES, terminate_on_close=False
            )
        client = await stack.enter_async_context(Client(transport, cache=None, mode=greeting))
        yield _Session(client, state)


class _Session:
    """An open connection; see `McpSession`."""

    def __init__(self, client: Client, state: ConnectionState) -> None:
        self._client = client
        self._state = state

    async def listing(self, wanted: tuple[str, ...] | None) -> tuple[tuple[ListedTool, ...], list[str]]:
        """See `McpSession`."""
        page = await self._client.list_tools()
        found = page.tools
        while page.next_cursor is not None:
            page = await self._client.list_tools(cursor=page.next_cursor)
            found += page.tools
        fit: list[ListedTool] = []
        unfit: list[str] = []
        for tool in found:
            if wanted is not None and tool.name not in wanted:
                continue
            try:
                fit.append(_listed(tool))
            except UnfitSchema:
                unfit.append(tool.name)
        unfit += [tool.name for tool in fit[MAX_TOOLS:]]
        return tuple(fit[:MAX_TOOLS]), unfit[:_MAX_NAMED]

    async def call(self, tool: str, arguments: Mapping[str, Any], *, shown_as: str) -> Result:
        """See `McpSession`; a cancelled call is cancelled at the server, too."""
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        try:
            answer = await self._client.session.send_request(types.CallToolRequest(params=params), _ANSWER)
        except MCPError as error:
            raise self._translate(error) from error
        except (ValueError, RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise UnknownOutcome("the server's answer cannot be read") from error
        if isinstance(answer, types.InputRequiredResult):
            raise Unavailable("it wants to ask something, which is not possible here; nothing happened")
        if answer.is_error:
            said = " ".join(filter(None, map(_words, answer.content)))
            raise Unavailable("the tool says that it failed; what it says is quoted", quoted=_quoted(said))
        return result_of(answer, tool=shown_as)

    def _translate(self, error: MCPError) -> Exception:
        """Translates an error of the SDK, depending on whether the call may have happened."""
        code, message = error.error.code, error.error.message
        is_closed = code == types.CONNECTION_CLOSED and message.startswith(_SDK_SAYS_CLOSED)
        if is_closed or message in _SESSION_IS_OVER:
            self._state.ended.set()
            return UnknownOutcome("the server went away meanwhile")
        if code == types.INTERNAL_ERROR and self._state.status in _REFUSALS:
            return Unavailable(f"the server refuses the call (HTTP {self._state.status})")
        if code in {types.INTERNAL_ERROR, types.PARSE_ERROR, types.CONNECTION_CLOSED}:
            return UnknownOutcome("the server failed meanwhile")
        refused = BadArguments if code == types.INVALID_PARAMS else Unavailable
        return refused("the server refuses the call", quoted=_quoted(message))


def _http_client(server: ServerOptions, state: ConnectionState) -> httpx2.AsyncClient:
    async def bound(answer: httpx2.Response) -> None:
        if answer.request.method == "POST":
            state.status = answer.status_code if answer.is_error else None
        answer.stream = _Bounded(cast("httpx2.AsyncByteStream", answer.stream), state)

    return httpx2.AsyncClient(
        # Packed answers are not asked for, so that the bound is one of memory, too.
        headers={name: value.get_secret_value() for name, value in server.headers.items()}
        | {"Accept-Encoding": "identity"},
        event_hooks={"response": [bound]},
        verify=trusted_certificates(),
        timeout=httpx2.Timeout(_CONNECT_SECONDS, read=_SILENT_SECONDS),
        trust_env=False,
    )


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, state: ConnectionState) -> None:
        self._inner = inner
        self._state = state

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                self._state.end(_TOO_LONG)
                raise httpx2.ReadError(_TOO_LONG)
            yield chunk

    async def aclose(self) -> None:
        """Closes it."""
        await self._inner.aclose()


@asynccontextmanager
async def _command(
    server: ServerOptions, state: ConnectionState
) -> AsyncGenerator[tuple[MemoryObjectReceiveStream[_Read], MemoryObjectSendStream[SessionMessage]]]:
    """Starts the command, gives its streams of messages, one per line, and ends it afterwards."""
    inherited = {name: value for name in _INHERITED if (value := os.environ.get(name)) is not None}
    process = await asyncio.create_subprocess_exec(
        server.command or "",
        *server.args,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        limit=MAX_ANSWER_BYTES,
        env=inherited | {name: value.get_secret_value() for name, value in server.env.items()},
        cwd=server.cwd,
        start_new_session=True,  # so that all that it starts can be ended together
    )
    heard, read = anyio.create_memory_object_stream[_Read](0)
    write, said = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_hear, process, heard, state)
        group.start_soon(_say, process, said)
        try:
            yield read, write
        finally:
            with anyio.CancelScope(shield=True):
                read.close()
                write.close()
                await _end(process)
            group.cancel_scope.cancel()


async def _hear(process: Process, heard: MemoryObjectSendStream[_Read], state: ConnectionState) -> None:
    why = "it ended"
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with heard:
            try:
                while line := await cast("asyncio.StreamReader", process.stdout).readline():
                    await heard.send(_message(line))
            except ValueError:  # longer than the limit
                why = _TOO_LONG
    state.end(why)


async def _say(process: Process, said: MemoryObjectReceiveStream[SessionMessage]) -> None:
    stdin = cast("asyncio.StreamWriter", process.stdin)
    with suppress(OSError):  # once it has gone
        async with said:
            async for message in said:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                stdin.write(line.encode("utf-8", "replace") + b"\n")
                await stdin.drain()


def _message(line: bytes) -> _Read:
    """Returns the message, or the error if it cannot be read, as the SDK's streams carry it."""
    text = line.decode("utf-8", "replace")
    try:
        if r"\ud" in text.lower():
            # Half of a surrogate pair, as of an emoji that a server has cut; pydantic would refuse the whole message.
            text = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace").decode()
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(text, by_name=False))
    except (ValueError, RecursionError) as error:
        return ValueError(type(error).__name__)


async def _end(process: Process) -> None:
    """Lets it end by itself, or else kills it; in any case with everything it started."""
    cast("asyncio.StreamWriter", process.stdin).close()
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with anyio.move_on_after(_EACH_STEP_SECONDS):
            await process.wait()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
    with anyio.move_on_after(_EACH_STEP_SECONDS):
        await process.wait()


class UnfitSchema(ValueError):
    """The schema is invalid or too large; the tool cannot be offered."""


class GivenArguments(Arguments):
    """The arguments of a call as given, valid by a schema; each tool has a subclass of its own."""

    shown: ClassVar[Mapping[str, Any]] = {}
    validator: ClassVar[Validator | None] = None

    given: dict[str, Any]
    """A JSON object, checked by the schema."""

    @classmethod
    def json_schema(cls) -> Mapping[str, Any]:
        """Returns the schema that the model sees."""
        return cls.shown

    @model_validator(mode="before")
    @classmethod
    def _fitting(cls, given: Any) -> Any:
        if problems := "; ".join(_problems(cast("Validator", cls.validator), given)):
            raise PydanticCustomError("json_schema", "{problems}", {"problems": problems})
        return {"given": given}


def arguments_of(schema: Mapping[str, Any]) -> type[GivenArguments]:
    """Returns a class of arguments for the schema; raises `UnfitSchema`."""
    try:
        fit: dict[str, Any] = {"properties": {}, **_fit_schema(schema, schema), "type": "object"}
        # With infinities and halves of characters a request would be refused, whatever it asks.
        size = len(json.dumps(fit, allow_nan=False, ensure_ascii=False).encode())
        Draft202012Validator.check_schema(fit)
    except (SchemaError, ValueError, RecursionError) as error:
        raise UnfitSchema("no schema that models can be offered") from error
    if size > MAX_SCHEMA_BYTES:
        raise UnfitSchema("too large")
    shown = {key: value for key, value in fit.items() if key not in _NOT_AT_THE_TOP}
    validator = Draft202012Validator(fit, registry=Registry())
    return type("Given", (GivenArguments,), {"__module__": __name__, "shown": shown, "validator": validator})


def _listed(tool: types.Tool) -> ListedTool:
    """Returns the tool as it is offered; raises `UnfitSchema` if that is impossible."""
    arguments = arguments_of(tool.input_schema)
    hints = tool.annotations or types.ToolAnnotations()
    said = shorten(clean_line(tool.description or ""), _MAX_DESCRIPTION_CHARS)
    return ListedTool(
        name=tool.name,
        description=said or "Says nothing of itself.",
        schema=arguments.shown,
        arguments=arguments,
        # If the server says nothing, assume the worst.
        effects="none" if hints.read_only_hint else "repeatable" if hints.idempotent_hint else "once",
        # Its default is that every tool does, which would say nothing.
        reaches_out=hints.open_world_hint is True,
        deletes=hints.destructive_hint is True,
    )


def _problems(validator: Validator, given: Any) -> Iterator[str]:
    if not isinstance(given, dict):
        yield "must be an object"
        return
    try:
        for error in islice(validator.iter_errors(cast("dict[str, Any]", given)), _SHOWN_PROBLEMS):
            place = ".".join(map(str, error.absolute_path))
            words = shorten(error.message, _MAX_PROBLEM_CHARS)
            yield f"{place}: {words}" if place else words
    except (RecursionError, ArithmeticError):
        yield "nested too deeply, or with too large a number, to be checked"


def _fit_schema(schema: Any, whole: Mapping[str, Any], *, is_named: bool = False) -> Any:
    """Returns the schema as vendors take it. `is_named`: the keys are names of arguments, or of definitions."""
    if isinstance(schema, list):
        return [_fit_schema(item, whole) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    fit: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", schema).items():
        if is_named and not _PROPERTY.fullmatch(key):
            raise UnfitSchema("the name of an argument that no model may use")
        if is_named or key not in _DROPPED | _VALUES | {"$ref", "description"}:
            fit[key] = _fit_schema(value, whole, is_named=key in _NAMED_SCHEMAS and not is_named)
        elif key == "description":
            fit[key] = shorten(str(value), _MAX_ARGUMENT_CHARS)
        elif key in _VALUES or (key == "$ref" and _leads_to_a_schema(str(value), whole)):
            fit[key] = value
    if not is_named and fit.get("type") == "array":
        fit.setdefault("items", {})  # OpenAI's API refuses lists of nothing in particular
    return fit


def _leads_to_a_schema(reference: str, whole: Any) -> bool:
    """Whether a reference stays in the schema, where it must lead somewhere; what is elsewhere is left out."""
    if not reference.startswith("#"):
        return False
    for part in filter(None, reference[1:].split("/")):
        if not isinstance(whole, dict) or part not in whole:
            raise UnfitSchema("a reference leads nowhere")
        whole = cast("dict[str, Any]", whole)[part]
    return True


def result_of(answer: types.CallToolResult, *, tool: str) -> Result:
    """Returns the result of a call; `tool` is used in the names of its pictures."""
    texts = [text for block in answer.content if (text := _words(block)) is not None]
    pictures = tuple(_pictures(answer.content, tool))
    structured = answer.structured_content
    if len(json.dumps(structured)) > MAX_TEXT_CHARS:  # its text says the same, and can be shortened
        structured = None
    data: dict[str, Any] = {} if structured is None else {"structured": structured}
    if text := "\n\n".join(text for text in texts if not _says(text, structured)):
        data["text"] = text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS]} [cut: more than can be read]"
    if left_out := len(answer.content) - len(texts) - len(pictures):
        data["left_out"] = f"{left_out} parts that cannot be passed on"
    return Result(data=data or {"text": ""}, files=pictures)


def _quoted(text: str) -> str:
    """Returns a server's words about a failure on one line, cleaned and shortened."""
    return shorten(clean_line(text), _MAX_QUOTED_CHARS)


def _words(block: types.ContentBlock) -> str | None:
    match block:
        case types.TextContent(text=text):
            return text
        case types.EmbeddedResource(resource=types.TextResourceContents(text=text)):
            return text
        case types.ResourceLink(name=name, uri=uri):
            return f"{name}: {uri}"
        case _:
            return None


def _pictures(blocks: Iterable[types.ContentBlock], tool: str) -> Iterator[ResultFile]:
    images = [block for block in blocks if isinstance(block, types.ImageContent) and block.mime_type in _PICTURES]
    for number, image in enumerate(images[:MAX_PICTURES], start=1):
        with suppress(ValueError):
            name = f"{tool}-{number}.{_PICTURES[image.mime_type]}"
            yield ResultFile(name=name, content_type=image.mime_type, data=base64.b64decode(image.data, validate=True))


def _says(text: str, structured: Any) -> bool:
    """Whether the text only repeats the structured data, as servers do for clients that read only text."""
    match structured:
        case None:
            return False
        case {"result": result, **others} if not others:
            same = (structured, result)
        case _:
            same = (structured,)
    try:
        return text in same or json.loads(text) in same
    except ValueError:
        return False
