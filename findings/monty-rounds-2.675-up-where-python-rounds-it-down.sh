#!/bin/sh
# pydantic-monty 1.4.0. Seen on 2026-11-28.
#
# Guess, written down before: an interpreter of a part of Python either gives Python's value or says that it lacks
# something; round(2.675, 2) is 2.67 there as here, since the double next to 2.675 lies below it.
# Seen: round() gives 2.68, 1.12 and 10.24 of 2.675, 1.115 and 10.235, and 0.2 of 0.15, where Python gives 2.67, 1.11,
# 10.23 and 0.1; f"{2.675:.2f}" in the same program gives 2.67. So one sum is shown as two, and both look right.
# Whom it hurts: assistants that let a model count money in it: totals differ by a cent from the same code elsewhere.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check pydantic-monty==1.4.0
cat > rounding.py <<'PY'
import sys
from importlib.metadata import version

from pydantic_monty import Monty

SUMS = (1.005, 2.675, 1.115, 10.235, 8.345)
ROUNDED = f"[round(each, 2) for each in {SUMS}] + [round(0.15, 1)]"
WRITTEN = f"[f'{{each:.2f}}' for each in {SUMS}] + [f'{{0.15:.1f}}']"

print("pydantic-monty", version("pydantic-monty"))
with Monty() as pool, pool.checkout() as session:
    rounded, written = session.feed_run(ROUNDED), session.feed_run(WRITTEN)
print("round() in Python:", eval(ROUNDED))
print("round() in Monty: ", rounded)
print("format in both:   ", written)
same = written == eval(WRITTEN) and rounded == [1.0, 2.68, 1.12, 10.24, 8.35, 0.2] != eval(ROUNDED)
sys.exit(0 if same else "this is no longer what was seen")
PY
venv/bin/python rounding.py
