"""A double of OpenAI's endpoint for embeddings, for which words of one meaning in several languages are the same.

Refuses what the real one refuses, in the same form (OpenAI's API reference, "Create embeddings", 2026-11-30): a missing
or wrong key, another model, an empty text or none at all, more than 2,048 texts, an unknown field or format.
With a key that is None it is a server at home, such as Ollama, which has the same form and looks at no key.
"""

import math
import random
import re
from dataclasses import dataclass, field

from aiohttp import web

from tests.servers.base import Seen, Server
from tests.servers.openai import error_body

KEY = "sk-embeddings-test"
FIELDS = {"model", "input", "encoding_format", "dimensions", "user"}
MEANINGS = (
    {"roof", "dach", "toit", "tejado", "tiles", "ziegel"},
    {"leak", "leaking", "leaks", "undicht", "fuite", "drips"},
    {"harbour", "port", "hafen", "quay"},
    {"cat", "katze", "chat", "kitten"},
)


@dataclass
class OpenAIEmbeddings(Server):
    model: str = "text-embedding-4-small"
    dimensions: int = 256
    key: str | None = KEY
    texts: list[str] = field(default_factory=list[str])
    """All that was embedded."""

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if self.key is not None and seen.headers.get("authorization") != f"Bearer {self.key}":
            return _refused("Incorrect API key provided", status=401)
        if (seen.method, seen.path) != ("POST", "/v1/embeddings"):
            return _refused("Invalid URL", status=404)
        body = seen.json()
        given = [body["input"]] if isinstance(body.get("input"), str) else body.get("input")
        if unknown := body.keys() - FIELDS:
            return _refused(f"Unrecognized request argument supplied: {min(unknown)}")
        if body.get("model") != self.model:
            return _refused(f"The model `{body.get('model')}` does not exist", status=404)
        if not given or len(given) > 2048 or not all(isinstance(text, str) and text for text in given):
            return _refused("'$.input' is invalid.")
        if body.get("encoding_format", "float") != "float":
            return _refused("this double answers in numbers only")
        self.texts += given
        data = [
            {"object": "embedding", "index": place, "embedding": embedding(text, self.dimensions)}
            for place, text in enumerate(given)
        ]
        tokens = sum(len(text) // 4 + 1 for text in given)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        # In any order: only `index` says which text is meant.
        listed = {"object": "list", "data": data[::-1], "model": self.model, "usage": usage}
        return web.json_response(listed)


def embedding(text: str, dimensions: int) -> list[float]:
    """The sum of a vector for each meaning in a text, and a small one for each other word; of length 1."""
    numbers = [0.0] * dimensions
    for word in re.findall(r"\w+", text.casefold()):
        meaning = next((place for place, words in enumerate(MEANINGS) if word in words), None)
        weight, name = (0.1, word) if meaning is None else (1.0, f"meaning {meaning}")
        vector = random.Random(name)  # always the same for a name
        numbers = [number + weight * vector.gauss(0, 1) for number in numbers]
    length = math.hypot(*numbers) or 1.0
    return [number / length for number in numbers]


def _refused(message: str, status: int = 400) -> web.Response:
    return web.json_response(error_body(message), status=status)
