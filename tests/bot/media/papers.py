"""A cell whose PDFs all hold the same: words, eight thousand characters that nobody sees, and more words."""

import json
import sys

TEXT = "Page 1:\nseen" + "\u200b" * 8_000 + " and words" * 30

if __name__ == "__main__":
    most = int(sys.argv[2])
    sys.stdin.buffer.read()
    sys.stdout.buffer.write(json.dumps({"pages": 1, "pages_read": 1}).encode() + b"\n" + TEXT[:most].encode())
