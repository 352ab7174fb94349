"""Models: one module or folder per vendor, all behind `bot.models.base`."""
