"""The model in a process of its own: `python -m tests.campaigns.bench.double anthropic` prints its address, serves
until its standard input ends. It wants one call of the calculator for a question with a product, and then answers;
where it may call nothing, it sums up.
"""

import asyncio
import re
import sys

from tests.campaigns.bench.blocks import tell
from tests.servers.anthropic import AnthropicServer
from tests.servers.openai import OpenAIServer
from tests.servers.script import Heard, Scripted, call, say

_PRODUCT = re.compile(r"(\d+) \* (\d+)")

ANSWER = """\
**{product} = {result}**

I have calculated this exactly, so you can put it into the report as it is. Two more things:

- Nothing was rounded, the figure is a whole number.
- If the *price* changes, tell me the new one and I calculate it again.
"""


SUMMARY = "Somebody has several products calculated for the treasurer's report, each of them a whole number."


def reply(heard: Heard) -> Scripted:
    asked = _PRODUCT.search(heard.text)
    if asked is None:
        return say("Hello! What can I do for you?")
    if not heard.may_call:
        return say(SUMMARY)
    if not heard.answers:
        return call("calculate", {"expression": asked[0]})
    result = str(int(asked[1]) * int(asked[2]))
    return say(ANSWER.format(product=asked[0], result=result if result in heard.answers[-1] else "unknown"))


def _server(vendor: str) -> AnthropicServer | OpenAIServer:
    return AnthropicServer(strict=False) if vendor == "anthropic" else OpenAIServer(strict=False)


async def _served(vendor: str) -> None:
    async with _server(vendor) as server:

        def forgetful(heard: Heard) -> Scripted:
            """What was asked is not needed, and thousands of requests would fill the memory."""
            server.requests.clear()
            server.completed.clear()
            return reply(heard)

        server.reply = forgetful
        tell(server.base_url)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_served(sys.argv[1]))
