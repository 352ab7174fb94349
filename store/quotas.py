"""Quotas: how much each service was used in the current day or month. Contains nothing about people."""

from store.repository import Repository


class Quotas(Repository):
    """The repository of quotas. All methods run inside a transaction."""

    def take(self, service: str, period: str, *, amount: int, limit: int) -> bool:
        """Counts `amount` more uses (at least 1) in the period, `2026-11` or `2026-11-21`; returns whether it did.

        It does not if the sum would exceed `limit`.
        """
        taken = self.execute(
            "INSERT INTO quotas (service, period, used) SELECT ?, ?, ? WHERE ? <= ? "
            "ON CONFLICT (service) DO UPDATE SET "
            "used = CASE WHEN period = excluded.period THEN used + excluded.used ELSE excluded.used END, "
            "period = excluded.period WHERE period <> excluded.period OR used + excluded.used <= ?",
            (service, period, amount, amount, limit, limit),
        )
        return taken.rowcount > 0

    def give_back(self, service: str, period: str, *, amount: int) -> None:
        """Counts `amount` fewer uses in the period; does nothing once another period has begun."""
        self.execute(
            "UPDATE quotas SET used = max(0, used - ?) WHERE service = ? AND period = ?", (amount, service, period)
        )
