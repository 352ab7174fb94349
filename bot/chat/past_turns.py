"""The earlier turns of conversations from the history, cached for the recently active conversations.

Left to others: which of them go into a request (`bot.chat.prompt`), what people take back or change (`bot.chat.edits`).
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from bot import messages
from bot.chat import prompt
from bot.chat.prompt import PastTurn
from bot.messages import CallId, Message, ToolMessage
from store import ConversationId, Repositories, Store, StoredMessage, TurnId

_REMEMBERED_CONVERSATIONS = 32
_REMEMBERED_MEDIA_BYTES = 4_000_000
"""The cached pictures and documents of one conversation; with more, its turns are read again each time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredTurn:
    """One turn of the history."""

    turn: TurnId
    messages: PastTurn
    expires_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class TakenTurns:
    """The turns of a conversation while another one is being kept."""

    conversation: ConversationId
    turns: tuple[StoredTurn, ...] | None
    """None: they were not cached."""
    changes: int
    """The number of changes to the history when they were taken."""


class PastTurns:
    """The last turns of all conversations, `max_turns` each."""

    def __init__(self, store: Store, *, max_turns: int) -> None:
        self._store = store
        self._max_turns = max_turns
        self._recent: OrderedDict[ConversationId, tuple[StoredTurn, ...]] = OrderedDict()
        """The recently active conversations: decrypting and reading them again costs a tenth of a turn.
        `Turns.keep` alone adds to the history; what removes from it or changes it calls `forget`."""
        self._changes = 0
        """How often the history was changed: anything read before the last change is not cached."""

    async def load(self, conversation: ConversationId) -> tuple[StoredTurn, ...]:
        """The last turns, oldest first, with the pictures and documents that are still shown."""
        past, changes = self._recent.get(conversation), self._changes
        if past is None:
            rows = await self._store.read(lambda repos: repos.history.last(conversation, self._max_turns))
            past = await self._lightened(conversation, turns_of(rows))
            self._remember(conversation, past, changes)
        return past

    def take(self, conversation: ConversationId) -> TakenTurns:
        """Removes a conversation from the cache until it is clear whether another turn was kept in it."""
        return TakenTurns(conversation=conversation, turns=self._recent.pop(conversation, None), changes=self._changes)

    def put_back(self, taken: TakenTurns, *more: StoredTurn) -> None:
        """Caches the turns again, with those kept meanwhile."""
        if taken.turns is None:
            return
        # In the order in which they began, as in the store.
        whole = sorted((*taken.turns, *more), key=lambda kept: kept.turn)
        last = whole[-self._max_turns :] if self._max_turns else []
        self._remember(taken.conversation, _light(last), taken.changes)

    def forget(self, conversation: ConversationId | None = None) -> None:
        """Drops a conversation (None: all) whose stored history has changed, so that it is read again."""
        self._changes += 1
        if conversation is None:
            self._recent.clear()
        else:
            self._recent.pop(conversation, None)

    async def _lightened(self, conversation: ConversationId, past: tuple[StoredTurn, ...]) -> tuple[StoredTurn, ...]:
        """The turns with only the pictures and documents that are still shown; the others are deleted."""
        light = _light(past)
        changed = [now.turn for now, before in zip(light, past, strict=True) if now.messages != before.messages]

        def lighten(repos: Repositories) -> None:
            for turn in changed:
                # Read again, because it may have been edited.
                asked = messages.load_question(repos.history.question(conversation, turn))
                if asked is not None:
                    repos.history.correct(
                        conversation, turn, messages.dump_messages((prompt.with_media_in_words(asked),))
                    )

        if changed:
            await self._store.transaction(lighten)
        return light

    def _remember(self, conversation: ConversationId, past: tuple[StoredTurn, ...], changes: int) -> None:
        """Caches what was read after that many changes, unless there was another since."""
        is_large = sum(turn.messages.media_bytes for turn in past) > _REMEMBERED_MEDIA_BYTES
        if changes != self._changes or is_large:
            return
        self._recent[conversation] = past
        self._recent.move_to_end(conversation)
        if len(self._recent) > _REMEMBERED_CONVERSATIONS:
            self._recent.popitem(last=False)


def turns_of(rows: Iterable[StoredMessage]) -> tuple[StoredTurn, ...]:
    """The turns made of these rows, in their order."""
    grouped = groupby(rows, key=lambda row: (row.turn, row.expires_at))
    return tuple(
        StoredTurn(turn=turn, messages=PastTurn(_joined(group)), expires_at=expires_at)
        for (turn, expires_at), group in grouped
    )


def rows_of(turn: TurnId, kept: Iterable[Message]) -> list[StoredMessage]:
    """The messages of a turn as rows of the history: one per tool answer."""
    rows: list[StoredMessage] = []
    for message in kept:
        if isinstance(message, ToolMessage):
            rows += [_row(turn, ToolMessage(answers=(answer,)), answer.call_id) for answer in message.answers]
        else:
            rows.append(_row(turn, message, None))
    return rows


def _row(turn: TurnId, message: Message, call_id: CallId | None) -> StoredMessage:
    return StoredMessage(turn=turn, role=message.role, call_id=call_id, message=messages.dump_messages((message,)))


def _light(turns: Sequence[StoredTurn]) -> tuple[StoredTurn, ...]:
    """The turns with only the pictures and documents that are still shown."""
    said = prompt.without_old_media([turn.messages for turn in turns])
    return tuple(
        turn if shown is turn.messages else replace(turn, messages=shown)
        for turn, shown in zip(turns, said, strict=True)
    )


def _joined(rows: Iterable[StoredMessage]) -> Iterable[Message]:
    """The messages of one turn: consecutive rows of tool answers become one message."""
    for is_tool, group in groupby(rows, key=lambda row: row.role == "tool"):
        read = [message for row in group for message in messages.load_messages(row.message)]
        if is_tool:
            yield ToolMessage(
                answers=tuple(a for message in read if isinstance(message, ToolMessage) for a in message.answers)
            )
        else:
            yield from read
