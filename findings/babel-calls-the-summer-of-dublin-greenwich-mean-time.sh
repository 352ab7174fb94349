#!/bin/sh
# babel 2.18.0 with tzdata 2026.6. Seen on 2026-11-28.
#
# Guess, written down before: in July Dublin's time is named Irish Standard Time, in January Greenwich Mean Time.
# Seen: the names are the wrong way round, in English as in German. Ireland's law, and so the zone's file, has standard
# time in summer and goes back an hour in winter (a negative dst()); Babel asks only whether dst() is zero. The offset
# beside the name is right, so one line says "Greenwich Mean Time" and GMT+01:00. The short form is wrong as well: GMT
# in summer.
# Whom it hurts: programs that name the zone in what they write to people: a meeting in Dublin is read as an hour off.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check babel==2.18.0 tzdata==2026.6
cat > names.py <<'PY'
import sys
from datetime import datetime
from importlib.metadata import version
from zoneinfo import ZoneInfo, reset_tzpath

from babel.dates import format_datetime

reset_tzpath(())  # the package's files, not the machine's
DUBLIN = ZoneInfo("Europe/Dublin")


def named(month):
    at = datetime(2027, month, 15, 12, tzinfo=DUBLIN)
    texts = (format_datetime(at, form, tzinfo=DUBLIN, locale="en") for form in ("zzzz", "z", "OOOO"))
    return (at.tzname(), *texts)


print({name: version(name) for name in ("babel", "tzdata")})
print("January:", *named(1), sep=" | ")
print("July:   ", *named(7), sep=" | ")
same = (
    named(1)[:2] == ("GMT", "Irish Standard Time")
    and named(7) == ("IST", "Greenwich Mean Time", "GMT", "GMT+01:00")
)
sys.exit(0 if same else "this is no longer what was seen")
PY
venv/bin/python names.py
