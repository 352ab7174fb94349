#!/bin/sh
# An hour without minutes is dropped without a word: "tomorrow at 9" is tomorrow at the present minute.
#
# Package: dateparser 1.5.0 (PyPI), 2026-11-27, Python 3.11.
# Guess, written down before the run: "tomorrow at 9" and "morgen um 9 Uhr" are tomorrow at 09:00; if the hour were not
# understood, nothing would be returned, as for "not tomorrow".
# Seen: at 19:30, "tomorrow at 9", "morgen um 9 Uhr" and "mañana a las 9" are 19:30 of the next day, while "demain à 9h"
# is 09:00 and "tomorrow at 9:00" is, too. Nothing in the result tells that a part of the words was not read.
# Whom it hurts: programs that plan reminders or appointments by it: they come at a time that no one has named.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet dateparser==1.5.0
"$folder/venv/bin/python" - <<'PYTHON'
from datetime import datetime
from importlib.metadata import version

import dateparser

print("dateparser", version("dateparser"))
now = datetime(2026, 11, 27, 19, 30)
seen = {
    ("en", "tomorrow at 9"): "2026-11-28 19:30",
    ("de", "morgen um 9 Uhr"): "2026-11-28 19:30",
    ("es", "mañana a las 9"): "2026-11-28 19:30",
    ("en", "tomorrow at 9:00"): "2026-11-28 09:00",
    ("fr", "demain à 9h"): "2026-11-28 09:00",
    ("en", "not tomorrow"): "None",
}
for (language, words), expected in seen.items():
    found = dateparser.parse(words, languages=[language], settings={"RELATIVE_BASE": now})
    shown = "None" if found is None else f"{found:%Y-%m-%d %H:%M}"
    print(f"{language} {words!r}: {shown}")
    assert shown == expected, f"this has changed: {words!r} was {expected}"
PYTHON
