"""The settings `STORE__...`."""

from pathlib import Path

from bot.settings.groups.base import SettingsGroup
from bot.settings.values import DatabasePath, MasterKey, master_key_of
from store import master_key_path


class StoreSettings(SettingsGroup):
    """What is kept, and the key that seals it."""

    path: DatabasePath = Path("data/aldis.db")
    """The database; its folder is created if missing. The keys lie beside it."""
    key: MasterKey | None = None
    """The master key: 32 bytes in hex or base64; unset means the one created beside the database at the first start."""
    old_key: MasterKey | None = None
    """The previous master key, if STORE__KEY is a new one: the next start replaces the old by the new."""

    @property
    def key_path(self) -> Path:
        """The file beside the database that holds the master key unless one is set."""
        return master_key_path(self.path)

    @property
    def master_key(self) -> bytes | None:
        """The 32 bytes of the key; None means the one in the file beside the database."""
        return master_key_of(self.key.get_secret_value()) if self.key else None

    @property
    def old_master_key(self) -> bytes | None:
        """The 32 bytes of the previous key; None if the key does not change."""
        return master_key_of(self.old_key.get_secret_value()) if self.old_key else None
