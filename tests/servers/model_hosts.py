"""What local model servers and resellers tell about a model besides its name, each in its own form.

Source, 2026-11-23: vLLM's `ModelCard` (github.com/vllm-project/vllm, entrypoints/openai); llama.cpp's tools/server
README (`GET /props`, `GET /v1/models`), answers of b8681 as mvysny.github.io/llama-server-endpoints shows them, and of
build 0c1e570, seen on 2026-11-24 (`chat_template_caps`; a template without tools has no calls either); LM
Studio's REST API v0 (lmstudio.ai/docs; `loaded_context_length` stands there while a model is loaded); Ollama's
`POST /api/show` and `GET /api/ps` (docs.ollama.com); openrouter.ai/docs, "List available models". OpenAI itself tells
names alone.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

Json = dict[str, Any]

Software = Literal["vllm", "llama_cpp", "lm_studio", "ollama", "openrouter"]


@dataclass
class ModelHost:
    """One of these, with one model in mind."""

    OWN_PATHS: ClassVar = frozenset({"/props", "/api/v0/models", "/api/show", "/api/ps"})

    software: Software
    window_tokens: int = 8192
    """What a request may have."""
    trained_tokens: int = 131_072
    """What the model was made for."""
    tools: bool = True
    sees: bool = False
    is_loaded: bool = True
    num_ctx: int | None = None
    """What a Modelfile of Ollama's sets."""
    pricing: Json | None = None

    def entry(self, name: str) -> Json:
        entry: Json = {"id": name, "object": "model", "created": 1_795_000_000}
        match self.software:
            case "vllm":
                return entry | {"owned_by": "vllm", "root": name, "parent": None, "max_model_len": self.window_tokens}
            case "llama_cpp":
                meta = {"vocab_type": 2, "n_vocab": 262_144, "n_ctx_train": self.trained_tokens, "n_embd": 1536}
                return entry | {"owned_by": "llamacpp", "meta": meta}
            case "lm_studio":
                return entry | {"owned_by": "organization_owner"}
            case "ollama":
                return entry | {"owned_by": "library"}
            case "openrouter":
                return entry | self._sold()

    def _sold(self) -> Json:
        modalities = ["text", *(["image"] if self.sees else [])]
        parameters = ["max_tokens", "reasoning", "temperature", *(["tools", "tool_choice"] if self.tools else [])]
        return {
            "context_length": self.trained_tokens,
            "architecture": {"input_modalities": modalities, "output_modalities": ["text"], "tokenizer": "GPT"},
            "pricing": self.pricing or {"prompt": "0.0000003", "completion": "0.0000012", "request": "0", "image": "0"},
            "top_provider": {
                "context_length": self.window_tokens,
                "max_completion_tokens": self.window_tokens // 4,
                "is_moderated": False,
            },
            "per_request_limits": None,
            "supported_parameters": parameters,
        }

    def own_answer(self, path: str, name: str) -> Json | None:
        """What it answers beside OpenAI's API about the model; None: there is nothing at that path."""
        match self.software, path:
            case "llama_cpp", "/props":
                return {
                    "default_generation_settings": {"n_ctx": self.window_tokens, "params": {"temperature": 0.8}},
                    "total_slots": 4,
                    "model_alias": name,
                    "modalities": {"vision": self.sees, "audio": False},
                    "chat_template_caps": {
                        "supports_tools": self.tools,
                        "supports_tool_calls": self.tools,
                        "supports_parallel_tool_calls": self.tools,
                    },
                }
            case "lm_studio", "/api/v0/models":
                loaded = {"loaded_context_length": self.window_tokens} if self.is_loaded else {}
                entry = {
                    "id": name,
                    "object": "model",
                    "type": "vlm" if self.sees else "llm",
                    "state": "loaded" if self.is_loaded else "not-loaded",
                    "max_context_length": self.trained_tokens,
                }
                return {"object": "list", "data": [entry | loaded]}
            case "ollama", "/api/show":
                parameters = 'stop "<|eot_id|>"' + (f"\nnum_ctx    {self.num_ctx}" if self.num_ctx else "")
                abilities = {"completion": True, "tools": self.tools, "vision": self.sees}
                return {
                    "parameters": parameters,
                    "details": {"family": "llama", "parameter_size": "8.0B"},
                    "model_info": {"general.architecture": "llama", "llama.context_length": self.trained_tokens},
                    "capabilities": [name for name, has in abilities.items() if has],
                }
            case "ollama", "/api/ps":
                running = {"name": name, "model": name, "context_length": self.window_tokens, "size": 6_591_830_464}
                return {"models": [running] if self.is_loaded else []}
            case _:
                return None
