"""The journal: the steps of a running turn, written as they happen, so that no step is repeated after a crash.

    running --(keep)--> steps gone, the turn is in the history
            |-(fail)--> steps gone, the person was told
            '-(taken back, forgotten)--> steps gone, nothing more is written

Left to others: what a step says (`bot.turn.turns`).
"""

from datetime import datetime

from store.errors import StepMissing
from store.records import ConversationId, TurnEnd, TurnId
from store.repository import Repository, millis


class Journal(Repository):
    """The repository of the journal. All methods run inside a transaction."""

    def add(self, conversation: ConversationId, turn: TurnId, first: int, *steps: bytes) -> bool:
        """Writes steps, sealed, from position `first` on; positions count from 0 without a gap.

        Returns False, and writes nothing, if the turn is not running any more.

        Raises:
            StepMissing: the step before it is not written; with a gap, the turn could not go on after a crash.
        """
        if not self.is_running(turn):
            return False
        if first > self.value("SELECT coalesce(max(position) + 1, 0) FROM journal WHERE turn_id = ?", (turn,)):
            raise StepMissing(f"turn {turn} lacks the step before step {first}")
        rows = [
            (turn, position, self.keyring.seal(conversation, _place(turn, position), step))
            for position, step in enumerate(steps, first)
        ]
        self.execute_many("INSERT INTO journal (turn_id, position, step) VALUES (?, ?, ?)", rows)
        return True

    def is_running(self, turn: TurnId) -> bool:
        """Whether the turn still has to be answered; its question may have been taken back or forgotten."""
        return self.exists("SELECT 1 FROM turns WHERE id = ? AND state = 'running'", (turn,))

    def steps(self, conversation: ConversationId, turn: TurnId) -> tuple[bytes, ...]:
        """Returns the steps of the turn in order; empty if it was only claimed."""
        rows = self.rows("SELECT position, step FROM journal WHERE turn_id = ? ORDER BY position", (turn,))
        return tuple(self.keyring.open(conversation, _place(turn, position), step) for position, step in rows)

    def close(self, turn: TurnId, end: TurnEnd, *, now: datetime) -> None:
        """Ends the turn and deletes its steps."""
        self.execute("DELETE FROM journal WHERE turn_id = ?", (turn,))
        self.execute("UPDATE turns SET state = ?, ended_at = ? WHERE id = ?", (end, millis(now), turn))


def _place(turn: TurnId, position: int) -> str:
    return f"journal.step|{turn}|{position}"
