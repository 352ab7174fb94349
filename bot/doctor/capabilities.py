"""Asks a server what one of its models can do, at no cost: by its list, and by what home servers tell besides.

Anthropic        /v1/models/NAME
OpenAI itself    nothing: its list has names alone
all others       /models; where that says nothing of window or pictures, side by side what llama.cpp, LM Studio and
Ollama know besides
"""

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from bot.doctor.servers import CheckedServer
from bot.models import capabilities
from bot.models.capabilities import NOTHING, Capabilities
from tools import Http, ToolError

TIMEOUT_SECONDS = 8.0
"""For all questions about a model."""


async def ask_capabilities(
    server: CheckedServer, model: str, http: Http, *, timeout_seconds: float = TIMEOUT_SECONDS
) -> tuple[str, Capabilities]:
    """Returns the name of the model and what the server says of it; `model` empty means the first of its list."""
    try:
        async with asyncio.timeout(timeout_seconds):
            if server.path:  # Anthropic's
                url = f"{server.models_url}/{quote(model, safe='')}"
                return model, capabilities.of_anthropic(await _answer(server, http, url))
            return (model, NOTHING) if server.is_vendor else await _ask_compatible(server, model, http)
    except TimeoutError:
        return model, NOTHING


async def _ask_compatible(server: CheckedServer, model: str, http: Http) -> tuple[str, Capabilities]:
    answer = await _answer(server, http, server.models_url)
    listed = {name: entry for entry in capabilities.entries(answer) if isinstance(name := entry.get("id"), str)}
    model = model or next(iter(capabilities.chat_models(listed)), "")
    entry = listed.get(model) or listed.get(f"{model}:latest") or {}
    told = capabilities.of_listed(entry)
    if not model or (told.window_tokens and told.pictures is not None) or not server.base_url.endswith("/v1"):
        return model, told.or_else(capabilities.of_training(entry))
    root, name = server.base_url.removesuffix("/v1"), str(entry.get("id") or model)
    props, studio, shown, running = await asyncio.gather(
        _answer(server, http, f"{root}/props"),
        _answer(server, http, f"{root}/api/v0/models"),
        _answer(server, http, f"{root}/api/show", body={"model": name}),
        _answer(server, http, f"{root}/api/ps"),
    )
    natively = (
        capabilities.of_llama_cpp(props),
        capabilities.of_lm_studio(studio, name),
        capabilities.of_ollama(shown, running, name),
        capabilities.of_training(entry),
    )
    for one in natively:
        told = told.or_else(one)
    return model, told


async def _answer(server: CheckedServer, http: Http, url: str, *, body: Mapping[str, Any] | None = None) -> object:
    """The JSON of an answer; None where there is none."""
    bounds: Mapping[str, Any] = {"service": "the server", "timeout_seconds": TIMEOUT_SECONDS}
    headers = {**server.headers, **server.key_headers}
    try:
        if body is None:
            answer = await http.get_json(url, params={}, headers=headers, **bounds)
        else:
            answer = await http.ask_json(url, body=body, headers=headers, **bounds)
    except ToolError:
        return None
    return answer.body if answer.ok else None
