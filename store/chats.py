"""Chats: the settings of each conversation, as one sealed value."""

from datetime import datetime

from store.records import ConversationId
from store.repository import Repository, millis, millis_if


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


def _settings_place(conversation: ConversationId) -> str:
    return f"chats.settings|{conversation}"
