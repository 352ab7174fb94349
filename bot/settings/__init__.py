"""Every setting of Aldis; nothing else reads the environment.

A setting is a variable `GROUP__NAME`, in the environment, in the `.env` file of the working directory, or in the
settings file beside the store. `groups` has them all; the tools' own sub-groups come from the catalogue of `tools`.
`load` reads them, and `docs/settings.md` is generated from their docstrings (`variables.table`).
"""

from bot.settings.groups import (
    AudioSettings,
    BudgetSettings,
    HistorySettings,
    LimitsSettings,
    LocaleSettings,
    MediaSettings,
    ProviderName,
    Settings,
)
from bot.settings.load import SETTINGS_FILE_NAME, load_settings
from bot.settings.variables import ALSO

__all__ = [
    "ALSO",
    "SETTINGS_FILE_NAME",
    "AudioSettings",
    "BudgetSettings",
    "HistorySettings",
    "LimitsSettings",
    "LocaleSettings",
    "MediaSettings",
    "ProviderName",
    "Settings",
    "load_settings",
]
