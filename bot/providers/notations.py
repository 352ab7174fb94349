"""Special tokens of models' own chat templates that a server passes on as text, converted to one format. Pure.

    <|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello.      gpt-oss
    <|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{...}<|call|>         gpt-oss
    <|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{...}<|tool_call_end|>     Kimi
    <｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{...}<｜tool▁call▁end｜>                        DeepSeek
    <｜DSML｜invoke name="get_weather">...</｜DSML｜invoke>                                           DeepSeek
    <tool_call>get_weather<arg_key>place</arg_key><arg_value>Oslo</arg_value></tool_call>            GLM
    [TOOL_CALLS]get_weather[ARGS]{...}                                                               Mistral
    <|tool_call>call:get_weather{place:<|"|>Oslo<|"|>}<tool_call|>                                   Gemma

Calls become `<tool_call>{"name": ..., "arguments": ...}</tool_call>`, which `foreign_calls` reads; thoughts are
removed, and words for people stay. Anything in code is left alone.

Source: developers.openai.com (harmony response format), the chat templates of these models, and issue threads of vLLM,
Ollama and llama.cpp about each that came through, 2026-11-24.
"""

import json
import re
from collections.abc import Callable

_NAME = r"(?:functions\.)?(?P<name>[\w.-]{1,100}?)"
_TO = re.compile(r"\bto=(?:functions\.)?([\w.-]{1,100})")
_HEADLESS = re.compile(r"\Aanalysis(?=[A-Z]).*?assistantfinal", re.DOTALL)
"""What remains of gpt-oss's text if a server drops its special tokens."""
_BARE_KEY = re.compile(r"([{,]\s*)([\w.-]{1,100})\s*:")
SIGNS = (
    "<|channel|>", "<|start|>", "<|end|>", "<|return|>", "<|call|>", "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>", "<|tool_call_begin|>", "<｜", "<|tool_call>", "<tool_call|>",
)  # fmt: skip
"""What the end of an unfinished text may become."""
_LEFT = re.compile(r"<\|(?:start|channel|tool_calls_section_begin|tool_call_begin)\|>|<｜|</?｜DSML|<\|tool_call>")

_MAX_REWRITTEN = 200
"""The limit per format and text; anything beyond it is text."""


def _call(name: str, arguments: str) -> str:
    return f'<tool_call>{{"name": {json.dumps(name)}, "arguments": {arguments.strip() or "{}"}}}</tool_call>'


def _plain_call(found: re.Match[str]) -> str:
    return _call(found["name"], found["arguments"])


def _of_channel(found: re.Match[str]) -> str:
    recipient = _TO.search(f"{found['before'] or ''} {found['after']}")
    if recipient is not None:
        return _call(recipient[1], found["said"])
    if found["channel"] == "analysis":
        return ""
    return found["said"] if found["channel"] == "final" else f"{found['said']}\n\n"


def _of_gemma(found: re.Match[str]) -> str:
    pieces = found["arguments"].split('<|"|>')
    written = (json.dumps(text) if place % 2 else _BARE_KEY.sub(r'\1"\2":', text) for place, text in enumerate(pieces))
    return _call(found["name"], "".join(written))


_FORMS: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (
        "<|message|>",
        re.compile(
            r"(?:<\|start\|>assistant(?P<before>[^<]{0,120}))?<\|channel\|>(?P<channel>\w{1,20})(?P<after>[^<]{0,120})"
            r"(?:<\|constrain\|>\s?\w{0,20}\s?)?<\|message\|>(?P<said>.*?)"
            r"(?:<\|(?:end|call|return)\|>|(?=<\|(?:start|channel)\|>)|\Z)",
            re.DOTALL,
        ),
        _of_channel,
    ),
    (
        "<|tool_call_begin|>",
        re.compile(
            rf"<\|tool_call_begin\|>\s*{_NAME}(?::\d{{1,6}})?\s*<\|tool_call_argument_begin\|>"
            r"(?P<arguments>.*?)(?:<\|tool_call_end\|>|\Z)",
            re.DOTALL,
        ),
        _plain_call,
    ),
    ("<|tool_calls_section", re.compile(r"<\|tool_calls_section_(?:begin|end)\|>"), lambda _: ""),
    (
        "<｜tool▁call▁begin｜>",
        re.compile(
            rf"<｜tool▁call▁begin｜>\s*(?:function<｜tool▁sep｜>)?{_NAME}\s*+(?:<｜tool▁sep｜>\s*+)?(?:```\w{{0,10}}\s*)?"
            r"(?P<arguments>\{.*?)(?:<｜tool▁call▁end｜>|\Z)",
            re.DOTALL,
        ),
        lambda found: _call(found["name"], found["arguments"].rstrip().removesuffix("```")),
    ),
    ("<｜tool▁calls▁", re.compile(r"<｜tool▁calls▁(?:begin|end)｜>"), lambda _: ""),
    ("｜DSML｜", re.compile(r"<(/?)｜DSML｜"), lambda found: f"<{found[1]}"),
    (
        "<arg_key>",
        re.compile(r"<arg_key>\s*([\w.-]{1,100})\s*</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|\Z)", re.DOTALL),
        lambda found: f"<parameter={found[1]}>{found[2]}</parameter>",
    ),
    (
        "<tool_call>",
        re.compile(r"<tool_call>\s*([\w.-]{1,100})\s*(?=<parameter=|</tool_call>)"),
        lambda found: f"<tool_call><function={found[1]}>",
    ),
    (
        "[TOOL_CALLS]",
        re.compile(
            rf"\[TOOL_CALLS\]\s*{_NAME}(?:\[CALL_ID\]\w{{1,40}})?(?:\[ARGS\]\s*|\s*(?=\{{))(?P<arguments>.*?)"
            r"(?=\[TOOL_CALLS\]|\Z)",
            re.DOTALL,
        ),
        _plain_call,
    ),
    (
        "<|tool_call>",
        re.compile(rf"<\|tool_call>\s*call:{_NAME}(?P<arguments>\{{.*?)(?:<tool_call\|>|\Z)", re.DOTALL),
        _of_gemma,
    ),
)


def in_one_form(text: str, code_of: Callable[[str], Callable[[int], bool]]) -> str:
    """The text with such calls in the one format, and without such thoughts; unchanged if there are none.

    `code_of` returns, for a text, a function that tells whether a position is in code.
    """
    if text.startswith("analysis"):
        text = _HEADLESS.sub("", text)
    for sign, form, written in _FORMS:
        if sign in text:
            text = _rewritten(text, form, written, code_of(text))
    return text


def _rewritten(
    text: str, form: re.Pattern[str], written: Callable[[re.Match[str]], str], is_code: Callable[[int], bool]
) -> str:
    def put(found: re.Match[str]) -> str:
        return found[0] if is_code(found.start()) else written(found)

    return form.sub(put, text, count=_MAX_REWRITTEN)


def readable_end(text: str) -> int | None:
    """Returns where an unfinished text becomes unreadable for now; None: nowhere."""
    if "analysis".startswith(text) or (text.startswith("analysis") and text[8].isupper()):
        return 0
    left = _LEFT.search(text)
    return left.start() if left else None
