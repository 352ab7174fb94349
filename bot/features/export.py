"""What is kept about one person, for that person: their words, Aldis's answers, and what is kept besides.

Left to others: where it is kept (`store`), who can see it (`bot.commands`, the operator by `aldis export`).
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

from bot import labels, messages
from bot.access import chat_settings
from bot.access.chat_settings import ChatSettings
from bot.chat import phrases as turn_phrases
from bot.chat.citations import visible_words
from bot.chat.phrases import answers
from bot.commands.base import Answer, Call, CommandContext, CommandGroup, CommandReply, command
from bot.events import ChatId, File, PersonId
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import use_language
from bot.i18n.locale import day, moment, number
from bot.messages import AssistantMessage, Message, ToolMessage, UserMessage
from bot.trust.links import inert
from bot.trust.rules import untrusted_sources
from store import ConversationId, Grant, Repositories, Store, StoredMessage, TurnId

ABOUT_EXPORT = Sentence("ABOUT_EXPORT", "shows what I keep about you.")
_KEPT_IN_FILE = Sentence(
    "KEPT_IN_FILE", "I've kept {answers}, encrypted. The text is for reading; the other file has the same for programs."
)
_KEPT_PARTLY = Sentence(
    "KEPT_PARTLY",
    "I've kept more than fits here, encrypted. The newest {count} are in the files; the person who runs me has all.",
)
_KEPT_REMINDER = Sentence("KEPT_REMINDER", "A reminder, next on {when}: {text}")
_KEPT_PREDICTION = Sentence("KEPT_PREDICTION", "You predicted, {percent} % likely by {day}: {statement}")
_KEPT_UNANSWERED = Sentence("KEPT_UNANSWERED", "You asked, and I couldn't answer: {question}")
_KEPT_NOTHING = Sentence("KEPT_NOTHING", "I've kept nothing of what you asked.")
_KEPT_SOME = Sentence("KEPT_SOME", "I've kept {answers}, encrypted. Newest first:")
_OUTCOMES: Mapping[str, Sentence] = {
    "came_true": Sentence("PREDICTION_CAME_TRUE", "It came true."),
    "did_not": Sentence("PREDICTION_DID_NOT", "It did not come true."),
    "void": Sentence("PREDICTION_VOID", "No one can tell."),
}

MAX_FILE_BYTES = 2_000_000
"""Beyond so many bytes of turns, as they are stored, older ones are not in the files of a chat."""
_STAMP = re.compile(r"^\[\w{3} (\d{4}-\d\d-\d\d \d\d:\d\d) [^\]\n·]{1,60}?( · [^\]\n]{1,100})?\] ?", re.MULTILINE)
"""The line that Aldis puts before a message."""
_MAX_WORDS_BYTES = 1_500
"""A longer export is sent as files: it would not be one message."""
_READ_AT_ONCE = 20
"""Turns per read: each is a few messages to decrypt, at 40 microseconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptTurn:
    """One question of the person with everything that came of it."""

    conversation: ConversationId
    expires_at: datetime | None
    """When it disappears; None if it stays."""
    said: tuple[Message, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Export:
    """Everything kept about a person."""

    turns: tuple[KeptTurn, ...] = ()
    """Oldest first."""
    has_older: bool = False
    """Whether older turns are kept as well."""
    settings: ChatSettings = field(default_factory=ChatSettings)
    """The settings of the person's conversation."""
    unanswered: str | None = None
    """The last question there, if it was not answered; None if it was."""
    facts: tuple[str, ...] = ()
    """What is remembered about the person."""
    reminders: tuple[tuple[datetime, str], ...] = ()
    """The person's reminders there, each with its next time."""
    predictions: tuple[Mapping[str, Any], ...] = ()
    """The person's predictions there: what was said, and the `verdict` on it."""
    grants: tuple[Grant, ...] = ()
    """The tools that the person has permanently allowed there."""

    def words(self) -> str:
        """For people: how much it is, what is kept besides, and the questions and answers, newest first."""
        sentence = _KEPT_PARTLY if self.has_older else _KEPT_SOME if self.turns else _KEPT_NOTHING
        first = say(sentence, answers=answers(len(self.turns)), count=len(self.turns))
        answered = [f"{_headed(turn)}\n{_answered(turn)}" for turn in reversed(self.turns)]
        return "\n\n".join(filter(None, [first, "\n".join(self._beside()), *answered]))

    def as_json(self, *, with_media: bool = True) -> str:
        """For programs: everything, tool calls and results included, oldest first; pictures and documents only with
        media.
        """
        whole = {
            "turns": [_whole(turn, with_media=with_media) for turn in self.turns],
            "settings": json.loads(chat_settings.dump_settings(self.settings).partition(b":")[2]),
            "unanswered": self.unanswered,
            "facts": self.facts,
            "reminders": [{"at": at.isoformat(), "text": text} for at, text in self.reminders],
            "allowed": [{"tool": grant.tool, "at": grant.at.isoformat()} for grant in self.grants],
            "predictions": self.predictions,
        }
        return json.dumps(whole, ensure_ascii=False, indent=2)

    def as_files(self, *, in_group: bool) -> tuple[File, ...]:
        """Returns the words as a text and, in a direct chat, all as JSON: a group has not read what tools said.

        Pictures and documents are left out: their senders have them.
        """
        text = File(name="export.txt", content_type="text/plain; charset=utf-8", data=self.words().encode())
        if in_group:
            return (text,)
        data = self.as_json(with_media=False).encode()
        return text, File(name="export.json", content_type="application/json", data=data)

    def _beside(self) -> Sequence[str]:
        """A line for each thing that is kept besides the turns."""
        persona = self.settings.persona
        return (
            *([say(turn_phrases.PERSONA_NOW, text=persona.text)] if persona else []),
            *(say(common_phrases.KEPT_FACT, fact=fact) for fact in self.facts),
            *(say(_KEPT_REMINDER, when=moment(at), text=text) for at, text in self.reminders),
            *map(_prediction_line, self.predictions),
            *(turn_phrases.allowed_since(grant.tool, grant.at) for grant in self.grants),
            *([say(_KEPT_UNANSWERED, question=self.unanswered)] if self.unanswered else []),
        )


async def gather_export(
    store: Store,
    person: PersonId,
    direct: ChatId | None,
    *,
    now: datetime,
    conversation: ConversationId | None = None,
    max_bytes: int | None = None,
    timezone: str = "UTC",
) -> Export:
    """Returns what is kept about a person: their whole direct chat, and elsewhere the turns they asked.

    Times are by the person's clock; `timezone` is that of a person whose own is not known.

    `direct` None leaves the direct chat out; `conversation` is where it is asked for, None means everywhere. What is
    kept besides the turns is that of the direct chat, or else of `conversation`. Beyond `max_bytes`, older turns are
    left out. Reading takes many short steps, so that no other chat waits for it: what is deleted meanwhile may still
    be included.

    Raises:
        StoreError: it cannot be read.
    """
    found = await store.read(lambda repos: _beside(repos, person, direct, now, conversation, timezone))
    turns: list[KeptTurn] = []
    size_bytes, before = 0, None

    def read(repos: Repositories) -> tuple[Sequence[TurnId], list[tuple[ConversationId, StoredMessage]]]:
        ids = repos.history.turns_of_person(person, direct, before=before, limit=_READ_AT_ONCE)
        rows = repos.history.of_turns(ids, conversation=None if direct else conversation)
        return ids, [row for row in rows if _stands(row[1].expires_at, now)]

    while True:
        ids, rows = await store.read(read)
        is_full = max_bytes is not None and size_bytes > max_bytes
        if not ids or (is_full and rows):
            return replace(found, turns=tuple(reversed(turns)), has_older=bool(ids))
        some: list[KeptTurn] = []
        for (place, _, expires_at), group in groupby(rows, lambda row: (row[0], row[1].turn, row[1].expires_at)):
            said = tuple(one for _, row in group for one in messages.load_messages(row.message))
            some.append(KeptTurn(conversation=place, expires_at=expires_at, said=said))
        turns += reversed(some)
        size_bytes += sum(len(message.message) for _, message in rows)
        before = ids[-1]


def _stands(expires_at: datetime | None, now: datetime) -> bool:
    return expires_at is None or expires_at > now


def _beside(
    repos: Repositories,
    person: PersonId,
    direct: ChatId | None,
    now: datetime,
    conversation: ConversationId | None,
    timezone: str,
) -> Export:
    """Gathers what is kept besides the turns."""
    home = repos.conversations.at(direct) if direct else conversation
    if home is None:
        return Export()
    zone = ZoneInfo(repos.reminders.zone(ChatId.direct(person)) or timezone)
    last = repos.turns.last_asked(home, person, after=TurnId(0))
    stands = last is not None and _stands(last.expires_at, now)
    asked = messages.load_question(repos.turns.unanswered_question(home, last.turn) if last and stands else None)
    return Export(
        settings=chat_settings.settings_of(repos, home, now),
        unanswered=None if asked is None else asked.text,
        facts=tuple(
            _fact_of(fact.fact, fact.labels, person) for fact in repos.facts.all(home, now=now) if fact.fact is not None
        ),
        reminders=tuple(
            (one.due_at.astimezone(zone), json.loads(one.words)["text"])
            for one in repos.reminders.of_person(person, home)
            if one.words is not None and _stands(one.expires_at, now)
        ),
        grants=tuple(replace(grant, at=grant.at.astimezone(zone)) for grant in repos.grants.of(home, person)),
        predictions=tuple(
            json.loads(one.words) | {"verdict": None if one.outcome is None else json.loads(one.outcome)}
            for one in repos.predictions.all(home, person, now=now)
            if one.words is not None
        ),
    )


def _prediction_line(one: Mapping[str, Any]) -> str:
    percent = number((Decimal(str(one["probability"])) * 100).normalize())
    line = say(_KEPT_PREDICTION, percent=percent, day=day(date.fromisoformat(one["due"])), statement=one["statement"])
    return line if one["verdict"] is None else f"{line} ({say(_OUTCOMES[one['verdict']])})"


def _fact_of(fact: bytes, origin: bytes | None, person: PersonId) -> str:
    """A fact; if the person did not tell it themselves, with its source and without links."""
    where = turn_phrases.origin(untrusted_sources(labels.load_labels(origin), person))
    return f"{inert(fact.decode())} ({where})" if where else fact.decode()


def _whole(turn: KeptTurn, *, with_media: bool) -> Mapping[str, Any]:
    said = [replace(one, media=()) if isinstance(one, UserMessage) and not with_media else one for one in turn.said]
    return {
        "conversation": turn.conversation,
        "expires_at": None if turn.expires_at is None else turn.expires_at.isoformat(),
        "messages": json.loads(messages.dump_messages(said).partition(b":")[2]),
    }


def _headed(turn: KeptTurn) -> str:
    """The question with the times above it as people read them."""
    asked = "\n".join(message.text for message in turn.said if isinstance(message, UserMessage))
    return _STAMP.sub(lambda head: f"[{moment(datetime.fromisoformat(head[1]))}{head[2] or ''}] ", asked)


def _answered(turn: KeptTurn) -> str:
    lines = [visible_words(message) for message in turn.said if isinstance(message, AssistantMessage) and message.text]
    tools = [answer.name for message in turn.said if isinstance(message, ToolMessage) for answer in message.answers]
    return "\n".join([*lines, *([f"({', '.join(tools)})"] if tools else [])])


class ExportCommands(CommandGroup):
    """The command that shows people what is kept about them."""

    def __init__(self, context: CommandContext, *, timezone: str) -> None:
        """`timezone` is that of a person whose own is not known."""
        self._context = context
        self._timezone = timezone

    @command("/export", ABOUT_EXPORT, section="data")
    async def _export(self, call: Call) -> Answer:
        """Shows what is kept about the person; if it is long, as a text to read and as JSON. In a group, only what they
        asked there, without the JSON.
        """
        found = await gather_export(
            self._context.store,
            call.message.author,
            None if call.is_in_group else call.message.chat,  # a group is shown no more than it has already seen
            now=self._context.clock.now(),
            conversation=call.conversation,
            max_bytes=MAX_FILE_BYTES,
            timezone=self._timezone,
        )
        with use_language(await self._context.language(call)):
            words = found.words()
            if len(words.encode()) <= _MAX_WORDS_BYTES:
                return words
            files = await asyncio.to_thread(found.as_files, in_group=call.is_in_group)
            whole = _KEPT_SOME if call.is_in_group else _KEPT_IN_FILE
            sentence = _KEPT_PARTLY if found.has_older else whole
            shown = say(sentence, answers=answers(len(found.turns)), count=len(found.turns))
            return CommandReply(text=shown, files=files)
