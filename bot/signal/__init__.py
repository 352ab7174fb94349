"""The ways to people: Signal by two bridges, and the terminal, all behind `bot.signal.protocol`."""
