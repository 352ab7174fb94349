"""Conversations. Their words are in the history, their keys in the key file."""

from datetime import datetime

from store.records import ConversationId
from store.repository import Repository, millis
from store.sealing import key_name


class Conversations(Repository):
    """The repository of conversations. All methods run inside a transaction."""

    def at(self, address: str) -> ConversationId | None:
        """Returns the conversation at this address; None if there never was one."""
        return self.value("SELECT id FROM conversations WHERE handle = ?", (self.chat_handle(address),))

    def add(self, address: str, *, now: datetime) -> ConversationId:
        """Returns the conversation at this address; adds a new one. Its data key has to exist (`key`)."""
        handle = self.chat_handle(address)
        self.execute(
            "INSERT INTO conversations (realm, handle, created_at) VALUES (?, ?, ?) ON CONFLICT (handle) DO NOTHING",
            (self.realm, handle, millis(now)),
        )
        found = ConversationId(self.value("SELECT id FROM conversations WHERE handle = ?", (handle,)))
        self.keyring.refresh(found)
        return found

    def key(self, address: str) -> None:
        """Creates the data key of the conversation at this address, in a transaction of its own before `add`.

        The keys are in another file, and the two files do not commit together. A key without a conversation does no
        harm; a row without a key could never be read.
        """
        handle = self.chat_handle(address)
        generation = self.value("SELECT key_generation FROM conversations WHERE handle = ?", (handle,))
        self.keyring.make(key_name(handle, generation or 0))
