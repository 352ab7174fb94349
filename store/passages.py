"""Passages: what was said, in pieces, and the files of the operator's folder, so that they are found again.

    a turn is kept, or its words change --> pending --index--> its passages: gone with its words
    a file of the folder is new or changed ----------keep_file-> its passages: gone with the file
    a passage, or an article of a feed, without a vector of the model --(elsewhere)--> keep_vectors

They are sealed under the conversation's key, those of the folder under the store's. There is no index of words on the
disk, which would show how often equal words occur: a search opens all passages, a batch at a time (`scan`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from store.records import ConversationId, TurnId
from store.repository import Repository

_WORDS = (
    "opened(conversation_id, 'passages.words|' || ifnull(turn_id, '') || '|' || ifnull(file_id, '') || '|' || "
    "position, words) AS words"
)
_AT_ONCE = 500
"""These take 8 ms to open."""
_NEVER = 2**62


class Passages(Repository):
    """The repository of passages. A conversation that is None means the operator's folder."""

    def pending_turns(self, limit: int) -> tuple[TurnId, ...]:
        """Returns the newest kept turns of the realm whose words are not among the passages."""
        return self.column(
            "SELECT turns.id FROM turns JOIN conversations ON conversations.id = conversation_id WHERE state = 'kept' "
            "AND is_indexed = 0 AND realm = ? ORDER BY turns.id DESC LIMIT ?",
            (self.realm, limit),
        )

    def index(self, turn: TurnId, pieces: Sequence[bytes]) -> None:
        """Keeps the passages of a turn."""
        indexed = "UPDATE turns SET is_indexed = 1 WHERE id = ? RETURNING conversation_id, started_at"
        for conversation, at in self.rows(indexed, (turn,)):
            self._put(pieces, f"{turn}|", conversation_id=conversation, turn_id=turn, said_at=at)

    def renew_files(self, files: Mapping[str, str]) -> list[str]:
        """Drops what is not among these files with their versions; returns the names of those that are to be read."""
        names = {self.keyring.handle(name): name for name in files}
        gone = [(name,) for name in self.column("SELECT name FROM folder_files") if name not in names]
        # What had no room may have it now.
        self.execute_many("DELETE FROM folder_files WHERE name = ? OR size_bytes = 0", gone)
        known = dict(self.rows("SELECT name, version FROM folder_files"))
        return [name for handle, name in names.items() if known.get(handle) != files[name]]

    def keep_file(self, name: str, version: str, pieces: Sequence[bytes], *, max_bytes: int, now: datetime) -> bool:
        """Keeps a file in place of its former version; returns whether its text fits: of all at most `max_bytes`."""
        handle = self.keyring.handle(name)
        size = sum(map(len, pieces))
        self.execute("DELETE FROM folder_files WHERE name = ?", (handle,))
        fits = self.value("SELECT total(size_bytes) FROM folder_files") + size <= max_bytes
        file = self.insert("folder_files", name=handle, version=version, size_bytes=max(1, size) if fits else 0)
        self._put(pieces if fits else (), f"|{file}", conversation_id=None, file_id=file, said_at=now)
        return fits

    def _put(self, pieces: Sequence[bytes], of: str, *, conversation_id: ConversationId | None, **row: Any) -> None:
        for position, piece in enumerate(pieces):
            words = self.keyring.seal(conversation_id, f"passages.words|{of}|{position}", piece)
            self.insert("passages", conversation_id=conversation_id, position=position, words=words, **row)

    def scan(
        self,
        place: ConversationId | None,
        model: str | None,
        after: int,
        period: Sequence[datetime | None],
        now: datetime,
        *,
        begun_after: TurnId,
    ) -> list[tuple[int, int, bytes | None, bytes | None]]:
        """Returns the next batch after this id of what was said in a period, from its begin to its end (None: open), in
        later turns than `begun_after`: the id, the time, the words, and the vector if this model made it.
        """
        vector = "opened(conversation_id, 'passages.vector|' || id, vector)"
        return self.rows(
            f"SELECT id, said_at, {_WORDS}, CASE WHEN embedded_by = ?2 THEN {vector} END FROM passages "  # noqa: S608  (literals)
            "WHERE conversation_id IS ?1 AND id > ?3 AND said_at >= ?4 AND said_at <= ?5 AND ifnull(turn_id, 0) NOT IN "
            "(SELECT id FROM turns WHERE expires_at IS NOT NULL AND expires_at <= ?6) AND ifnull(turn_id, ?8) > ?7 "
            "ORDER BY id LIMIT ?9",
            (place, model, after, period[0] or 0, period[1] or _NEVER, now, begun_after, _NEVER, _AT_ONCE),
        )

    def of_ids(self, ids: Sequence[int]) -> list[tuple[TurnId | None, int, bytes | None]]:
        """Returns of these passages, in this order, the turn (None: of the folder), when it was said, and the words."""
        query = f"SELECT turn_id, said_at, {_WORDS} FROM passages WHERE id = ?"  # noqa: S608  (literals only)
        return [row for id_ in ids for row in self.rows(query, (id_,))]

    def without_vector(self, model: str, limit: int) -> list[tuple[str, int, bytes | None]]:
        """Returns passages without a vector of this model, the newest first, and then articles: table, id and words."""
        passages = f"SELECT 'passages', id, {_WORDS} FROM passages WHERE id IN (SELECT id FROM passages INDEXED BY "  # noqa: S608
        passages += "passages_by_model WHERE embedded_by IS NOT ? ORDER BY id DESC LIMIT ?)"
        words = "CAST(title || '. ' || summary AS BLOB)"
        articles = f"SELECT 'articles', id, {words} FROM articles WHERE embedded_by IS NOT ? LIMIT ?"  # noqa: S608
        return self.rows(passages, (model, limit)) or self.rows(articles, (model, limit))

    def keep_vectors(self, model: str, vectors: Mapping[tuple[str, int], bytes]) -> None:
        """Keeps what the model made of the rows of these tables and ids; those that are gone meanwhile stay so."""
        for (table, id_), vector in vectors.items():
            kept = vector
            if table == "passages":
                conversation = self.value("SELECT conversation_id FROM passages WHERE id = ?", (id_,))
                kept = self.keyring.seal(conversation, f"passages.vector|{id_}", vector)
            self.execute(f"UPDATE {table} SET vector = ?, embedded_by = ? WHERE id = ?", (kept, model, id_))  # noqa: S608
