"""Tool calls that a model wrote into its text in a format of its own instead of calling, extracted from it. Pure.

    <tool_call>{"name": "get_weather", "arguments": {...}}</tool_call>     Hermes, Qwen
    <function=get_weather><parameter=place>Oslo</parameter></function>     Qwen3-Coder, Llama
    [TOOL_CALLS][{"name": ...}]    <|python_tag|>{"name": ..., "parameters": ...}    Mistral, Llama
    {"name": "get_weather", "arguments": {...}}                            bare, at the beginning or the end
    [get_weather(place="Oslo"), current_time()]                            Llama, LFM2, as the whole text
    ```tool_code                                                           Gemma, as the whole text
    print(get_weather(place="Oslo"))
    ```

Servers turn these into calls if they know the format, and pass them on as text if they do not. Anything in code, or
that only repeats what somebody else has said, is text. Left to others: the formats of single models
(`bot.providers.notations`), the notation that a model is taught (`bot.providers.prompted.markers`), who may call at
all (`written`).

Source: the chat templates and model cards of these models, and issue threads of Ollama, vLLM and llama.cpp, 2026-11-24.
"""

import ast
import json
import re
import warnings
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import cast

from bot.providers import notations
from bot.providers.prompted.markers import Piece, WrittenCall, squeeze

TOOL_NAMES: Mapping[str, str] = {
    "calculator": "calculate",
    "calc": "calculate",
    "weather": "get_weather",
    "get_current_weather": "get_weather",
    "search": "web_search",
    "search_web": "web_search",
    "get_time": "current_time",
    "get_current_time": "current_time",
}
"""Names of tools in the founding documents and in other assistants."""

MAX_BLOCKS = 32
"""The limit per completion; anything beyond it is text."""

_TAGS = "tool_call|tool_calls|function_call|function_calls|tool_use"
_OPENING = re.compile(
    rf"<(?P<tag>{_TAGS})>|<(?P<function>function)=[\w.-]{{1,100}}>|<(?P<invoke>invoke) name="
    r"|<\|(?P<token>python_tag|tool_call|tool_calls_begin)\|>|(?P<list>\[TOOL_CALLS\])"
)
_OPENINGS = (
    *(f"<{tag}>" for tag in _TAGS.split("|")),
    "<function=", "<invoke name=", "<|python_tag|>", "<|python_start|>", "<|tool_call_start|>", "<|tool_call|>",
    "<|tool_calls_begin|>", "[TOOL_CALLS]",
    *notations.SIGNS,
)  # fmt: skip
_LEFT_BEHIND = re.compile(rf"\s*</(?:{_TAGS}|function|invoke|parameter)>")
"""A closing tag that no longer closes anything."""
_FENCED = re.compile(r"\s*```\w*")
_FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*(?=\[\s*\{|\{)", re.MULTILINE)
_MAY_BECOME_BARE = re.compile(
    r"(?:\A\s*```\w*\s*|^[ \t]*)(?:\[\s*)?\{\s*(?:\Z|\"(?:[a-z_]{0,9}\Z|(?:name|type|function|id|tool|tool_name)\"))",
    re.MULTILINE,
)
_PYTHON = re.compile(
    r"\A\s*(?:<\|(?:python|tool_call)_start\|>)?\s*(?:(?P<list>\[.*\])|```tool_code\s(?P<code>.*?)\s*```)"
    r"\s*(?:<\|(?:python|tool_call)_end\|>)?\s*\Z",
    re.DOTALL,
)
_MAY_BECOME_PYTHON = re.compile(
    r"\A\s*(?:\[\s*(?:\Z|[A-Za-z_][\w.]{0,100}(?:\Z|\())|<\|(?:python|tool_call)_start|```tool_code\b)"
)
_MAX_PYTHON_CHARS = 8000
"""The limit for text parsed as Python; anything longer is not a model's call."""
_ONLY_FENCE = re.compile(r"\s*`{1,3}\w*\s*\Z")
_BEGUN_FUNCTION = re.compile(r"<function=[\w.-]{0,100}\Z")
_XML_FUNCTION = re.compile(
    r"<(?:function=(?P<name>[\w.-]{1,100})|invoke name=[\"']?(?P<named>[\w.-]{1,100})[\"']?)>"
    r"(?P<inner>.*?)(?:</(?:function|invoke)>|\Z)",
    re.DOTALL,
)
_PARAMETER_END = "</parameter>"
_XML_PARAMETER = re.compile(
    r"<parameter(?:=| name=)[\"']?([\w.-]{1,100})[\"']?[^>\n]{0,40}>\n?(.*?)\n?</parameter>", re.DOTALL
)
_NAMED = re.compile(r"\"name\"\s*:\s*\"([\w.-]{1,100})\"")
_BETWEEN = re.compile(r"[\s,;]*")
_NAMES = ("name", "function", "tool", "tool_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_SIGNS = ("<", "[", "{", "```tool_code")

_DECODER = json.JSONDecoder(strict=False)


def may_hold(text: str) -> bool:
    """Whether a text may contain a call at all: a quick check that rules out most."""
    return any(sign in text for sign in _SIGNS)


def pieces(text: str, *, names: Collection[str], given: str) -> list[Piece]:
    """The words and the calls, in order; just the text if there are no calls.

    `names` are the existing tools; `given` is what the model was told, as `squeeze` returns it.
    """
    if not may_hold(text):
        return [text]
    return _bare(text, names, given) or _python(text, names, given) or _tagged(text, names, given)


def words_without_calls(text: str) -> str:
    """The words of an unfinished completion, without anything that is a call or may become one."""
    if not may_hold(text) and not text.lstrip().startswith("`"):
        return text
    ends = [opening.start() for opening in islice(_openings(text), 1)]
    ends += [begun.start() for begun in islice(_MAY_BECOME_BARE.finditer(text), 1)]
    ends += [0] if _MAY_BECOME_PYTHON.match(text) else []
    if (begun := begun_with(text, _OPENINGS)) is not None:
        ends.append(begun)
    ends += [begun.start() for begun in _BEGUN_FUNCTION.finditer(text)][:1]
    kept = text[: min(ends)].rstrip() if ends else text
    return "" if _ONLY_FENCE.match(kept) else kept


def begun_with(text: str, signs: Sequence[str]) -> int | None:
    """The position from which the end of the text may be the beginning of one of these signs; None if it is not."""
    for start in range(max(0, len(text) - max(map(len, signs))), len(text)):
        if any(sign.startswith(text[start:]) for sign in signs):
            return start
    return None


def code_of(text: str) -> Callable[[int], bool]:
    """A function that tells whether a position in the text is in code; the text's beginning never is, whatever fence is
    around it.

    Fences are searched for once, because a text may contain thousands of things that look like a call.
    """
    beginning = len(text) - len(text.lstrip())
    fences = [fence.span() for fence in _FENCE.finditer(text)]

    def is_code(at: int) -> bool:
        if text.endswith("`", 0, at) and not text.endswith("```", 0, at):
            return True
        number = bisect_right(fences, at, key=lambda fence: fence[1])
        return number % 2 == 1 and fences[number - 1][0] > beginning

    return is_code


def _openings(text: str) -> Iterator[re.Match[str]]:
    is_code = code_of(text)
    return (opening for opening in _OPENING.finditer(text) if not is_code(opening.start()))


def _tagged(text: str, names: Collection[str], given: str) -> list[Piece]:
    found: list[Piece] = []
    at = count = 0
    for opening in _openings(text):
        if count >= MAX_BLOCKS:
            break
        if opening.start() < at:
            continue
        inner, end = _block(text, opening)
        if inner.strip() and squeeze(inner) in given:
            continue
        count += 1
        found += [text[at : opening.start()], *_calls(inner, names)]
        at = end
        while left := _LEFT_BEHIND.match(text, at):
            at = left.end()
    if not found:
        return [text]
    found.append(text[at:])
    words = [piece.strip().removeprefix("```").strip() if isinstance(piece, str) else piece for piece in found]
    return [piece for piece in words if piece]


def _block(text: str, opening: re.Match[str]) -> tuple[str, int]:
    """The contents of a block, and its end: at its closing tag, or else at the end of the text."""
    tag = opening["tag"]
    if tag is not None:
        close = text.find(f"</{tag}>", opening.end())
        return (text[opening.end() : close], close + len(tag) + 3) if close >= 0 else (text[opening.end() :], len(text))
    if opening["function"] or opening["invoke"]:
        function = _XML_FUNCTION.match(text, opening.start())
        end = function.end() if function else len(text)
        return text[opening.start() : end], end
    return text[opening.end() :], len(text)


def _calls(inner: str, names: Collection[str]) -> list[WrittenCall]:
    """The calls in a block; an unreadable one is malformed, so that the model is told."""
    functions = list(_XML_FUNCTION.finditer(inner))
    if functions:
        return [_of_xml(function) for function in functions[:MAX_BLOCKS]]
    fenced = _unfenced(inner)
    written = inner.strip() if fenced is None else fenced
    values, _ = _values(written, 0)
    calls = [_written(value) for value in values]
    if calls and all(call is not None for call in calls):
        return [call for call in calls if call is not None]
    name = _NAMED.search(written)
    known = next((known for known in names if written.startswith(known)), None)
    return [WrittenCall(name=name[1] if name else known or "unnamed", arguments=written)] if written else []


def _of_xml(function: re.Match[str]) -> WrittenCall:
    name, inner = function["name"] or function["named"], function["inner"].strip()
    # Nothing is searched for after the last end; each unclosed parameter would be searched to the end of the text.
    ended = inner[: inner.rfind(_PARAMETER_END) + len(_PARAMETER_END)] if _PARAMETER_END in inner else ""
    parameters = {key: _value(value) for key, value in _XML_PARAMETER.findall(ended)}
    return WrittenCall(name=name, arguments=json.dumps(parameters) if parameters or not inner else inner)


def _value(written: str) -> object:
    """A parameter's value; lists and objects are JSON, anything else is left to the tool."""
    if written[:1] in {"{", "["}:
        try:
            return _DECODER.decode(written)
        except (ValueError, RecursionError):
            return written
    return written


def _bare(text: str, names: Collection[str], given: str) -> list[Piece] | None:
    """The pieces of a text that begins or ends with nothing but JSON calls of known tools; None if it does not."""
    fenced = _unfenced(text)
    inner = text if fenced is None else fenced
    is_code = code_of(inner)
    if not any(name in inner for name in names):
        return None
    for line in islice(_LINE.finditer(inner), MAX_BLOCKS):
        values, end = _values(inner, line.end())
        calls = [_written(value) for value in values]
        known = [call for call in calls if call is not None and call.name in names]
        is_first = not inner[: line.start()].strip()
        if not known or len(known) < len(calls) or (inner[end:].strip() and not is_first):
            continue
        if is_code(line.start()) or squeeze(inner[line.end() : end]) in given:
            continue
        words = inner[: line.start()].rstrip()
        return [words, *known] if words else [*known]
    return None


def _python(text: str, names: Collection[str], given: str) -> list[Piece] | None:
    """The calls of a text that is nothing but Python calls of known tools with keywords and plain values; None for any
    other text.
    """
    found = _PYTHON.match(text) if len(text) <= _MAX_PYTHON_CHARS and any(name in text for name in names) else None
    written = (found["list"] or found["code"]) if found else ""
    if not written or squeeze(written) in given:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            lines = ast.parse(written).body
        calls = [_of_python(value, names) for line in lines for value in _expressions(line)]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    return [*calls[:MAX_BLOCKS]] or None


def _expressions(line: ast.stmt) -> list[ast.expr]:
    """The calls in a line of Python: each item of a list, and anything that is only printed.

    Raises:
        TypeError: it is more than an expression.
    """
    if not isinstance(line, ast.Expr):
        raise TypeError(line)
    value = line.value
    if isinstance(value, ast.List):
        return value.elts
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "print" and len(value.args) == 1:
        return value.args
    return [value]


def _of_python(value: ast.expr, names: Collection[str]) -> WrittenCall:
    """A call in Python.

    Raises:
        ValueError, TypeError: it is not a call of a known tool with keywords and plain values.
    """
    if not isinstance(value, ast.Call) or value.args:
        raise ValueError(value)
    name = ast.unparse(value.func).removeprefix("default_api.")
    if name not in names:
        raise ValueError(name)
    arguments = {word.arg or "": ast.literal_eval(word.value) for word in value.keywords}
    return WrittenCall(name=name, arguments=json.dumps(arguments))


def _unfenced(text: str) -> str | None:
    """The contents between the fences around a whole text; None if there are none."""
    begun, end = _FENCED.match(text), len(text.rstrip()) - len("```")
    if begun is None or begun.end() > end or not text.startswith("```", end):
        return None
    return text[begun.end() : end].strip()


def _values(text: str, at: int) -> tuple[list[object], int]:
    """The consecutive JSON values at this position, with lists flattened, and where they end."""
    found: list[object] = []
    while len(found) < MAX_BLOCKS:
        between = _BETWEEN.match(text, at)
        start = between.end() if between else at
        if text[start : start + 1] not in {"{", "["}:
            break
        try:
            value, at = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        found += cast("list[object]", value) if isinstance(value, list) else [value]
    return found[:MAX_BLOCKS], at


def _written(value: object) -> WrittenCall | None:
    """The call that a value describes; None if it describes none."""
    if not isinstance(value, Mapping):
        return None
    call = cast("Mapping[str, object]", value)
    function = call.get("function")
    if isinstance(function, Mapping):
        call = cast("Mapping[str, object]", function)
    name = next((call[key] for key in _NAMES if key in call), None)
    given = next((key for key in _ARGUMENTS if key in call), None)
    if not isinstance(name, str) or given is None:
        return None
    arguments = call[given]
    written = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
    return WrittenCall(name=name, arguments=written)
