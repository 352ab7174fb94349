"""The chats: what people have set for a conversation, one sealed value each, and where its turns stand."""

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
    """The repository of the conversations' settings. All methods run inside a transaction."""

    def settings(self, conversation: ConversationId) -> bytes | None:
        """Returns the settings kept last; None: none were ever set."""
        sealed = self.value("SELECT settings FROM chats WHERE conversation_id = ?", (conversation,))
        return None if sealed is None else self.keyring.open(conversation, _settings_place(conversation), sealed)

    def keep(self, conversation: ConversationId, settings: bytes, *, expires_at: datetime | None) -> None:
        """Keeps the settings, sealed, in place of the former ones; `expires_at`: when words in them disappear."""
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
        """The conversations whose settings hold words that must be gone by now."""
        return self.column("SELECT conversation_id FROM chats WHERE expires_at <= ?", (millis(now),))

    def all(self) -> tuple[ConversationId, ...]:
        """The conversations in which something is set."""
        return self.column("SELECT conversation_id FROM chats")

    def newest_turn(self, conversation: ConversationId) -> TurnId:
        """The newest turn of the conversation; 0 when there is none."""
        newest = "SELECT id FROM turns WHERE conversation_id = ? ORDER BY id DESC LIMIT 1"
        return self.value(newest, (conversation,)) or TurnId(0)

    def is_first(self, conversation: ConversationId, turn: TurnId) -> bool:
        """Whether this is the first turn of the conversation that answers a question, as far as is known."""
        # What was said of itself, such as in answer to a command, is in turns that count as ignored.
        earlier = "SELECT 1 FROM turns WHERE conversation_id = ? AND id < ? AND state <> 'ignored' LIMIT 1"
        return not self.exists(earlier, (conversation, turn))

    def last_asked(self, conversation: ConversationId, person: str, *, after: TurnId) -> LastQuestion | None:
        """The last question of this person there that was not taken back; None where it is not newer than `after`."""
        return self.record(
            LastQuestion,
            "SELECT id AS turn, state, expires_at FROM askers JOIN turns ON turns.id = askers.turn_id WHERE person = ? "
            "AND askers.turn_id > ? AND conversation_id = ? "
            "AND state <> 'ignored' ORDER BY askers.turn_id DESC LIMIT 1",
            (self.keyring.handle(person), after, conversation),
        )

    def leave(self, conversation: ConversationId, turn: TurnId, question: bytes | None) -> None:
        """Ends a turn: without an answer to `question`, which is kept, or with one (None). Deletes older ones."""
        self.execute(
            "DELETE FROM unanswered WHERE turn_id IN (SELECT turn_id FROM unanswered JOIN turns "
            "ON turns.id = turn_id WHERE conversation_id = ?)",
            (conversation,),
        )
        if question is not None:
            sealed = self.keyring.seal(conversation, _question_place(turn), question)
            self.execute("INSERT INTO unanswered (turn_id, question) VALUES (?, ?)", (turn, sealed))

    def unanswered_question(self, conversation: ConversationId, turn: TurnId) -> bytes | None:
        """The question of a turn that ended without an answer; None where there is none, or it is no longer kept."""
        sealed = self.value("SELECT question FROM unanswered WHERE turn_id = ?", (turn,))
        return None if sealed is None else self.keyring.open(conversation, _question_place(turn), sealed)

    def shorten(self, item: InboxId, expires_at: datetime | None) -> None:
        """Makes what a message of the inbox asks disappear by then at the latest; None: when the message does."""
        if expires_at is not None:
            self.execute(
                "UPDATE inbox SET expires_at = min(coalesce(expires_at, ?1), ?1) WHERE id = ?2",
                (millis(expires_at), item),
            )

    def at(self, address: str) -> ConversationId | None:
        """The conversation at this address; None where there has never been one."""
        return self.value("SELECT id FROM conversations WHERE handle = ?", (self.chat_handle(address),))

    def is_answering(self, conversation: ConversationId) -> bool:
        """Whether a question of the conversation is being answered."""
        return self.exists(
            "SELECT 1 FROM inbox INDEXED BY inbox_open "
            "WHERE conversation_id = ? AND state IN ('waiting', 'claimed') AND state = 'claimed' LIMIT 1",
            (conversation,),
        )


def _question_place(turn: TurnId) -> str:
    return f"unanswered.question|{turn}"


def _settings_place(conversation: ConversationId) -> str:
    return f"chats.settings|{conversation}"
