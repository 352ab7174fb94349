"""The quotas: how often a service was asked in the running month. Holds nothing of people and stays when they go.

Left to others: which services are counted, and how much of each there is (`tools.web_search`).
"""

from store.shelf import Shelf


class Quotas(Shelf):
    """The shelf of the quotas. All methods run inside a transaction."""

    def take(self, service: str, month: str, *, most: int) -> bool:
        """Count one more request in the month (`2026-11`), unless there were `most` already; whether it was counted."""
        taken = self.execute(
            "INSERT INTO quotas (service, month, used) SELECT ?, ?, 1 WHERE ? > 0 ON CONFLICT (service) DO UPDATE SET "
            "used = CASE WHEN month = excluded.month THEN used + 1 ELSE 1 END, month = excluded.month "
            "WHERE month <> excluded.month OR used < ?",
            (service, month, most, most),
        )
        return taken.rowcount > 0
