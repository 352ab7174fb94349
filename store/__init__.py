"""Everything Aldis keeps. `bot` imports from here; only `bot.app` reaches inside.

`__init__.pyi` lists the public names. The module behind a name is imported when the name is first used, so code that
only needs an error or a row type loads neither SQLite nor cryptography.
"""

import lazy_loader  # pyright: ignore[reportMissingTypeStubs]

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType]
