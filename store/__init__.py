"""What Aldis keeps. The front door: `bot` imports from here, only `bot.app` reaches inside.

The store knows rows and time, not meaning: contents are bytes, sealed with a key for each conversation.

What the door gives is listed in `__init__.pyi`, each name with its module, which is imported when the name is first
asked for: whoever names an error or a row needs neither SQLite nor keys.
"""

import lazy_loader  # pyright: ignore[reportMissingTypeStubs]

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType]
