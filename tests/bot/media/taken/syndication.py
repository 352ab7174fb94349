"""A cell that a feed has taken over: it answers in the right form what no cell answers. Run by `bot.media.warden`.

Which of the answers it gives is the path of the feed.
"""

import json
import sys
from urllib.parse import urlsplit

ENTRIES = [{"key": "", "url": 7, "title": "x" * 9_000_000, "summary": None, "published": "now"}]
ANSWERS = {
    "/feed": json.dumps({"title": "Taken", "ttl_minutes": -1}) + "\n" + json.dumps(ENTRIES),
    "/number": "7\n",
    "/deep": "[" * 1_000_000 + "\n",
    "/refused": json.dumps({"refused": {"words": "x" * 1000}}) + "\n",
}

if __name__ == "__main__":
    sys.stdin.buffer.read()
    sys.stdout.write(ANSWERS[urlsplit(sys.argv[1]).path])
