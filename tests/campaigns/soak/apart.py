"""`python -m tests.campaigns.soak.apart run`: Aldis in a process group of its own.

Ctrl-C in a terminal interrupts the whole group, and it is the soak that it is meant for: Aldis is asked to stop by that
afterwards, when what was still under way has come to its end.
"""

import os
import sys

from bot.cli.main import main

if __name__ == "__main__":
    os.setpgid(0, 0)
    main(sys.argv[1:])
