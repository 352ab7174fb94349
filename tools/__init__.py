"""What Aldis can do for a model. The front door: `bot` imports from here, only `bot.app` reaches inside.

Tools know neither the bot nor the store; no tool imports another.

What the door gives is listed in `__init__.pyi`, each name with its module, which is imported when the name is first
asked for: reading the settings of tools loads no HTTP client.
"""

import lazy_loader  # pyright: ignore[reportMissingTypeStubs]

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType]
