"""Models: one module or folder per vendor, all behind `bot.providers.base`."""
