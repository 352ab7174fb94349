#!/bin/sh
# A sum or a time without quotation marks is cut to its first number, while other bare words are kept whole.
#
# Package: json-repair 0.64.6 (PyPI), 2026-11-28, Python 3.11.
# Guess, written down before the run: a bare value becomes a text, as `tomorrow at 9` does, also where it begins with
# digits; where it does not, strict=True raises an error.
# Seen: 17*23 becomes 17, 12:30 becomes 12, `9 pm` 9 and `20 EUR` 20; 2026-12-24 and 3/4 stay whole as texts. With
# strict=True it is the same: no error, and nothing in the result tells that a part was left out.
# Whom it hurts: programs that repair the arguments of tool calls, which small models write without quotation marks. The
# calculator answers with 17, a reminder comes at another hour, an amount loses its currency.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet json-repair==0.64.6
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import json_repair

print("json-repair", version("json-repair"))
seen = {
    "17*23": 17,
    "12:30": 12,
    "9 pm": 9,
    "20 EUR": 20,
    "tomorrow at 9": "tomorrow at 9",
    "2026-12-24": "2026-12-24",
    "3/4": "3/4",
}
for written, expected in seen.items():
    for strict in (False, True):
        found = json_repair.loads(f'{{"value": {written}}}', strict=strict)
        print(f'{{"value": {written}}} with strict={strict}: {found}')
        assert found == {"value": expected}, f"this has changed: {written} was {expected!r}"
PYTHON
