"""The floor below Aldis's figures: the loop that one writes in an afternoon with the plain SDK.

One process, one SQLite file, messages kept as JSON, the last twenty turns sent with each question, a tool that is a
plain function. A commit for the question and one for what came of it: after a crash in between the question is there
and unanswered, an answer on its way is lost, and everything can be read by whoever has the file.

`python -m tests.campaigns.bench.plain VENDOR ADDRESS` measures blocks as `subject` does; the file lies in the working
directory.
"""

import asyncio
import json
import sqlite3
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

from simpleeval import simple_eval

from tests.campaigns.bench import blocks

WINDOW_TURNS = 20
MAX_ROUNDS = 5
MAX_TOKENS = 4096
SYSTEM = (
    "You are a private assistant that people write to in a messenger. Answer briefly and plainly, as one writes in a "
    "chat. Use the tools for what you cannot know or should not guess."
)
NAME = "calculate"
DESCRIPTION = (
    "Calculates an arithmetic expression exactly. Use it for every calculation beyond the trivial. Knows + - * / // % "
    "and **, brackets, pi and e, and the usual functions. No variables, no units, no commas within numbers."
)
PARAMETERS: dict[str, object] = {
    "type": "object",
    "properties": {"expression": {"type": "string", "description": "Arithmetic such as (17*23 - 4)**2 / 3."}},
    "required": ["expression"],
}

Json = dict[str, Any]


def calculate(arguments: Mapping[str, Any]) -> str:
    """The tool; what goes wrong is told to the model."""
    try:
        return json.dumps({"result": simple_eval(arguments["expression"])})
    except Exception as error:  # noqa: BLE001  (one afternoon)
        return json.dumps({"error": str(error)})


class Memory:
    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path)
        self._connection.executescript(
            """
            PRAGMA journal_mode = WAL;
            CREATE TABLE IF NOT EXISTS messages (
                id INTEGER PRIMARY KEY, conversation TEXT NOT NULL, turn INTEGER NOT NULL, message TEXT NOT NULL
            );
            CREATE INDEX IF NOT EXISTS by_turn ON messages (conversation, turn);
            """
        )

    def next_turn(self, conversation: str) -> int:
        query = "SELECT coalesce(max(turn), 0) + 1 FROM messages WHERE conversation = ?"
        return self._connection.execute(query, (conversation,)).fetchone()[0]

    def load(self, conversation: str, from_turn: int) -> list[Json]:
        query = "SELECT message FROM messages WHERE conversation = ? AND turn >= ? ORDER BY id"
        return [json.loads(message) for (message,) in self._connection.execute(query, (conversation, from_turn))]

    def save(self, conversation: str, turn: int, *messages: Json) -> None:
        with self._connection:
            self._connection.executemany(
                "INSERT INTO messages (conversation, turn, message) VALUES (?, ?, ?)",
                [(conversation, turn, json.dumps(message)) for message in messages],
            )

    def close(self) -> None:
        self._connection.close()


@asynccontextmanager
async def anthropic_loop(address: str) -> AsyncGenerator[blocks.Ask]:
    import anthropic  # noqa: PLC0415  (each subject loads the SDK it is about)
    from anthropic.types import MessageParam, ToolParam  # noqa: PLC0415

    client = anthropic.AsyncAnthropic(api_key="test-key", base_url=address)
    memory = Memory("plain.db")
    tools: list[ToolParam] = [{"name": NAME, "description": DESCRIPTION, "input_schema": PARAMETERS}]

    async def ask(conversation: str, text: str) -> str:
        turn = memory.next_turn(conversation)
        question: MessageParam = {"role": "user", "content": text}
        memory.save(conversation, turn, cast("Json", question))
        messages = cast("list[MessageParam]", memory.load(conversation, turn - WINDOW_TURNS))
        said: list[Json] = []
        for _ in range(MAX_ROUNDS):
            answer = await client.messages.create(
                model="claude-haiku-5-5", max_tokens=MAX_TOKENS, system=SYSTEM, tools=tools, messages=messages
            )
            messages.append({"role": "assistant", "content": answer.content})
            said.append(
                {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in answer.content]}
            )
            calls = [block for block in answer.content if block.type == "tool_use"]
            if not calls:
                break
            results = [
                {"type": "tool_result", "tool_use_id": call.id, "content": calculate(call.input)} for call in calls
            ]
            messages.append(cast("MessageParam", {"role": "user", "content": results}))
            said.append({"role": "user", "content": results})
        memory.save(conversation, turn, *said)
        return "".join(block["text"] for block in said[-1]["content"] if block["type"] == "text")

    async with client:
        yield ask
    memory.close()


@asynccontextmanager
async def openai_loop(address: str) -> AsyncGenerator[blocks.Ask]:
    import openai  # noqa: PLC0415
    from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam  # noqa: PLC0415

    client = openai.AsyncOpenAI(api_key="test-key", base_url=address)
    memory = Memory("plain.db")
    function = {"name": NAME, "description": DESCRIPTION, "parameters": PARAMETERS}
    tools = [cast("ChatCompletionToolParam", {"type": "function", "function": function})]
    system: ChatCompletionMessageParam = {"role": "system", "content": SYSTEM}

    async def ask(conversation: str, text: str) -> str:
        turn = memory.next_turn(conversation)
        memory.save(conversation, turn, {"role": "user", "content": text})
        past = cast("list[ChatCompletionMessageParam]", memory.load(conversation, turn - WINDOW_TURNS))
        messages, said = [system, *past], list[Json]()
        for _ in range(MAX_ROUNDS):
            completion = await client.chat.completions.create(
                model="gpt-4.1", max_tokens=MAX_TOKENS, tools=tools, messages=messages
            )
            message = completion.choices[0].message
            spoken = message.model_dump(exclude_none=True)
            messages.append(cast("ChatCompletionMessageParam", spoken))
            said.append(spoken)
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                if call.type == "function":
                    result = calculate(json.loads(call.function.arguments))
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
                    said.append({"role": "tool", "tool_call_id": call.id, "content": result})
        memory.save(conversation, turn, *said)
        return said[-1].get("content") or ""

    async with client:
        yield ask
    memory.close()


if __name__ == "__main__":
    loops = {"anthropic": anthropic_loop, "openai": openai_loop}
    asyncio.run(blocks.serve(loops[sys.argv[1]](sys.argv[2])))
