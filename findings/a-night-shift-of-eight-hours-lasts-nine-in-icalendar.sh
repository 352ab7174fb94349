#!/bin/sh
# icalendar 7.3.2, recurring-ical-events 3.8.2, tzdata 2026.6. Seen on 2026-11-28.
#
# Guess, written down before: DURATION:PT8H is eight hours that pass, DURATION:P1D the same hour of the next day (RFC
# 5545, 3.3.6 keeps the two apart for this reason); a shift from 22:00 in the night in which clocks go back ends at 5:00.
# Seen: it ends at 6:00 in both libraries, nine hours later, and PT24H is the same as P1D, 25 hours. In spring the shift
# of eight hours lasts seven. Hours are added to the clock on the wall, as Python does within a zone.
# Whom it hurts: calendars, reminders and time sheets of who works at night: the end is an hour off twice a year.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check \
    icalendar==7.3.2 recurring-ical-events==3.8.2 tzdata==2026.6
cat > shifts.py <<'PY'
import sys
from datetime import UTC
from importlib.metadata import version

import icalendar
import recurring_ical_events

EVENT = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//shifts//EN
BEGIN:VEVENT
UID:shift
DTSTAMP:20260101T000000Z
DTSTART;TZID=Europe/Berlin:{start}
DURATION:{duration}
END:VEVENT
END:VCALENDAR
"""


def hours(start, duration):
    calendar = icalendar.Calendar.from_ical(EVENT.format(start=start, duration=duration).replace("\n", "\r\n"))
    [event] = calendar.events
    [listed] = recurring_ical_events.of(calendar).between((2026, 1, 1), (2027, 1, 1))
    return tuple((each.end.astimezone(UTC) - each.start.astimezone(UTC)).total_seconds() / 3600 for each in (event, listed))


print({name: version(name) for name in ("icalendar", "recurring-ical-events", "tzdata")})
SHIFTS = (("20261024T220000", "PT8H"), ("20261024T120000", "PT24H"), ("20261024T120000", "P1D"), ("20260328T220000", "PT8H"))
found = {shift: hours(*shift) for shift in SHIFTS}
for shift, lasted in found.items():
    print(*shift, "lasts, in hours:", *lasted)
same = list(found.values()) == [(9, 9), (25, 25), (25, 25), (7, 7)]
sys.exit(0 if same else "this is no longer what was seen")
PY
venv/bin/python shifts.py
