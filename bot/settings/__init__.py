"""Every setting of Aldis; nothing else reads the environment.

A setting is a variable `GROUP__NAME`, in the environment, in the `.env` file of the working directory, or in the
settings file beside the store. `groups` has them all; the tools' own sub-groups come from the catalogue of `tools`.
`load` reads them, and `docs/settings.md` is generated from their docstrings.
"""

from bot.settings.groups import BudgetSettings, LimitsSettings, ProviderName, Settings
from bot.settings.load import SETTINGS_FILE_NAME, load_settings

__all__ = ["SETTINGS_FILE_NAME", "BudgetSettings", "LimitsSettings", "ProviderName", "Settings", "load_settings"]
