"""Aldis in a process that begins as that of an installed one does, and measures the blocks that it is asked for.

`python -m tests.campaigns.bench.subject VENDOR ADDRESS`; the store lies in the working directory.
"""

import asyncio
import gc
import sys

# As `bot/__main__.py`; `bot.app` switches it on again.
gc.disable()

DEVELOPMENT_ONLY = ("click", "pygments", "rich")
"""httpx 0.28.1 imports its own command line, 4 MB, where these are installed: here for import-linter, in no image."""

for name in DEVELOPMENT_ONLY:
    sys.modules[name] = None  # pyright: ignore[reportArgumentType]  (None: not to be had)

from tests.campaigns.bench import aldis, blocks  # noqa: E402  (see above)

if __name__ == "__main__":
    asyncio.run(blocks.serve(aldis.running(*sys.argv[1:3])))
