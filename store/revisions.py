"""Revisions: a message in the inbox and its edits, each of which names the message by its author and time."""

from store.records import ConversationId, InboxId, KnownMessage, TurnId
from store.repository import Repository


class Revisions(Repository):
    """The repository of revisions. All methods run inside a transaction."""

    def find(self, conversation: ConversationId, author: str, sent_at: int) -> KnownMessage | None:
        """Returns the message with a revision that its author sent at `sent_at`; None if it is unknown."""
        root = self.value(
            "SELECT coalesce(revises, id) FROM inbox WHERE author = ? AND sent_at = ? AND conversation_id = ? "
            "AND (kind = 'message' OR revises IS NOT NULL)",
            (self.keyring.handle(author), sent_at, conversation),
        )
        if root is None:
            return None
        revisions = self.rows(
            "SELECT inbox.id, sent_at, inbox.state, turn_id, turns.state, final FROM inbox "
            "LEFT JOIN turns ON turns.id = turn_id WHERE inbox.id = ?1 OR revises = ?1 ORDER BY inbox.id",
            (root,),
        )
        item, _, state, turn, turn_state, is_newest_final = revisions[-1]
        return KnownMessage(
            item=InboxId(item),
            root=InboxId(root),
            names=frozenset(row[1] for row in revisions),
            is_open=state in {"waiting", "claimed"},
            turn=None if turn is None else TurnId(turn),
            turn_state=turn_state,
            is_final=any(row[5] for row in revisions),
            is_newest_final=bool(is_newest_final),
        )

    def revise(self, item: InboxId, root: InboxId, turn: TurnId | None) -> None:
        """Makes an edit the newest revision of a message, in the turn that answers or answered it."""
        self.execute("UPDATE inbox SET revises = ?, turn_id = ? WHERE id = ?", (root, turn, item))

    def move(self, turn: TurnId, again: TurnId) -> None:
        """Makes the messages of a turn those of the turn that asks them again: its words go with theirs."""
        self.execute(
            "UPDATE inbox SET turn_id = ? WHERE turn_id = ? AND (kind = 'message' OR revises IS NOT NULL)",
            (again, turn),
        )

    def finalize(self, item: InboxId) -> None:
        """Records that this message was a command whose effect stays, however it is edited."""
        self.execute("UPDATE inbox SET final = 1 WHERE id = ?", (item,))
