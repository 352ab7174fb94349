"""The models: one module for each vendor, all behind `bot.providers.base`."""
