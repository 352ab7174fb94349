#!/bin/sh
# Seven zones stopped changing their clocks in autumn 2026; upgrading PyPI's tzdata does not help where the machine has
# zone files of its own.
#
# Packages: tzdata 2026.6 (IANA 2026f) and 2025.2 (IANA 2025b, what Debian 12 still has) from PyPI, 2026-11-28,
# Python 3.11.
# Guess, written down before the run: at most one zone of a large city differs between both releases this winter, and
# where both are there, the newer one counts.
# Seen: Vancouver, Edmonton and Winnipeg keep summer time, Havana as well until next November, Casablanca keeps winter
# time: each is an hour off with 2025b since November 2026 (Vancouver -8 instead of -7). zoneinfo reads the machine's
# older files without a word although the newer package is installed; only without any files is the package read.
# Whom it hurts: programs that pin tzdata to be safe: on a usual Debian, and in images that are built on it, a reminder
# in Vancouver or Casablanca comes an hour early or late.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tzdata==2026.6
"$folder/venv/bin/pip" install --quiet --target "$folder/old" tzdata==2025.2
cat >"$folder/offsets.py" <<'PYTHON'
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

names = ("Vancouver", "Edmonton", "Winnipeg", "Havana", "Toronto")
zones = [*(f"America/{name}" for name in names), "Africa/Casablanca"]
print(*(f"{datetime(2026, 11, 28, 12, tzinfo=ZoneInfo(zone)).utcoffset() / timedelta(hours=1):+g}" for zone in zones))
PYTHON
"$folder/venv/bin/python" -c 'import tzdata; print("tzdata", tzdata.__version__, "IANA", tzdata.IANA_VERSION)'
alone=$(PYTHONTZPATH='' "$folder/venv/bin/python" "$folder/offsets.py")
beside=$(PYTHONTZPATH="$folder/old/tzdata/zoneinfo" "$folder/venv/bin/python" "$folder/offsets.py")
echo "Vancouver, Edmonton, Winnipeg, Havana, Toronto, Casablanca"
echo "the package alone:             $alone"
echo "beside files of 2025b:         $beside"
test "$alone" = "-7 -6 -5 -4 -5 +0" || { echo "this has changed: the package alone" >&2; exit 1; }
test "$beside" = "-8 -7 -6 -5 -5 +1" || { echo "this has changed: beside older files" >&2; exit 1; }
