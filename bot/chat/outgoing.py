"""Puts what a turn says into the outbox: as messages that fit, replacing what it said before.

    a text --> a message, styled, quoting and mentioning people --> put: over a status, or over the answer of an edited
    question
    nothing left to say --> clear: the status goes
    a tool's Result --> ToolRun (journaled) --> Outcome --> files in the last message of the answer

All writes are part of the caller's transaction.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from typing import ParamSpec, TypeVar

from bot.chat import phrases
from bot.chat.journal import Outcome, Turn
from bot.chat.prompt import safe_name
from bot.chat.steps import ToolRun
from bot.events import (
    WHOLE_ANSWER,
    ChatId,
    File,
    Incoming,
    MentionRange,
    NamedPerson,
    Outgoing,
    PersonId,
    Removal,
    Reply,
    SentId,
    Style,
    Styled,
    dump_value,
    utf16_offsets,
)
from bot.formatting.spans import overlapping
from bot.formatting.split import MAX_RANGES, one_message, quoting
from bot.i18n.catalogues import say
from store import ConversationId, OutboxId, Repositories, SentMessage, TurnId
from tools import ResultFile

_MAX_LOOP_CHARACTERS = 8_000
"""The longest text that is processed in the event loop; pure style marks take 35 microseconds per character."""

P = ParamSpec("P")
T = TypeVar("T")


async def work_out(text: str, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """The result of work on this text; for a long one, a thread does it, so that nothing else has to wait."""
    if len(text) <= _MAX_LOOP_CHARACTERS:
        return work(*arguments, **named)
    return await asyncio.to_thread(work, *arguments, **named)


def replies_to(text: str, answered: Sequence[Incoming], *, ok: bool, talk: Sequence[Incoming] = ()) -> list[Reply]:
    """Returns a Markdown text as the message that answers these, in full in a file if too long; none if invisible.

    In a group it quotes the newest and mentions people of these and of the preceding `talk` where it names them.
    """
    content, is_whole = one_message(text, cut_mark=say(phrases.REST_IN_FILE))
    if content is None:
        return []
    newest = answered[-1]
    people: list[NamedPerson] = []
    for message in (*talk, *answered) if newest.chat.is_group else ():
        people += [NamedPerson(name=message.name, person=message.author)] if message.name else []
        people += message.mentioned
    mentions = find_mentions(content, people)[:MAX_RANGES]
    whole = File(name=WHOLE_ANSWER, content_type="text/plain", data=text.encode(errors="replace"))
    return [
        Reply(
            chat=newest.chat,
            content=replace(content, styles=content.styles[: MAX_RANGES - len(mentions)]),
            quote=quoting(newest),
            mentions=mentions,
            files=() if is_whole else (whole,),
            ok=ok,
            answers=tuple(message.sent_at for message in answered),
        )
    ]


def put(repos: Repositories, turn: Turn, replies: Sequence[Reply], now: datetime) -> None:
    """Puts what the turn says in place of its status, or of the answer it replaces; in a burst it quotes."""
    newest = turn.incoming[-1]
    if (
        replies
        and replies[0].quote is None
        and newest.scheduled is None
        and (len(turn.incoming) > 1 or repos.outbox.is_passed(turn.conversation, turn.id, newest.sent_at))
    ):
        replies = (replace(replies[0], quote=quoting(newest, is_apart=True)), *replies[1:])
    first = repos.outbox.next_position(turn.id)  # not 0 if the turn has asked something before
    status = repos.outbox.current_status(turn.id)
    replaced = () if turn.replaces is None or first else repos.outbox.of_turn(turn.replaces)
    if status is not None:
        replaced = ((status, None),)
    for position, (reply, old) in enumerate(zip_longest(replies, replaced), first):
        sent = old[1] if old else None
        # A part of the old answer that the new one does not need; it may not have reached the chat.
        value = reply or (None if sent is None else Removal(chat=turn.chat, target=SentId(sent.sent_at)))
        if value is not None:
            replaces = old[0] if old and reply else None
            add_message(repos, turn.conversation, turn.id, value, now, position=position, replaces=replaces)
    if not replies:
        clear(repos, turn.id, turn.chat, now)


def add_message(
    repos: Repositories,
    conversation: ConversationId,
    turn: TurnId,
    message: Outgoing,
    now: datetime,
    *,
    position: int | None = None,
    replaces: OutboxId | None = None,
) -> None:
    """Adds a reply or a removal to what a turn says, at this position or (None) at the end; as in `Outbox.put`."""
    repos.outbox.put(
        conversation,
        turn,
        repos.outbox.next_position(turn) if position is None else position,
        dump_value(message),
        in_group=message.chat.is_group,
        now=now,
        replaces=replaces,
        removes=isinstance(message, Removal),
    )


def shown_answer(repos: Repositories, turn: TurnId) -> list[SentMessage | None]:
    """Returns what stands in the chat as the turn's answer: its own, or the one that it is still to replace."""
    answer = repos.outbox.of_turn(turn)
    replaced = repos.turns.replaces(turn)
    if not answer and replaced is not None:
        answer = repos.outbox.of_turn(replaced)
    return [sent for _, sent in answer]


def add_removals(
    repos: Repositories,
    conversation: ConversationId,
    turn: TurnId,
    chat: ChatId,
    sent: Iterable[SentMessage | None],
    now: datetime,
) -> None:
    """Deletes these messages of ours in the chat; None stands for one that is not there."""
    for message in sent:
        if message is not None:
            add_message(repos, conversation, turn, Removal(chat=chat, target=SentId(message.sent_at)), now)


def clear(repos: Repositories, turn: TurnId, chat: ChatId, now: datetime) -> None:
    """Withdraws a turn's status: it is not sent, or removed if it is already in the chat."""
    sent = repos.outbox.take_status_back(turn)
    status = repos.outbox.current_status(turn)
    # Not the conversation in which the turn began, which may have been forgotten since.
    conversation = None if status is None else repos.outbox.conversation_of(status)
    if sent is not None and conversation is not None:
        removal = Removal(chat=chat, target=SentId(sent.sent_at))
        add_message(repos, conversation, turn, removal, now, replaces=status)


def find_mentions(content: Styled, people: Iterable[NamedPerson]) -> tuple[MentionRange, ...]:
    """The places of an answer, outside code, that name one of these people as in the question: native mentions."""
    holders: dict[str, set[PersonId]] = {}
    for one in people:
        for name in {one.name, safe_name(one.name)}:  # as it is and as the model sees it
            holders.setdefault(name, set()).add(one.person)
    known = {name: persons.pop() for name, persons in holders.items() if name and len(persons) == 1}
    if not known or "@" not in content.text:
        return ()
    names = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    units = utf16_offsets(content.text)
    places = [(*match.span(), known[match[1]]) for match in re.finditer(rf"(?<![\w@])@({names})(?!\w)", content.text)]
    ranges = [
        MentionRange(start=units[start], length=units[end] - units[start], person=person)
        for start, end, person in places
    ]
    code = [(style.start, style.start + style.length) for style in content.styles if style.style is Style.MONOSPACE]
    return tuple(one for one in ranges if overlapping(code, one.start, one.start + one.length) is None)


MAX_FILES = 4
MAX_BYTES = 8_000_000
"""The limit per call, all files together: the journal and the outbox hold them until the answer is sent."""


def files_of(made: Sequence[ResultFile]) -> tuple[tuple[File, ...], list[str]]:
    """The files of a tool's result that can be sent, and a sentence about each for the model."""
    kept: list[File] = []
    sentences: list[str] = []
    left = MAX_BYTES
    for file in made:
        # Without folders and invisible characters.
        visible = "".join(character for character in file.name if character.isprintable())
        name = visible.replace("\\", "/").rpartition("/")[2].strip(". ")[:80] or "file"
        size_bytes = len(file.data)
        if size_bytes <= left and len(kept) < MAX_FILES:
            kept.append(File(name=name, content_type=file.content_type, data=file.data))
            sentences.append(f"a file {name} was attached for the person")
            left -= size_bytes
        else:
            sentences.append(f"a file {name} was too much to be attached")
    return tuple(kept), sentences


def enclosed_files(runs: Iterable[ToolRun]) -> tuple[File, ...]:
    """The files to send with a turn's answer: the last ones its tools made, each once."""
    return tuple(dict.fromkeys(file for run in runs for file in run.files))[-MAX_FILES:]


def with_enclosures(replies: Sequence[Reply], outcome: Outcome) -> list[Reply]:
    """The messages of an answer with its enclosures: files in the last one, the voice note in one of its own."""
    if not replies or not (outcome.files or outcome.voice):
        return list(replies)
    *before, last = replies
    filled = replace(last, files=(*last.files, *outcome.files))
    if outcome.voice is None:
        return [*before, filled]
    # Phones show a voice note as one only if nothing else is in the message.
    voice = replace(last, content=Styled(text=""), quote=None, mentions=(), files=(outcome.voice,), is_voice_note=True)
    return [*before, replace(filled, last=False), voice]
