"""A scripted model without tool support: it writes its calls as text, and reads tools and results as text.

Written from the instructions that such a model gets, not with the code that produces them.
"""

import json
import re
from typing import Any

from tests.servers.script import Call, Heard

_TOOL = re.compile(r"^([\w-]+): .*\nArguments: \{", re.MULTILINE)
_RESULT = re.compile(r"<<RESULT: [\w-]+>>\n(.*?)(?=\n\n<<RESULT: |\n\n\(No tool|\nWrite it like this|\Z)", re.DOTALL)
_NO_MORE = "(No tool can be used any more"

Json = dict[str, Any]


def written(call: Call) -> str:
    arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
    return f"<<{call.name}: {arguments}>>"


def heard(messages: list[Json]) -> Heard:
    system = next((message["content"] for message in messages if message["role"] == "system"), "")
    tools = tuple(_TOOL.findall(system))
    text, answers = "", list[str]()
    for said in (message["content"] for message in messages if message["role"] == "user"):
        if said.startswith("<<RESULT: "):
            answers += _RESULT.findall(said)
        else:
            text, answers = said.partition(f"\n\n{_NO_MORE}")[0], []
    return Heard(
        text=text, answers=tuple(answers), tools=tools, may_call=bool(tools) and _NO_MORE not in messages[-1]["content"]
    )
