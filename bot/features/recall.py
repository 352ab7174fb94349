"""Recall: what was said in a conversation, files that came with it, and the operator's folder are found again.

    a turn was kept or reworded, or a file of the folder is new --> pieces --> passages --> vectors, if there is a model
    query --> the beginnings of its words, counted in each passage --> a ranking --.
         '--> a vector, compared with that of each passage ---------> a ranking --+--fused--> the first few

The loop follows the answer and lengthens no turn. What is still to be done stands in the store, so that it goes on
after a restart and includes what was said before an upgrade; vectors of another model count for nothing and are made
anew. The tool looks through the conversation itself, since `/new`, and the folder alone, which is of no period. What it
finds has the labels of its turn, so that strangers' words are trusted no more than before.
"""

import asyncio
import logging
import math
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from itertools import groupby
from pathlib import Path
from zoneinfo import ZoneInfo

from pydantic import Field

from bot import messages
from bot.access import chat_settings
from bot.chat.citations import in_hosts
from bot.chat.prompt import labels_of
from bot.clock import Clock, again_and_again
from bot.labels import Labels, Source, dump_labels
from bot.logs import RepeatedWarning
from bot.media.attachments import MAX_BYTES, kind_of
from bot.media.cell import FileRefused
from bot.media.library import Library
from bot.media.texts import decode_text
from bot.messages import AssistantMessage, Document, Message, UserMessage
from bot.money.budgets import Budget, UsedUp
from bot.money.ledger import Bill, Payer
from store import ConversationId, LedgerEntry, Repositories, Store, TurnId
from tools import (
    Arguments,
    BadArguments,
    Embedder,
    Intent,
    Result,
    TimedOut,
    ToolContext,
    ToolError,
    ToolSpec,
    count_tokens,
    distance,
    fold_name,
    fuse,
)

_log = logging.getLogger(__name__)

MAX_FOLDER_BYTES = 10_000_000
"""How much of the folder is kept, each text twice: every search opens it."""
_MAX_FILES = 2_000
_MAX_FILE_CHARACTERS = 2_000_000
_PIECE_CHARACTERS = 400
_AT_ONCE = 16
_TURNS_AT_ONCE = 8
"""These take 3 ms, or 35 if each has the longest PDF: so long others wait for the store."""
_PAUSE_SECONDS = 0.05
_NAP_SECONDS = 15.0
_LONG_NAP_SECONDS = 300.0
_MAX_FOUND = 10
_MAX_RANKED = 50
_MAX_WORDS = 12
_EMBED_SECONDS = 8.0
_PAGE = re.compile(r"^Page (\d+):\n", re.MULTILINE)
_STAMP = re.compile(r"^\[[^\]\n·]*(?:· ([^\]\n]*))?\] ?", re.MULTILINE)
"""What Aldis puts before a message: the date, and in groups the sender."""
_WORD = re.compile(r"[a-z]{3,}|\d+|[\u3040-\u30ff\u3400-\u9fff]{1,2}|[^\W\da-z\u3040-\u30ff\u3400-\u9fff]+")
"""A word; of Chinese and Japanese, which have no spaces, two signs."""
_EVERYBODY = Payer(conversation=None, turn=TurnId(0), person=None, group=None)
_FOLDER = Labels(sources=(Source(kind="file", is_private=True),))
"""Its files may be of strangers, and are no one else's business."""


@dataclass
class Indexer:
    """The loop. Without an `embedder` there are no vectors."""

    store: Store
    clock: Clock
    library: Library
    folder: Path | None
    embedder: Embedder | None
    budget: Budget

    def __post_init__(self) -> None:
        self._trouble = RepeatedWarning(_log)
        self._folder_trouble = RepeatedWarning(_log)
        self._nap_seconds = _NAP_SECONDS

    async def run(self) -> None:
        """Does what is to be done, again and again; ends only by cancellation."""
        await again_and_again(self.attend_all, lambda: self._nap_seconds, _log, "recall")

    async def attend_all(self) -> None:
        """Does all that is to be done now; raises StoreError if it cannot be kept."""
        while await self.store.transaction(_index):  # noqa: ASYNC110  (the pauses leave room for others)
            await asyncio.sleep(_PAUSE_SECONDS)
        if self.folder is not None:
            await self._read_folder(self.folder)
        while self.embedder is not None and await self._embed(self.embedder):
            await self.store.transaction(_index)  # what is said meanwhile does not wait for hours of vectors
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _embed(self, embedder: Embedder) -> bool:
        """Embeds a batch of what has no vector, at the cost of all together; returns whether there may be more."""
        rows = await self.store.read(lambda repos: repos.passages.without_vector(embedder.model, _AT_ONCE))
        if not rows:
            return False
        texts = [_shown(words) or "?" for _, _, words in rows]
        fee = _fee(embedder, count_tokens(texts))
        vectors = list[bytes]()
        reserved = await self.store.transaction(lambda repos: self.budget.reserve(repos, _EVERYBODY, fee))
        if isinstance(reserved, UsedUp):
            self._trouble.tell("nothing more is embedded until the budget is renewed")
            return False
        try:
            vectors, tokens = await embedder.embed(texts)
            fee = _fee(embedder, tokens)
            self._nap_seconds = _NAP_SECONDS
            self._trouble.end()
        except ToolError as error:
            cost_usd = fee.cost_usd if isinstance(error, TimedOut) else Decimal(0)  # others are refused before
            fee = replace(fee, outcome=error.code, cost_usd=cost_usd)
            self._nap_seconds = _LONG_NAP_SECONDS
            self._trouble.tell("passages cannot be embedded: %s", logging.WARNING, error)
        made = {(table, id_): vector for (table, id_, _), vector in zip(rows, vectors, strict=False)}

        def keep(repos: Repositories) -> None:
            self.budget.settle(repos, _EVERYBODY, [Bill(reservation=reserved, entries=(fee,))])
            repos.passages.keep_vectors(embedder.model, made)

        await self.store.transaction(keep)
        return bool(made)

    async def _read_folder(self, folder: Path) -> None:
        """Reads what is new or was changed in the folder, and drops what is gone, unless that is the folder itself."""
        if not os.access(folder, os.R_OK | os.X_OK):
            self._folder_trouble.tell(
                "TOOLS__RECALL__FOLDER cannot be read: check that it is there, its owner and mode"
            )
            return
        files = await asyncio.to_thread(_listed, folder)
        names = await self.store.transaction(lambda repos: repos.passages.renew_files(files))
        if names and len(files) == _MAX_FILES:
            _log.warning("only the first %d files of TOOLS__RECALL__FOLDER are read", _MAX_FILES)
        for name in names:
            try:
                text = await self._text_of(await asyncio.to_thread(_read_bytes, folder / name, folder))
                pieces = await asyncio.to_thread(_pieces_of_file, name, text)
            except (OSError, FileRefused) as error:
                pieces = []
                _log.warning("%s in TOOLS__RECALL__FOLDER cannot be read: %s", name, error)
            file = (name, files[name], pieces)
            now = self.clock.now()
            if not await self.store.transaction(
                lambda repos, file=file, now=now: repos.passages.keep_file(*file, max_bytes=MAX_FOLDER_BYTES, now=now)
            ):
                _log.warning("%s in TOOLS__RECALL__FOLDER is left out: with it there would be too much text", name)

    async def _text_of(self, data: bytes) -> str:
        """Returns the text of a PDF or a text; raises FileRefused if it is none."""
        family = kind_of(data).family
        if family == "paper":
            return (await self.library.read(data, "pdf", max_chars=_MAX_FILE_CHARACTERS)).text
        text = await asyncio.to_thread(decode_text, data) if family == "text" else None
        if text is None:
            raise FileRefused("it is neither a PDF nor a text")
        return text[:_MAX_FILE_CHARACTERS]


def _fee(embedder: Embedder, tokens: int) -> LedgerEntry:
    cost_usd = embedder.cost_usd(tokens)
    return LedgerEntry(name=embedder.model, outcome="ok", provider="embeddings", input_tokens=tokens, cost_usd=cost_usd)


def _listed(folder: Path) -> dict[str, str]:
    """Returns the first files in a folder with their versions, without hidden ones."""
    found = dict[str, str]()
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if "/." not in f"/{name}" and len(found) < _MAX_FILES and path.is_file():
            with suppress(OSError):  # deleted meanwhile
                state = path.stat()
                found[name] = f"{state.st_ctime_ns}-{state.st_size}"  # the time changes with its permissions, too
    return found


def _read_bytes(path: Path, folder: Path) -> bytes:
    """Returns what a file in the folder holds; raises OSError, or FileRefused if it is none there, or too large."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise FileRefused("it is a link out of the folder")
    if path.stat().st_size > MAX_BYTES:
        raise FileRefused(f"it has more than {MAX_BYTES // 1_000_000} MB")
    return path.read_bytes()


def pieces_of(text: str, before: str = "") -> list[bytes]:
    """Returns a text in pieces that end with a line, a sentence or a word, if they can; `before` begins each.

    What is searched stands before the words as they are: without case, accents and line ends.
    """
    pieces = list[bytes]()
    rest = text.strip()
    while rest:
        end = len(rest)
        least = _PIECE_CHARACTERS // 2
        if end > _PIECE_CHARACTERS:
            ends = [rest.rfind(sign, least, _PIECE_CHARACTERS) + len(sign) for sign in ("\n", ". ", " ")]
            end = next((at for at in ends if at > least), _PIECE_CHARACTERS)
        piece = f"{before}{rest[:end].strip()}"
        pieces.append(f" {fold_name(piece)}\0{piece}".encode(errors="replace"))
        rest = rest[end:].strip()
    return pieces


def _shown(piece: bytes | None) -> str:
    return (piece or b"").rpartition(b"\0")[2].decode()


def _pieces_of_file(name: str, text: str) -> list[bytes]:
    """Returns the text of a file in pieces, each with the file's name, and the page if it has pages."""
    before, *parts = _PAGE.split(text)
    pages = zip(parts[::2], parts[1::2], strict=True)
    pieces = [piece for page, words in pages for piece in pieces_of(words, f"[{name}, page {page}] ")]
    return [*pieces_of(before, f"[{name}] "), *pieces]


def _index(repos: Repositories) -> bool:
    """Makes passages of some turns; returns whether there may be more."""
    turns = repos.passages.pending_turns(_TURNS_AT_ONCE)
    rows = repos.history.of_turns(turns, conversation=None)
    for turn in turns:
        said = (one for row in rows if row.turn == turn for one in messages.load_messages(row.message))
        repos.passages.index(turn, _pieces_of_turn(said))
    return bool(turns)


def _pieces_of_turn(said: Iterable[Message]) -> list[bytes]:
    """Returns what was asked and answered in pieces, and then the PDFs that came with it."""
    lines = list[str]()
    pieces = list[bytes]()
    for message in said:
        if isinstance(message, UserMessage):
            lines.append(_STAMP.sub(lambda stamp: f"{stamp[1] or 'Person'}: ", message.text))
            for paper in (medium for medium in message.media if isinstance(medium, Document)):
                named = re.search(rf" named (['\"])(.*?)\1, which is attached as {re.escape(paper.name)}", message.text)
                pieces += _pieces_of_file(named[2] if named else paper.name, paper.text)
        elif isinstance(message, AssistantMessage) and message.text:
            lines.append(f"Assistant: {in_hosts(message)}")
    return [*pieces_of("\n".join(lines)), *pieces]


class RecallArguments(Arguments):
    """What to find."""

    query: str | None = Field(
        default=None, max_length=400, description="Its subject in some words, in each language that it may be in."
    )
    since: date | None = Field(default=None, description="The first day, YYYY-MM-DD.")
    until: date | None = Field(default=None, description="The last day.")


class Recall:
    """Finds again what was said in the conversation, files that came with it, and those in a folder of yours."""

    spec = ToolSpec(
        name="recall",
        seldom="old messages and files",
        description=(
            "Finds what was said in this conversation long ago, files that people sent here (each is kept as long as"
            " its message: there is nothing to be done to keep it), and those that the person who runs you put into a"
            " folder. For 'what did I ask you in May about the roof'. Without query it gives the newest of the period."
            " Say the date, or the file and page, of what you rely on; if nothing fits, say so."
        ),
        arguments=RecallArguments,
        intent=lambda given: Intent("recall", {"query": given.query or given.since or given.until or ""}),
        label="kept",
    )

    def __init__(self, store: Store, clock: Clock, embedder: Embedder | None) -> None:
        self._store = store
        self._clock = clock
        self._embedder = embedder

    async def run(self, arguments: RecallArguments, context: ToolContext) -> Result:
        """Returns the passages that fit best; raises `BadArguments` if it names neither words nor a period."""
        query = arguments.query or ""
        note = {}
        cost = Decimal(0)
        ranking = Ranking(query)
        zone = ZoneInfo(context.timezone)
        if not (ranking.stems or arguments.since or arguments.until):
            raise BadArguments("query: a few words, or a period by since and until")
        if ranking.stems and self._embedder is not None:
            try:
                [ranking.vector], tokens = await self._embedder.embed([query], timeout_seconds=_EMBED_SECONDS)
                cost = self._embedder.cost_usd(tokens) or cost
            except ToolError:
                note = {"note": "found by words alone, as the embedding model does not answer"}
        now = self._clock.now()
        model = self._embedder and self._embedder.model
        days = ((arguments.since, time.min), (arguments.until, time.max))
        period = [None if day is None else datetime.combine(day, hour, tzinfo=zone) for day, hour in days]
        here = await self._store.conversation(context.chat, now=now)

        def look(repos: Repositories, place: ConversationId | None) -> bool:
            begun_after = TurnId(chat_settings.settings_of(repos, here, now).starts_after)
            scanned = repos.passages.scan(place, model, ranking.last, period, now, begun_after=begun_after)
            ranking.look(scanned)
            return bool(scanned)

        for place in (here,) if any(period) else (here, None):
            ranking.last = 0
            while await self._store.read(partial(look, place=place)):  # a batch at a time: no other chat waits for it
                continue
        found, origins = await self._store.read(lambda repos: _found(repos, here, ranking.best(), zone))
        data = {"found": found} if found else {"message": ranking.nothing(zone)}
        return Result(data=data | note, cost_usd=cost, origins=origins)


class Ranking:
    """Ranks passages by how often they hold rare words of a query, as BM25 does, and by how near their vectors are."""

    def __init__(self, query: str) -> None:
        # Within words, short ones stand everywhere, but for scripts that write without spaces.
        words = dict.fromkeys(_WORD.findall(fold_name(query)))
        stems = [word[: max(4, len(word) - 2)] for word in words][:_MAX_WORDS]
        self.stems = [(f" {stem}" if stem.isascii() and len(stem) < 4 else stem).encode() for stem in stems]  # noqa: PLR2004
        """The beginnings of its words, which their other forms share."""
        self.vector: bytes | None = None
        """What the query means; None: only words count."""
        self.last = 0
        """The id of the last passage that was looked at."""
        self._times: dict[int, int] = {}
        self._counts: dict[int, list[int]] = {}
        self._distances: dict[int, int] = {}

    def look(self, scanned: Iterable[tuple[int, int, bytes | None, bytes | None]]) -> None:
        """Takes passages into account: the id, the time, the words and the vector of each."""
        for self.last, said_at, words, vector in scanned:
            self._times[self.last] = said_at
            folded = (words or b"").partition(b"\0")[0]
            counts = [_weighed(folded, stem) for stem in self.stems]
            if any(counts) or not self.stems:
                self._counts[self.last] = counts
            if vector and self.vector:
                self._distances[self.last] = distance(vector, self.vector)

    def best(self) -> list[int]:
        """Returns the ids of the best passages, without words the newest."""
        having = [sum(map(bool, each)) for each in zip(*self._counts.values(), strict=True)]
        rarity = [math.log(1 + (len(self._times) - count + 0.5) / (count + 0.5)) for count in having]
        scores = {
            id_: sum(weight * count / (count + 1) for weight, count in zip(rarity, counts, strict=True))
            for id_, counts in self._counts.items()
        }
        by_words = sorted(scores, key=lambda id_: (-scores[id_], -self._times[id_]))
        by_meaning = sorted(self._distances, key=lambda id_: (self._distances[id_], -self._times[id_]))
        return fuse(by_words[:_MAX_RANKED], by_meaning[:_MAX_RANKED])[:_MAX_FOUND]

    def nothing(self, zone: ZoneInfo) -> str:
        """Says that nothing was found, and of which days what was looked at is."""
        ends = (min(self._times.values()), max(self._times.values())) if self._times else ()
        days = [f"{datetime.fromtimestamp(at / 1000, zone):%Y-%m-%d}" for at in ends]
        seen = (
            f"what was looked at is from {' to '.join(days)}"
            if days
            else "there is nothing yet, or nothing of that period"
        )
        return f"Nothing has these words; {seen}. Try others, or another language or period."


def _weighed(folded: bytes, stem: bytes) -> int:
    """Counts a stem; one that begins a word counts three times as much as one within."""
    count = folded.count(stem)
    return count and count + 2 * folded.count(b" " + stem)


def _found(
    repos: Repositories, here: ConversationId, ids: Sequence[int], zone: ZoneInfo
) -> tuple[list[dict[str, str]], tuple[str, ...]]:
    """Returns these passages, each with its date (a file names itself, and its page), and the labels of what they are
    of.
    """
    found = repos.passages.of_ids(ids)
    turns = {turn for turn, _, _ in found if turn is not None}
    labels: dict[TurnId | None, Labels] = {None: _FOLDER}
    for kept, group in groupby(repos.history.of_turns(turns, conversation=here), key=lambda row: row.turn):
        labels[kept] = labels_of(message for row in group for message in messages.load_messages(row.message))
    found = [one for one in found if one[0] in labels]  # without damaged turns, whose labels are lost
    rows = [
        ({} if turn is None else {"said": f"{datetime.fromtimestamp(at / 1000, zone):%a %Y-%m-%d %H:%M}"})
        | {"words": _shown(words)}
        for turn, at, words in found
    ]
    return rows, tuple(dump_labels(labels[of]).decode() for of in dict.fromkeys(turn for turn, _, _ in found))
