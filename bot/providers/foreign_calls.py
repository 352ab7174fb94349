"""Calls of tools that a model wrote into its words in a form of its own, in place of calling: read out of them. Pure.

    <tool_call>{"name": "get_weather", "arguments": {...}}</tool_call>     Hermes, Qwen
    <function=get_weather><parameter=place>Oslo</parameter></function>     Qwen3-Coder, Llama
    [TOOL_CALLS][{"name": ...}]    <|python_tag|>{"name": ..., "parameters": ...}    Mistral, Llama
    {"name": "get_weather", "arguments": {...}}                            bare, at the beginning or the end
    [get_weather(place="Oslo"), current_time()]                            Llama, as the whole text
    ```tool_code                                                           Gemma, as the whole text
    print(get_weather(place="Oslo"))
    ```

Servers turn these into calls where they know the form, and hand them on as words where they do not. What stands in
code, or only repeats what somebody else has said, is text. Left to others: the forms of single models
(`bot.providers.notations`), the notation that a model is told of (`bot.providers.prompted.markers`), who may call at
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
"""Names of tools as the founding documents and other assistants have them."""

MAX_BLOCKS = 32
"""Of one completion; what looks like a further one is text."""

_TAGS = "tool_call|tool_calls|function_call|function_calls|tool_use"
_OPENING = re.compile(
    rf"<(?P<tag>{_TAGS})>|<(?P<function>function)=[\w.-]{{1,100}}>|<(?P<invoke>invoke) name="
    r"|<\|(?P<token>python_tag|tool_call|tool_calls_begin)\|>|(?P<list>\[TOOL_CALLS\])"
)
_OPENINGS = (
    *(f"<{tag}>" for tag in _TAGS.split("|")),
    "<function=", "<invoke name=", "<|python_tag|>", "<|python_start|>", "<|tool_call|>", "<|tool_calls_begin|>",
    "[TOOL_CALLS]",
    *notations.SIGNS,
)  # fmt: skip
_LEFT_BEHIND = re.compile(rf"\s*</(?:{_TAGS}|function|invoke|parameter)>")
"""A closing tag that closes nothing any more."""
_FENCED = re.compile(r"\s*```\w*")
_FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*(?=\[\s*\{|\{)", re.MULTILINE)
_MAY_BECOME_BARE = re.compile(
    r"(?:\A\s*```\w*\s*|^[ \t]*)(?:\[\s*)?\{\s*(?:\Z|\"(?:[a-z_]{0,8}\Z|(?:name|type|function|id|tool)\"))",
    re.MULTILINE,
)
_PYTHON = re.compile(
    r"\A\s*(?:<\|python_start\|>)?(?:(?P<list>\[.*\])|```tool_code\s(?P<code>.*?)\s*```)(?:<\|python_end\|>)?\s*\Z",
    re.DOTALL,
)
_MAY_BECOME_PYTHON = re.compile(r"\A\s*(?:\[\s*(?:\Z|[A-Za-z_][\w.]{0,100}(?:\Z|\())|<\|python_start|```tool_code\b)")
_MAX_PYTHON_CHARS = 8000
"""Of a text that is read as Python: what is longer is none of a model's calls."""
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
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_SIGNS = ("<", "[", "{", "```tool_code")

_DECODER = json.JSONDecoder(strict=False)


def may_hold(text: str) -> bool:
    """Whether a text may hold a call at all: quickly told of most."""
    return any(sign in text for sign in _SIGNS)


def pieces(text: str, *, names: Collection[str], given: str) -> list[Piece]:
    """The words and the calls, in order; the text itself where there are none.

    `names` are the tools that there are, `given` is what the model was told, `squeeze`.
    """
    if not may_hold(text):
        return [text]
    return _bare(text, names, given) or _python(text, names, given) or _tagged(text, names, given)


def visible_words(text: str) -> str:
    """The words of a completion that is still being written, without what is a call or may become one."""
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
    """Where the end of the text may be the beginning of one of these signs; None: it is none."""
    for start in range(max(0, len(text) - max(map(len, signs))), len(text)):
        if any(sign.startswith(text[start:]) for sign in signs):
            return start
    return None


def code_of(text: str) -> Callable[[int], bool]:
    """What tells whether a place in the text lies within code; what begins the text is none, whatever fence stands
    around it.

    The fences are looked for once, for a text may hold thousands of what looks like a call.
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
    """What stands in a block, and where it ends: with its closing tag, else with the text."""
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
    """The calls in a block; one that cannot be read is malformed, for its model to hear so."""
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
    # Behind the last end nothing is looked for: what has none would be looked for to the end of the text, each time.
    ended = inner[: inner.rfind(_PARAMETER_END) + len(_PARAMETER_END)] if _PARAMETER_END in inner else ""
    parameters = {key: _value(value) for key, value in _XML_PARAMETER.findall(ended)}
    return WrittenCall(name=name, arguments=json.dumps(parameters) if parameters or not inner else inner)


def _value(written: str) -> object:
    """A parameter as it is written; lists and objects are JSON, all else is read by the tool."""
    if written[:1] in {"{", "["}:
        try:
            return _DECODER.decode(written)
        except (ValueError, RecursionError):
            return written
    return written


def _bare(text: str, names: Collection[str], given: str) -> list[Piece] | None:
    """The pieces of a text that begins or ends with nothing but calls of known tools in JSON; None: it does not."""
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
    """The calls of a text that is nothing but calls of known tools in Python, with names and plain values; None: it is
    something else.
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
    """What a line of Python calls: each item of a list, and what is only printed.

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
        ValueError, TypeError: it is none of a known tool with names and plain values.
    """
    if not isinstance(value, ast.Call) or value.args:
        raise ValueError(value)
    name = ast.unparse(value.func).removeprefix("default_api.")
    if name not in names:
        raise ValueError(name)
    arguments = {word.arg or "": ast.literal_eval(word.value) for word in value.keywords}
    return WrittenCall(name=name, arguments=json.dumps(arguments))


def _unfenced(text: str) -> str | None:
    """What stands between the fences around a whole text; None: there are none."""
    begun, end = _FENCED.match(text), len(text.rstrip()) - len("```")
    if begun is None or begun.end() > end or not text.startswith("```", end):
        return None
    return text[begun.end() : end].strip()


def _values(text: str, at: int) -> tuple[list[object], int]:
    """The JSON values that stand there one behind the other, lists opened, and where they end."""
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
    """The call that a value describes; None where it describes none."""
    if not isinstance(value, Mapping):
        return None
    call = cast("Mapping[str, object]", value)
    function = call.get("function")
    if isinstance(function, Mapping):
        call = cast("Mapping[str, object]", function)
    name = call["name"] if "name" in call else call.get("function")
    given = next((key for key in _ARGUMENTS if key in call), None)
    if not isinstance(name, str) or given is None:
        return None
    arguments = call[given]
    written = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
    return WrittenCall(name=name, arguments=written)
