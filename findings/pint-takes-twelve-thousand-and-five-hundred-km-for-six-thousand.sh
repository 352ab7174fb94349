#!/bin/sh
# pint 0.25.3, babel 2.18.0. Seen on 2026-11-29.
#
# Guess, written down before: pint reads the amounts that Babel writes for people, or raises an error; a blank between
# digits groups them, as the SI brochure (5.4.4) and French, Polish, Czech and the Nordic languages have it.
# Seen: each blank is a product. 12 500 km is 12 times 500, 6000 km; 10 050 g are 0 g, and so is 1 024 MB; the narrow
# blank of CLDR counts like any other. 3 1/2 inch are 1.5 inches, and 5 ft 3 in is an area of 15 foot-inches. The dot of
# German and Spanish is a decimal point: 12.500 km are 12.5 km. Nothing is refused.
# Whom it hurts: converters, importers of measured values and tools of models that hand on what a person typed. A wrong
# amount in the right unit passes every check of dimensions.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check pint==0.25.3 babel==2.18.0
cat > amounts.py <<'PY'
import sys
from importlib.metadata import version

import pint
from babel.numbers import format_decimal

units = pint.UnitRegistry()
print("pint", version("pint"), "babel", version("babel"))
typed = ["10 050 g", "1 024 MB", "3 1/2 inch", "5 ft 3 in"]
typed += [f"{format_decimal(12500, locale=place)} km" for place in ("fr", "pl", "cs", "nb", "de", "es", "en")]
read = [f"{units(text)}" for text in typed]
for text, amount in zip(typed, read):
    print(ascii(text), "is read as", amount)
seen = ["0 gram", "0 megabyte", "1.5 inch", "15 foot * inch"]
seen += [*["6000 kilometer"] * 4, *["12.5 kilometer"] * 2, "12500 kilometer"]
sys.exit(0 if read == seen else "this is no longer what was seen")
PY
venv/bin/python amounts.py
