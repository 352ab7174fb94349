"""A double of OpenAI's two APIs, chat completions and responses, which refuses what they refuse.

    async with OpenAIServer() as server:
        server.scripted(call("get_weather", {"place": "Oslo"}), say("It is cold."))
        ... OpenAI(api_key=server.key, base_url=server.base_url, ...) ...

`local=True` makes it one of the compatible servers (Ollama, vLLM, LM Studio): any key, any model, chat templates.
The rules are in `tests.servers.openai_rules`, the scripted answers in `tests.servers.script`.
"""

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp import web

from tests.servers import openai_rules as rules
from tests.servers.base import Seen
from tests.servers.model_hosts import ModelHost
from tests.servers.script import Call, Heard, Mistake, ModelServer, Say, Scripted, Think, Tokens

CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"

_TOOL = re.compile(r"^([\w-]+)(?:\(.*\): |: .*\nArguments: \{)", re.MULTILINE)
_RESULT = re.compile(r"<<RESULT: [\w-]+>>\n(.*?)(?=\n\n<<RESULT: |\n\n\(No tool|\nWrite it like this|\Z)", re.DOTALL)
_NO_MORE = "(No tool can be used any more"

Json = dict[str, Any]


@dataclass
class OpenAIServer(ModelServer):
    local: bool = False
    refuses: frozenset[str] = frozenset()
    """Parameters of chat completions that this server does not know, as `unsupported_parameter`."""
    sees: bool = False
    """Whether the model of a local server takes more than words."""
    takes_tools: bool = True
    """Whether the server takes tools; where not it refuses them with `tool_refusal`."""
    tool_refusal: str = "ollama"
    writes_calls: bool = False
    """Whether its model writes the calls of the script into its words, as one that was told of tools in its prompt."""
    thinks: bool = True
    """Whether its model thinks; where not, a request that says how much is refused as by Ollama (0.17.4, seen on
    2026-11-24).
    """
    knows_parallel_calls: bool = True
    knows_tools: bool = True
    """Whether the template of its model knows tools: those that are offered are left out without a word, and an answer
    of one is refused.
    """
    carries: rules.Carried | None = None
    """Whose server it is as to what has to come back with a call; None: nothing is given that would."""
    carried: list[Any] = field(default_factory=list[Any])
    says_stop: bool = False
    """Say finish_reason "stop" although there are tool calls, as some compatible servers do."""
    host: ModelHost | None = None
    """What a local server tells of its models besides their names."""
    reasoning_follows: dict[str, str] = field(default_factory=dict)

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def check_key(self, seen: Seen) -> None:
        given = seen.headers.get("authorization", "").removeprefix("Bearer ")
        if self.key is not None and not self.local and given != self.key:
            raise Mistake("Incorrect API key provided.", status=401, code="invalid_api_key")

    def listed(self, seen: Seen) -> Json:
        """The models, or the one of that name (OpenAI's API reference, "Models", 2026-11-22)."""
        entry = self.host.entry if self.host else _named
        models = [entry(name) for name in self.models or rules.MODELS]
        named = seen.path.removeprefix("/v1/models/")
        if named != seen.path:
            if self.local and self.models is None:
                return entry(named)
            found = next((model for model in models if model["id"] in {named, f"{named}:latest"}), None)
            if found is None:
                raise Mistake(f"The model '{named}' does not exist", status=404, code="model_not_found")
            return found
        if seen.path != "/v1/models":
            raise Mistake(f"Invalid URL (GET {seen.path})", status=404)
        return {"object": "list", "data": models}

    def look(self, seen: Seen) -> web.StreamResponse:
        """What servers at home tell besides stands beside OpenAI's API; a server that has none of it says so."""
        if seen.path not in ModelHost.OWN_PATHS:
            return super().look(seen)
        name = json.loads(seen.body)["model"] if seen.body else (self.models or rules.MODELS)[-1]
        told = self.host.own_answer(seen.path, name) if self.host else None
        return web.json_response(told or {"detail": "Not Found"}, status=200 if told else 404)

    def check(self, seen: Seen, body: Json) -> None:
        if seen.method != "POST" or seen.path not in {CHAT, RESPONSES}:
            raise Mistake(f"Invalid URL ({seen.method} {seen.path})", status=404)
        self._check_model(body)
        if seen.path == RESPONSES:
            rules.check_responses(body, reasoning_follows=self.reasoning_follows)
        else:
            rules.check_chat(body, refuses=self.refuses, is_local=self.local, sees=self.sees, carries=self.carries)
            rules.check_carried(self.carries, body["messages"], self.carried)
            if "reasoning_effort" in body and not self.thinks:
                raise Mistake(f'"{body["model"]}" does not support thinking', kind="api_error")
            if body.get("tools") and not self.takes_tools:
                raise Mistake(**rules.NO_TOOLS[self.tool_refusal])
            if self.local:
                rules.check_template(
                    body["messages"], knows_tools=self.knows_tools, knows_parallel_calls=self.knows_parallel_calls
                )
        if len(seen.body) // 4 > self.window_tokens:
            raise rules.wrong(
                f"This model's maximum context length is {self.window_tokens} tokens. However, your messages resulted "
                f"in {len(seen.body) // 4} tokens. Please reduce the length of the messages.",
                "messages",
                "context_length_exceeded",
            )

    def _check_model(self, body: Json) -> None:
        model = body.get("model")
        if model is None or (self.local and self.models is None) or model in (self.models or rules.MODELS):
            return
        raise Mistake(
            f"The model `{model}` does not exist or you do not have access to it.", status=404, code="model_not_found"
        )

    def heard(self, seen: Seen, body: Json) -> Heard:
        if self.writes_calls:
            return _heard_in_words(body["messages"])
        text, answers, media = "", [], []
        for item in _items(seen, body):
            if item.get("role") == "user":
                text, answers = _words(item["content"]), []
                media += _media(item["content"])
            elif item.get("role") == "tool":
                answers.append(_words(item["content"]))
            elif item.get("type") == "function_call_output":
                answers.append(_words(item["output"]))
        tools = tuple(tool.get("function", tool)["name"] for tool in body.get("tools", ()))
        may_call = bool(tools) and body.get("tool_choice") != "none"
        return Heard(text=text, answers=tuple(answers), tools=tools, may_call=may_call, media=tuple(media))

    def answer(self, seen: Seen, body: Json, scripted: Scripted) -> Json:
        return self._response(body, scripted) if seen.path == RESPONSES else self._chat(body, scripted)

    def _chat(self, body: Json, scripted: Scripted) -> Json:
        said = "\n\n".join(part.text for part in scripted.parts if isinstance(part, Say))
        if self.writes_calls and scripted.calls:
            said = "\n".join(filter(None, [said, *(f"<<{one.name}: {_arguments(one)}>>" for one in scripted.calls)]))
            scripted = replace(scripted, parts=())
        message: Json = {"role": "assistant", "content": said or None, "refusal": None, "annotations": []}
        if scripted.ending == "refusal":
            message |= {"content": None, "refusal": said or "I can't help with that."}
        if scripted.calls:
            message["tool_calls"] = [self._chat_call(call) for call in scripted.calls]
        message |= self._thoughts(scripted, message)
        reason = {"length": "length", "window": "length", "filter": "content_filter"}.get(scripted.ending, "stop")
        if scripted.calls and reason == "stop" and not self.says_stop:
            reason = "tool_calls"
        answer: Json = {
            "id": self.new_id("chatcmpl"),
            "object": "chat.completion",
            "created": 1_795_000_000,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        }
        if scripted.tokens is not None:
            answer["usage"] = _chat_usage(scripted.tokens)
        return answer

    def _thoughts(self, scripted: Scripted, message: Json) -> Json:
        """What stands beside the words and in the first call, for it to come back."""
        thought = " ".join(part.text for part in scripted.parts if isinstance(part, Think))
        sealed = self.new_id("thought")
        match self.carries:
            case "deepseek" | "kimi" | "nothing" if thought:
                return {"reasoning_content": thought}
            case "gemini" if scripted.calls:
                self.carried.append(sealed)
                first, *others = message["tool_calls"]
                return {"tool_calls": [first | {"extra_content": {"google": {"thought_signature": sealed}}}, *others]}
            case "openrouter" if scripted.calls:
                head = {"format": "google-gemini-v1"}
                words = [{"type": "reasoning.text", "text": thought, "index": 0, **head}] if thought else []
                call_id = message["tool_calls"][0]["id"]
                details = [*words, {"type": "reasoning.encrypted", "data": sealed, "id": call_id, "index": 1, **head}]
                self.carried.append(details)
                return {"reasoning": thought, "reasoning_details": details}
            case _:
                return {}

    def _chat_call(self, call: Call) -> Json:
        function = {"name": call.name, "arguments": _arguments(call)}
        return {"id": call.id or self.new_id("call"), "type": "function", "function": function}

    def _response(self, body: Json, scripted: Scripted) -> Json:
        reasons = {"length": "max_output_tokens", "window": "max_output_tokens", "filter": "content_filter"}
        reason = reasons.get(scripted.ending)
        return {
            "id": self.new_id("resp"),
            "object": "response",
            "created_at": 1_795_000_000,
            "status": "incomplete" if reason else "completed",
            "error": None,
            "incomplete_details": {"reason": reason} if reason else None,
            "instructions": body.get("instructions"),
            "model": body["model"],
            "output": self._output(scripted),
            "parallel_tool_calls": True,
            "tool_choice": body.get("tool_choice", "auto"),
            "tools": body.get("tools", []),
            "store": body.get("store", True),
            "usage": _responses_usage(scripted.tokens) if scripted.tokens else None,
        }

    def _output(self, scripted: Scripted) -> list[Json]:
        items: list[Json] = []
        for part in scripted.parts:
            item = self._item(part, refused=scripted.ending == "refusal")
            if items and items[-1]["type"] == "reasoning":
                self.reasoning_follows[item["id"]] = items[-1]["id"]
            items.append(item)
        if scripted.ending == "refusal" and not scripted.parts:
            items.append(self._item(Say(text="I can't help with that."), refused=True))
        return items

    def _item(self, part: Say | Call | Think, *, refused: bool) -> Json:
        if isinstance(part, Think):
            return {
                "id": self.new_id("rs"),
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": part.text}] if part.text else [],
                "encrypted_content": self.new_id("sealed"),
            }
        if isinstance(part, Call):
            return {
                "id": self.new_id("fc"),
                "type": "function_call",
                "status": "completed",
                "call_id": part.id or self.new_id("call"),
                "name": part.name,
                "arguments": _arguments(part),
            }
        words: Json = {"type": "output_text", "text": part.text, "annotations": [], "logprobs": []}
        if refused:
            words = {"type": "refusal", "refusal": part.text}
        content = {"role": "assistant", "content": [words]}
        return {"id": self.new_id("msg"), "type": "message", "status": "completed", **content}

    def refusal(self, mistake: Mistake) -> web.Response:
        return web.json_response(
            error_body(mistake.message, kind=mistake.kind, **mistake.extra),
            status=mistake.status,
            headers={"x-should-retry": "false", "x-request-id": self.new_id("req")},
        )


def _named(name: str) -> Json:
    return {"id": name, "object": "model"}


def error_body(
    message: str,
    *,
    kind: str = "invalid_request_error",
    param: str | None = None,
    code: str | int | None = None,
    **more: Any,
) -> Json:
    return {"error": {"message": message, "type": kind, "param": param, "code": code, **more}}


def _items(seen: Seen, body: Json) -> list[Json]:
    if seen.path != RESPONSES:
        return body["messages"]
    given = body["input"]
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _words(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _media(content: Any) -> list[str]:
    kinds = {"image_url": "image", "input_image": "image", "file": "document", "input_file": "document"}
    parts = [] if isinstance(content, str) else content
    return [kinds[part["type"]] for part in parts if part["type"] in kinds]


def _arguments(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def _chat_usage(tokens: Tokens) -> Json:
    prompt = tokens.fresh + tokens.cache_read + tokens.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": tokens.output,
        "total_tokens": prompt + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def _responses_usage(tokens: Tokens) -> Json:
    prompt = tokens.fresh + tokens.cache_read + tokens.cache_write
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + tokens.output,
    }


def _heard_in_words(messages: list[Json]) -> Heard:
    """What a model hears that is given tools and results as text, by the instructions that such a model gets."""
    system = next((message["content"] for message in messages if message["role"] == "system"), "")
    text, answers, tools = "", list[str](), tuple(_TOOL.findall(system))
    for said in (message["content"] for message in messages if message["role"] == "user"):
        if said.startswith("<<RESULT: "):
            answers += _RESULT.findall(said)
        else:
            text, answers = said.partition(f"\n\n{_NO_MORE}")[0], []
    may_call = bool(tools) and _NO_MORE not in messages[-1]["content"]
    return Heard(text=text, answers=tuple(answers), tools=tools, may_call=may_call)
