"""The tools that models can call. `bot` imports from here; only `bot.app` reaches inside.

Tools know neither the bot nor the store, and no tool imports another.

`__init__.pyi` lists the public names. The module behind a name is imported when the name is first used, so that reading
the settings of tools loads no HTTP client.
"""

import lazy_loader  # pyright: ignore[reportMissingTypeStubs]

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType]
