"""The home of the MCP SDK: a connection to a server, and what servers send in the forms that models take.

    schema --known keywords, cleaned texts--> a class of arguments: what models see, and what calls are checked by
    answer --> text, structured data, pictures

A schema that a vendor's API refuses makes every question fail. So only known keywords are kept (no patterns, which the
server checks anyway), and references stay inside the schema. A schema that cannot be adapted is refused as a whole.

Imported only when the first server is started (`tools.mcp.servers`). A connection is opened and closed in the same
task; calls may come from any. A message has at most `MAX_ANSWER_BYTES`. A command sees PATH, HOME, LANG and TZ and what
the operator gives it, none of our settings; its standard error is discarded, and it is ended with everything it
started. Requests to an address use no proxy of the environment and follow no redirect to another host.

Source: JSON Schema 2020-12; jsonschema 4.26.0; the rules for tools of the APIs of Anthropic and OpenAI; Model Context
Protocol 2026-07-28, "Tools"; read 2026-11-21. mcp 2.3.0: `call_tool` checks answers against the server's own schema,
which can take forever; the level below does not. Its client for commands has no bound for a line, and its time grows
with the square of the length: 12 MB took 1.2 s of the event loop, 60 MB more than a minute (measured 2026-11-27), so
the lines of commands are read here.
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
from tools.errors import BadArguments, Unavailable
from tools.mcp.options import ServerOptions
from tools.mcp.servers import AnswerLost, ConnectionState, Greeting, ListedTool, McpSession, SessionFailed
from tools.text import clean_line, clean_text, shorten

MAX_ANSWER_BYTES = 12_000_000
"""Per answer: the largest picture, in base64."""
MAX_TOOLS = 32
"""The limit of tools per server; every question pays for each."""
MAX_SCHEMA_BYTES = 8_000
MAX_TEXT_CHARS = 200_000
"""Far more than models are shown, and still quick to shorten."""
MAX_PICTURES = 4
MAX_PICTURE_BYTES = 8_000_000
_MAX_NAMED = 10
_MAX_LEVELS = 20
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
_KINDS = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "png", "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "jpg", "image/jpeg"),
    (re.compile(rb"GIF8"), "gif", "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "webp", "image/webp"),
)
"""Pictures by their first bytes, whatever the server says."""

_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""The argument names that Anthropic's API accepts."""
_REFERENCE = re.compile(r"#|#/(\$defs|definitions|properties)/([^/]+)")
"""The references that are followed: to the whole schema, a definition, an argument."""
_ONE_SCHEMA = frozenset({"items", "additionalProperties", "not"})
_SCHEMAS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED_SCHEMAS = frozenset({"properties", "$defs", "definitions"})
_VALUES = frozenset(
    {
        *("type", "required", "enum", "const", "default", "format", "uniqueItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    }
)
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

    Enter and leave it in the same task, inside a cancel scope that bounds the opening.

    Raises:
        SessionFailed: it could not be opened, or broke.
    """
    try:
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
    except Exception as error:  # no list of what a server can cause in the SDK exists
        raise SessionFailed(", ".join(dict.fromkeys(_kinds(error)))) from error


class _Session:
    """An open connection; see `McpSession`."""

    def __init__(self, client: Client, state: ConnectionState) -> None:
        self._client = client
        self._state = state

    async def listing(self, wanted: tuple[str, ...] | None) -> tuple[tuple[ListedTool, ...], list[str]]:
        """See `McpSession`; exceptions of the SDK become `SessionFailed` where the session is left."""
        fit: list[ListedTool] = []
        unfit: list[str] = []
        page = await self._client.list_tools()
        found = page.tools
        while page.next_cursor is not None:
            page = await self._client.list_tools(cursor=page.next_cursor)
            found += page.tools
        for tool in found:
            if wanted is not None and tool.name not in wanted:
                continue
            try:
                listed = _listed(tool)
            except UnfitSchema:
                unfit.append(tool.name)
            else:
                fit.append(listed)
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
            raise AnswerLost("the server's answer cannot be read") from error
        if isinstance(answer, types.InputRequiredResult):
            raise Unavailable("it wants to ask something, which is not possible here; nothing happened")
        if answer.is_error:
            raise Unavailable("the tool says that it failed; what it says is quoted", quoted=quote_failure(answer))
        return result_of(answer, tool=shown_as)

    def _translate(self, error: MCPError) -> Exception:
        """Translates an error of the SDK, depending on whether the call may have happened."""
        code, message = error.error.code, error.error.message
        is_closed = code == types.CONNECTION_CLOSED and message.startswith(_SDK_SAYS_CLOSED)
        if is_closed or message in _SESSION_IS_OVER:
            self._state.ended.set()
            return AnswerLost("the server went away meanwhile")
        if code == types.INTERNAL_ERROR and self._state.status in _REFUSALS:
            return Unavailable(f"the server refuses the call (HTTP {self._state.status})")
        if code in {types.INTERNAL_ERROR, types.PARSE_ERROR, types.CONNECTION_CLOSED}:
            return AnswerLost("the server failed meanwhile")
        refused = BadArguments if code == types.INVALID_PARAMS else Unavailable
        return refused("the server refuses the call", quoted=_short(message, _MAX_QUOTED_CHARS))


def _kinds(error: BaseException) -> list[str]:
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [kind for part in group.exceptions for kind in _kinds(part)]
    is_closed = isinstance(error, MCPError) and error.error.code == types.CONNECTION_CLOSED
    return ["it ended" if is_closed else type(error).__name__]


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
                raise httpx2.ReadError("more than an answer may hold")
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
    stdout = cast("asyncio.StreamReader", process.stdout)
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with heard:
            try:
                while line := await stdout.readline():
                    await heard.send(_message(line))
            except ValueError:  # longer than the limit
                state.why = _TOO_LONG
    state.ended.set()


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
    """The schema is invalid, too large, too deep or too odd to be shown; the tool cannot be offered."""


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
        if problems := "; ".join(_problems(cls.validator, given)):
            raise PydanticCustomError("json_schema", "{problems}", {"problems": problems})
        return {"given": given}


def arguments_of(schema: Mapping[str, Any]) -> type[GivenArguments]:
    """Returns the class of arguments that the schema describes.

    Raises:
        UnfitSchema: it cannot be shown to a model; leave the tool out.
    """
    fit: dict[str, Any] = {"properties": {}, **_fit_schema(dict(schema), schema, _MAX_LEVELS), "type": "object"}
    try:
        # JSON knows no NaN, and UTF-8 no half surrogate pairs: a request with them would be refused, whatever it asks.
        size = len(json.dumps(fit, allow_nan=False, ensure_ascii=False).encode())
        Draft202012Validator.check_schema(fit)
    except (SchemaError, ValueError, RecursionError) as error:
        raise UnfitSchema("no schema") from error
    if size > MAX_SCHEMA_BYTES:
        raise UnfitSchema("too large")
    shown = {key: value for key, value in fit.items() if key not in _NOT_AT_THE_TOP}
    validator = Draft202012Validator(fit, registry=Registry())
    return type("Given", (GivenArguments,), {"__module__": __name__, "shown": shown, "validator": validator})


def _listed(tool: types.Tool) -> ListedTool:
    """Returns the tool as it is offered; raises `UnfitSchema` if that is impossible."""
    arguments = arguments_of(tool.input_schema)
    hints = tool.annotations or types.ToolAnnotations()
    return ListedTool(
        name=tool.name,
        description=_short(tool.description or "", _MAX_DESCRIPTION_CHARS) or "Says nothing of itself.",
        schema=arguments.shown,
        arguments=arguments,
        # If the server says nothing, assume the worst.
        effects="none" if hints.read_only_hint else "repeatable" if hints.idempotent_hint else "once",
        # Its default is that every tool does, which would say nothing.
        reaches_out=hints.open_world_hint is True,
        deletes=hints.destructive_hint is True,
    )


def _problems(validator: Validator | None, given: Any) -> Iterator[str]:
    if validator is None or not isinstance(given, dict):
        yield "must be an object"
        return
    try:
        for error in islice(validator.iter_errors(cast("dict[str, Any]", given)), _SHOWN_PROBLEMS):
            place = ".".join(map(str, error.absolute_path))
            words = shorten(error.message, _MAX_PROBLEM_CHARS)
            yield f"{place}: {words}" if place else words
    except (RecursionError, ArithmeticError):
        yield "nested too deeply, or with too large a number, to be checked"


def _fit_schema(schema: Any, whole: Mapping[str, Any], levels: int) -> Any:
    """Returns the schema with known keywords only, its texts cleaned and shortened."""
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict) or levels == 0:
        raise UnfitSchema("no schema, or too deep")
    fit: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", schema).items():
        if (kept := _keyword(key, value, whole, levels - 1)) is not None:
            fit[key] = kept
    if fit.get("type") == "array":
        fit.setdefault("items", {})  # OpenAI's API refuses lists of nothing in particular
    return fit


def _keyword(key: str, value: Any, whole: Mapping[str, Any], levels: int) -> Any:
    """Returns what is kept of a keyword; None: nothing."""
    if key in _ONE_SCHEMA:
        return _fit_schema(value, whole, levels)
    if key in _SCHEMAS and isinstance(value, list):
        return [_fit_schema(item, whole, levels) for item in cast("list[Any]", value)]
    if key in _NAMED_SCHEMAS and isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        if not all(map(_PROPERTY.fullmatch, named)):
            raise UnfitSchema("the name of an argument that no model may use")
        return {name: _fit_schema(item, whole, levels) for name, item in named.items()}
    if key == "description" and isinstance(value, str):
        return shorten(clean_text(value[:MAX_SCHEMA_BYTES]), _MAX_ARGUMENT_CHARS)
    if key == "$ref" and isinstance(value, str) and value.startswith("#"):
        match = _REFERENCE.fullmatch(value)
        if match is None or (match[1] and match[2] not in whole.get(match[1], {})):
            raise UnfitSchema("a reference leads to no schema")
        return value
    value = clean_text(value) if isinstance(value, str) else value
    return value if key in _VALUES else None


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


def quote_failure(answer: types.CallToolResult) -> str:
    """Returns a server's message about a failure, cleaned and shortened."""
    return _short(" ".join(filter(None, map(_words, answer.content))), _MAX_QUOTED_CHARS)


def _short(text: str, max_chars: int) -> str:
    """Returns a server's text on one line, cleaned and shortened."""
    return shorten(clean_line(text[: 20 * max_chars]), max_chars)


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
    images = [block for block in blocks if isinstance(block, types.ImageContent)]
    for number, image in enumerate(images[:MAX_PICTURES], start=1):
        try:
            data = base64.b64decode(image.data, validate=True)
        except ValueError:
            continue
        kind = next((kind for kind in _KINDS if kind[0].match(data)), None)
        if kind is not None and len(data) <= MAX_PICTURE_BYTES:
            yield ResultFile(name=f"{tool}-{number}.{kind[1]}", content_type=kind[2], data=data)


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
    except (ValueError, RecursionError):
        return False
