#!/bin/sh
# The hour of an article is right with American zones and wrong by up to ten hours with all others.
#
# Package: feedparser 6.0.14 (PyPI), 2026-11-28, Python 3.11.
# Guess, written down before the run: a zone is known and counted, or the date is None, as it is for "27.11.2026 09:00".
# Seen: EST and PST are counted; CET, BST, JST and AEST are taken for UTC without a word (`bozo` stays false), so nine
# o'clock in Tokyo is nine o'clock UTC instead of midnight.
# Whom it hurts: programs that sort articles or say "an hour ago": those of a paper in Berlin or Tokyo come from the future.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet feedparser==6.0.14
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import feedparser

print("feedparser", version("feedparser"))
seen = {"EST": 14, "PST": 17, "+0100": 8, "CET": 9, "BST": 9, "JST": 9, "AEST": 9}
for zone, expected in seen.items():
    item = f"<item><title>News</title><pubDate>Fri, 27 Nov 2026 09:00:00 {zone}</pubDate></item>"
    feed = feedparser.parse(f'<rss version="2.0"><channel><title>Paper</title>{item}</channel></rss>')
    hour = feed.entries[0].published_parsed.tm_hour
    print(f"09:00 {zone} is {hour:02}:00 UTC; bozo: {bool(feed.bozo)}")
    assert (hour, bool(feed.bozo)) == (expected, False), f"this has changed: 09:00 {zone} was {expected}:00 UTC"
PYTHON
