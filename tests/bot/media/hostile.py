"""A cell that a file has taken over: it says what it likes. Run by `bot.media.warden` as any other."""

import sys

if __name__ == "__main__":
    if sys.argv[1] == "endless":
        while True:
            sys.stdout.write("x" * 65_536)
    sys.stdout.write(sys.argv[1])
