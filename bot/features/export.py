"""What is kept about one person, for that person: their words, Aldis's answers, and what is kept besides.

Left to others: where it is kept (`store`), who can see it (`bot.commands`, the operator by `aldis export`).
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

from bot import messages
from bot.access import chat_settings
from bot.chat.citations import visible_words
from bot.chat.phrases import ANSWERS
from bot.commands.base import Call, CommandGroup, command
from bot.events import ChatId, File, PersonId
from bot.i18n.catalogues import Sentence, say
from bot.messages import AssistantMessage, Message, ToolMessage, UserMessage
from store import ConversationId, Repositories, Store, StoredMessage, TurnId

ABOUT_EXPORT = Sentence("ABOUT_EXPORT", "shows what I keep about you.")
_KEPT_IN_FILE = Sentence(
    "KEPT_IN_FILE",
    "I've kept {answers}, encrypted. The text is for reading; the other file has everything, for programs.",
)
_KEPT_PARTLY = Sentence(
    "KEPT_PARTLY",
    "I've kept more than fits here, encrypted. The newest {count} are in the files; the person who runs me has all.",
)
_KEPT_NOTHING = Sentence("KEPT_NOTHING", "I've kept nothing of what you asked.")
_KEPT_SOME = Sentence("KEPT_SOME", "I've kept {answers}, encrypted. The newest come first in the file.")

MAX_FILE_BYTES = 2_000_000
"""Beyond so many bytes of turns, as they are stored, older ones are not in the files of a chat."""
_READ_AT_ONCE = 20
"""Turns per read: each is a few messages to decrypt, at 40 microseconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptTurn:
    """One question of the person with everything that came of it."""

    conversation: ConversationId | None
    expires_at: datetime | None
    """When it disappears; None if it stays."""
    said: tuple[Message, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Export:
    """Everything kept about a person."""

    turns: tuple[KeptTurn, ...]
    """Oldest first."""
    has_older: bool
    """Whether older turns are kept as well."""
    beside: Mapping[str, Any]
    """What is kept besides in the person's chat, as JSON: settings, facts, reminders, predictions, and the like."""

    def as_json(self, *, with_media: bool = True) -> str:
        """For programs: everything, tool calls and results included, oldest first; pictures and documents only with
        media.
        """
        turns: list[Mapping[str, Any]] = []
        for turn in self.turns:
            said = [
                replace(one, media=()) if isinstance(one, UserMessage) and not with_media else one for one in turn.said
            ]
            about = {"conversation": turn.conversation, "expires_at": turn.expires_at and turn.expires_at.isoformat()}
            turns.append({**about, "messages": json.loads(messages.dump_messages(said).partition(b":")[2])})
        return json.dumps({"turns": turns, **self.beside}, ensure_ascii=False, indent=2)

    def as_files(self, *, in_group: bool) -> tuple[File, ...]:
        """Returns questions and answers as a text, newest first, and in a direct chat all as JSON, if anything is kept:
        a group has not read what tools said. Pictures and documents are left out: their senders have them.
        """
        words = "\n\n".join(map(_worded, reversed(self.turns)))
        text = File(name="export.txt", content_type="text/plain; charset=utf-8", data=words.encode())
        texts = (text,) if self.turns else ()
        if in_group or not (self.turns or any(self.beside.values())):
            return texts
        data = self.as_json(with_media=False).encode()
        return *texts, File(name="export.json", content_type="application/json", data=data)


async def gather_export(
    store: Store,
    person: PersonId,
    direct: ChatId | None,
    *,
    now: datetime,
    conversation: ConversationId | None = None,
    max_bytes: int | None = None,
) -> Export:
    """Returns what is kept about a person: their whole direct chat, and elsewhere the turns they asked.

    `direct` None leaves the direct chat out; `conversation` is where it is asked for, None means everywhere. What is
    kept besides the turns is that of the direct chat, or else of `conversation`. Beyond `max_bytes`, older turns are
    left out. Reading takes many short steps, so that no other chat waits for it: what is deleted meanwhile may still
    be included.

    Raises:
        StoreError: it cannot be read.
    """
    beside = await store.read(lambda repos: _beside(repos, person, direct, now, conversation))
    turns: list[KeptTurn] = []
    size_bytes, before = 0, None

    def read(repos: Repositories) -> tuple[Sequence[TurnId], list[StoredMessage]]:
        ids = repos.history.turns_of_person(person, direct, before=before, limit=_READ_AT_ONCE)
        rows = repos.history.of_turns(ids, conversation=None if direct else conversation)
        return ids, [row for row in rows if _stands(row.expires_at, now)]

    while True:
        ids, rows = await store.read(read)
        is_full = max_bytes is not None and size_bytes > max_bytes
        if not ids or (is_full and rows):
            return Export(turns=tuple(reversed(turns)), has_older=bool(ids), beside=beside)
        some: list[KeptTurn] = []
        for (place, _, expires_at), group in groupby(rows, lambda row: (row.conversation, row.turn, row.expires_at)):
            said = tuple(one for row in group for one in messages.load_messages(row.message))
            some.append(KeptTurn(conversation=place, expires_at=expires_at, said=said))
        turns += reversed(some)
        size_bytes += sum(len(row.message) for row in rows)
        before = ids[-1]


def _stands(expires_at: datetime | None, now: datetime) -> bool:
    return expires_at is None or expires_at > now


def _beside(
    repos: Repositories, person: PersonId, direct: ChatId | None, now: datetime, conversation: ConversationId | None
) -> Mapping[str, Any]:
    """Gathers what is kept besides the turns."""
    home = repos.conversations.at(direct) if direct else conversation
    if home is None:
        return {}
    last = repos.turns.last_asked(home, person, after=TurnId(0))
    stands = last is not None and _stands(last.expires_at, now)
    asked = messages.load_question(repos.turns.unanswered_question(last.turn) if last and stands else None)
    settings = chat_settings.dump_settings(chat_settings.settings_of(repos, home, now))
    zone = ZoneInfo(repos.reminders.zone(ChatId.direct(person)) or "UTC")
    return {
        "settings": json.loads(settings.partition(b":")[2]),
        "unanswered": None if asked is None else asked.text,
        "facts": [one.fact.decode() for one in repos.facts.all(home, now=now) if one.fact is not None],
        "reminders": [
            {"at": one.due_at.astimezone(zone).isoformat(), "text": json.loads(one.words)["text"]}
            for one in repos.reminders.of_person(person, home)
            if one.words is not None and _stands(one.expires_at, now)
        ],
        "watches": [
            json.loads(one.watch)["given"] for one in repos.watches.of_person(person, home) if one.watch is not None
        ],
        "allowed": [{"tool": grant.tool, "at": grant.at.isoformat()} for grant in repos.grants.of(home, person)],
        "predictions": [
            json.loads(one.words) | {"verdict": None if one.outcome is None else json.loads(one.outcome)}
            for one in repos.predictions.all(home, person, now=now)
            if one.words is not None
        ],
    }


def _worded(turn: KeptTurn) -> str:
    """The question, the answer as people saw it, and the names of the tools that were used."""
    asked = [message.text for message in turn.said if isinstance(message, UserMessage)]
    said = [visible_words(message) for message in turn.said if isinstance(message, AssistantMessage) and message.text]
    tools = [answer.name for message in turn.said if isinstance(message, ToolMessage) for answer in message.answers]
    return "\n".join([*asked, *said, *([f"({', '.join(tools)})"] if tools else [])])


class ExportCommands(CommandGroup):
    """The command that shows people what is kept about them."""

    @command("/export", ABOUT_EXPORT, section="data")
    async def _export(self, call: Call) -> None:
        """Sends what is kept about the person as a text to read and as JSON. In a group, only what they asked there,
        without the JSON.
        """
        found = await gather_export(
            self.context.store,
            call.message.author,
            None if call.is_in_group else call.message.chat,  # a group is shown no more than it has already seen
            now=self.context.clock.now(),
            conversation=call.conversation,
            max_bytes=MAX_FILE_BYTES,
        )
        files = await asyncio.to_thread(found.as_files, in_group=call.is_in_group)
        some = _KEPT_SOME if call.is_in_group else _KEPT_IN_FILE
        sentence = _KEPT_PARTLY if found.has_older else some if found.turns else _KEPT_NOTHING
        count = len(found.turns)
        shown = say(sentence, answers=say(ANSWERS, count=count), count=count)
        await self.context.answer(call, shown, files=files)
