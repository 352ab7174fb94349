"""The quotas: what services gave in the running day or month. Holds nothing of people and stays when they go."""

from store.repository import Repository


class Quotas(Repository):
    """The repository of the quotas. All methods run inside a transaction."""

    def take(self, service: str, period: str, *, amount: int, most: int) -> bool:
        """Count so many more (at least 1) in the period, `2026-11` or `2026-11-21`; whether they were counted.

        They are not where they and those that were counted before are more than `most`, nor where somebody else has
        written what was counted (`store.guard`).
        """
        if self.rows("SELECT 1 FROM forged_quotas WHERE service = ?", (service,)):
            return False
        taken = self.execute(
            "INSERT INTO quotas (service, period, used) SELECT ?, ?, ? WHERE ? <= ? "
            "ON CONFLICT (service) DO UPDATE SET "
            "used = CASE WHEN period = excluded.period THEN used + excluded.used ELSE excluded.used END, "
            "period = excluded.period WHERE period <> excluded.period OR used + excluded.used <= ?",
            (service, period, amount, amount, most, most),
        )
        return taken.rowcount > 0

    def give_back(self, service: str, period: str, *, amount: int) -> None:
        """Counts so many less in the period; does nothing where another one runs by now."""
        self.execute(
            "UPDATE quotas SET used = max(0, used - ?) WHERE service = ? AND period = ?", (amount, service, period)
        )
