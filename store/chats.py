"""Chats: the settings of each conversation as one sealed value, and the state of its turns."""

from dataclasses import dataclass
from datetime import datetime

from store.records import ConversationId, InboxId, TurnId, TurnState
from store.repository import Repository, millis, millis_if


@dataclass(frozen=True, kw_only=True, slots=True)
class LastQuestion:
    """The last question of a person in a conversation."""

    turn: TurnId
    state: TurnState
    expires_at: datetime | None
    """When its words disappear; None: they stay."""


class Chats(Repository):
    """The repository of chat settings. All methods run inside a transaction."""

    def settings(self, conversation: ConversationId) -> bytes | None:
        """Returns the settings of the conversation; None: none were ever set."""
        sealed = self.value("SELECT settings FROM chats WHERE conversation_id = ?", (conversation,))
        return None if sealed is None else self.keyring.open(conversation, _settings_place(conversation), sealed)

    def keep(self, conversation: ConversationId, settings: bytes, *, expires_at: datetime | None) -> None:
        """Replaces the settings, sealed. `expires_at`: when words in them disappear."""
        self.execute(
            "INSERT INTO chats (conversation_id, settings, expires_at) VALUES (?, ?, ?) ON CONFLICT (conversation_id) "
            "DO UPDATE SET settings = excluded.settings, expires_at = excluded.expires_at",
            (
                conversation,
                self.keyring.seal(conversation, _settings_place(conversation), settings),
                millis_if(expires_at),
            ),
        )

    def expired_chats(self, now: datetime) -> tuple[ConversationId, ...]:
        """Returns the conversations whose settings contain words that must be gone by now."""
        return self.column("SELECT conversation_id FROM chats WHERE expires_at <= ?", (millis(now),))

    def all(self) -> tuple[ConversationId, ...]:
        """Returns the conversations that have settings."""
        return self.column("SELECT conversation_id FROM chats")

    def newest_turn(self, conversation: ConversationId) -> TurnId:
        """Returns the newest turn of the conversation; 0 if there is none."""
        newest = "SELECT id FROM turns WHERE conversation_id = ? ORDER BY id DESC LIMIT 1"
        return self.value(newest, (conversation,)) or TurnId(0)

    def is_first(self, conversation: ConversationId, turn: TurnId) -> bool:
        """Whether this is the conversation's first turn that answers a question, as far as is known."""
        # Other things that are said, such as answers to commands, are in turns that end as ignored.
        earlier = "SELECT 1 FROM turns WHERE conversation_id = ? AND id < ? AND state <> 'ignored' LIMIT 1"
        return not self.exists(earlier, (conversation, turn))

    def last_asked(self, conversation: ConversationId, person: str, *, after: TurnId) -> LastQuestion | None:
        """Returns the person's last question there that was not taken back; None if it is not newer than `after`."""
        return self.record(
            LastQuestion,
            "SELECT id AS turn, state, expires_at FROM askers JOIN turns ON turns.id = askers.turn_id WHERE person = ? "
            "AND askers.turn_id > ? AND conversation_id = ? "
            "AND state <> 'ignored' ORDER BY askers.turn_id DESC LIMIT 1",
            (self.keyring.handle(person), after, conversation),
        )

    def leave(self, conversation: ConversationId, turn: TurnId, question: bytes | None) -> None:
        """Keeps the question of a turn that ended without an answer (None: it has one); deletes older questions."""
        self.execute(
            "DELETE FROM unanswered WHERE turn_id IN (SELECT turn_id FROM unanswered JOIN turns "
            "ON turns.id = turn_id WHERE conversation_id = ?)",
            (conversation,),
        )
        if question is not None:
            sealed = self.keyring.seal(conversation, _question_place(turn), question)
            self.execute("INSERT INTO unanswered (turn_id, question) VALUES (?, ?)", (turn, sealed))

    def unanswered_question(self, conversation: ConversationId, turn: TurnId) -> bytes | None:
        """Returns the question of a turn that ended without an answer; None if there is none, or not any more."""
        sealed = self.value("SELECT question FROM unanswered WHERE turn_id = ?", (turn,))
        return None if sealed is None else self.keyring.open(conversation, _question_place(turn), sealed)

    def shorten(self, item: InboxId, expires_at: datetime | None) -> None:
        """Makes the words of an inbox message disappear by `expires_at` at the latest; None changes nothing."""
        if expires_at is not None:
            self.execute(
                "UPDATE inbox SET expires_at = min(coalesce(expires_at, ?1), ?1) WHERE id = ?2",
                (millis(expires_at), item),
            )

    def at(self, address: str) -> ConversationId | None:
        """Returns the conversation at this address; None if there never was one."""
        return self.value("SELECT id FROM conversations WHERE handle = ?", (self.chat_handle(address),))

    def is_answering(self, conversation: ConversationId) -> bool:
        """Whether a question in the conversation is being answered."""
        return self.exists(
            "SELECT 1 FROM inbox INDEXED BY inbox_open "
            "WHERE conversation_id = ? AND state IN ('waiting', 'claimed') AND state = 'claimed' LIMIT 1",
            (conversation,),
        )


def _question_place(turn: TurnId) -> str:
    return f"unanswered.question|{turn}"


def _settings_place(conversation: ConversationId) -> str:
    return f"chats.settings|{conversation}"
