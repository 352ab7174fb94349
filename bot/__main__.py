"""`python -m bot`, and the command `aldis` of the package."""

import gc
import sys

# Importing makes a million objects and hardly any garbage: looking for some costs a tenth of the start. `bot.app`
# switches it on again.
gc.disable()

try:
    from bot.cli.main import main
    from bot.media.confinement import refuse_dumps
except KeyboardInterrupt:
    sys.exit(130)  # Ctrl-C before `main` listens for it: what a shell expects


def start() -> None:
    """Carry out the verb of the command line and leave with its exit status."""
    refuse_dumps()  # before any key is read
    main()


if __name__ == "__main__":
    start()
