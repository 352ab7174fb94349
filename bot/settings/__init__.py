"""Every setting of Aldis; nothing else reads the environment.

A setting is a variable `GROUP__NAME`, in the environment, in the `.env` file of the working directory, or in the
settings file beside the store. `groups/` has a module for each group; the tools' own sub-groups come from the catalogue
of `tools`, and from installed tools of other distributions. `model` puts the groups together, `load` reads them, and
`docs/settings.md` is generated from their docstrings (`listing`).
"""

from bot.settings.groups.audio import AudioSettings
from bot.settings.groups.budget import BudgetSettings
from bot.settings.groups.history import HistorySettings
from bot.settings.groups.limits import LimitsSettings
from bot.settings.groups.llm import ProviderName
from bot.settings.groups.media import MediaSettings
from bot.settings.groups.worker import WorkerSettings
from bot.settings.load import (
    ENV_FILE,
    SETTINGS_FILE_NAME,
    known_variables,
    load_settings,
    read_settings_file,
    settings_file_path,
    store_path,
    unread_names,
    unread_zone,
    values_from,
)
from bot.settings.model import ALSO, Settings

__all__ = [
    "ALSO",
    "ENV_FILE",
    "SETTINGS_FILE_NAME",
    "AudioSettings",
    "BudgetSettings",
    "HistorySettings",
    "LimitsSettings",
    "MediaSettings",
    "ProviderName",
    "Settings",
    "WorkerSettings",
    "known_variables",
    "load_settings",
    "read_settings_file",
    "settings_file_path",
    "store_path",
    "unread_names",
    "unread_zone",
    "values_from",
]
