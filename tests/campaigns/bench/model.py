"""The model before which Aldis is measured. It wants one call of the calculator for a question with a product, and then
answers; where it may call nothing, it sums up.
"""

import re

from tests.servers.anthropic import AnthropicServer
from tests.servers.openai import OpenAIServer
from tests.servers.script import Heard, Scripted, call, say

_PRODUCT = re.compile(r"(\d+) \* (\d+)")
_ANSWER = """\
**{product} = {result}**

I have calculated this exactly, so you can put it into the report as it is. Two more things:

- Nothing was rounded, the figure is a whole number.
- If the *price* changes, tell me the new one and I calculate it again.
"""
_SUMMARY = "A treasurer has several products calculated for the treasurer's report, each of them a whole number."


def reply(heard: Heard) -> Scripted:
    asked = _PRODUCT.search(heard.text)
    if asked is None:
        return say("Hello! What can I do for you?")
    if not heard.may_call:
        return say(_SUMMARY)
    if not heard.answers:
        return call("calculate", {"expression": asked[0]})
    result = str(int(asked[1]) * int(asked[2]))
    return say(_ANSWER.format(product=asked[0], result=result if result in heard.answers[-1] else "unknown"))


def model(vendor: str) -> AnthropicServer | OpenAIServer:
    """A double of this vendor's service that does not keep what was asked: thousands of requests fill the memory."""

    def forgetful(heard: Heard) -> Scripted:
        server.requests.clear()
        server.completed.clear()
        return reply(heard)

    server = AnthropicServer(strict=False) if vendor == "anthropic" else OpenAIServer(strict=False)
    server.reply = forgetful
    return server
