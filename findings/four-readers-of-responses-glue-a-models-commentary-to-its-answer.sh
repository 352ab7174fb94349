#!/bin/sh
# openai 3.57.0, langchain-openai 1.7.4, pydantic-ai-slim 2.68.0, litellm 1.110.2, openai-agents 0.24.0. Seen on 2026-11-29.
#
# Guess, written down before: an answer of the Responses API with two messages, one marked as commentary and one as the
# final answer, is read as the final answer, or as two paragraphs.
# Seen: openai's `output_text`, langchain's `text`, pydantic-ai's `output` and litellm run the two together without a
# space: "I compare both prices.The second is cheaper." Only openai-agents gives the final answer alone.
# Whom it hurts: programs that show what these give, with models that say what they are about to do (GPT-5.3-Codex and
# later): sentences without a space, and words that are not the answer.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check \
    openai==3.57.0 langchain-openai==1.7.4 "pydantic-ai-slim[openai]==2.68.0" litellm==1.110.2 openai-agents==0.24.0
cat > read.py <<'PY'
import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version


def message(id_, phase, text):
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"id": id_, "type": "message", "role": "assistant", "status": "completed", "phase": phase, "content": [part]}


ANSWER = {
    "id": "resp_1", "object": "response", "created_at": 1790000000, "model": "gpt-5.4", "status": "completed",
    "error": None, "incomplete_details": None, "instructions": None, "metadata": {}, "parallel_tool_calls": True,
    "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0, "truncation": "disabled",
    "usage": {
        "input_tokens": 9, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 18,
    },
    "output": [
        message("msg_1", "commentary", "I compare both prices."),
        message("msg_2", "final_answer", "The second is cheaper."),
    ],
}


class Api(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Api)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"

import litellm
import openai
from agents import Agent, OpenAIResponsesModel, RunConfig, Runner
from langchain_openai import ChatOpenAI
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.models.openai import OpenAIResponsesModel as PydanticModel
from pydantic_ai.providers.openai import OpenAIProvider

asked = {"model": "gpt-5.4", "input": "Which is cheaper?"}
client = openai.OpenAI(api_key="none", base_url=url)
aclient = openai.AsyncOpenAI(api_key="none", base_url=url)
chat = ChatOpenAI(model="gpt-5.4", api_key="none", base_url=url, use_responses_api=True)
pydantic_agent = PydanticAgent(PydanticModel("gpt-5.4", provider=OpenAIProvider(openai_client=aclient)))
agent = Agent(name="prices", model=OpenAIResponsesModel("gpt-5.4", aclient))
quiet = RunConfig(tracing_disabled=True)
found = {
    "openai": client.responses.create(**asked).output_text,
    "langchain-openai": str(chat.invoke(asked["input"]).text),
    "pydantic-ai-slim": asyncio.run(pydantic_agent.run(asked["input"])).output,
    "litellm": litellm.responses(model="openai/gpt-5.4", input=asked["input"], api_base=url, api_key="none").output_text,
    "openai-agents": asyncio.run(Runner.run(agent, asked["input"], run_config=quiet)).final_output,
}
for name, text in found.items():
    print(f"{name} {version(name)}: {text!r}")
server.shutdown()
glued = "I compare both prices.The second is cheaper."
assert [text == glued for text in found.values()] == [True, True, True, True, False], found
assert found["openai-agents"] == "The second is cheaper."
PY
LITELLM_LOCAL_MODEL_COST_MAP=True venv/bin/python -W ignore read.py
