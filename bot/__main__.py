"""`python -m bot`, and the command `aldis` of the package."""

import gc

# Importing makes a million objects and hardly any garbage: looking for some costs a tenth of the start. `bot.app`
# switches it on again.
gc.disable()

from bot.cli.main import main  # noqa: E402  (the import is what is to be quick)
from bot.media.confinement import refuse_dumps  # noqa: E402


def start() -> None:
    """Carry out the verb of the command line and leave with its exit status."""
    refuse_dumps()  # before any key is read
    main()


if __name__ == "__main__":
    start()
