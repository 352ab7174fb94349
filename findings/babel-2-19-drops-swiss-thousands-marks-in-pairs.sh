#!/bin/sh
# babel 2.19.0 beside 2.18.0. Seen on 2026-11-29.
#
# Guess, written down before: the newer CLDR in 2.19 brings names of currencies; a Swiss amount is still grouped, be it
# by the straight apostrophe that CLDR 48 has now or by the curly one of before.
# Seen: 12'345.5 has its mark, 1234567.5 has none and 1234567'890.5 one of three, in de_CH, it_CH, de_LI and fr_CH,
# as numbers and as amounts. CLDR's new mark is the sign that quotes in a number's pattern, and Babel takes each pair of
# quotes out of what it has written. Read strictly, 1’234.50, which 2.18 wrote, is an error. Germany is as it was.
# Whom it hurts: invoices, statements and bots for Switzerland and Liechtenstein: a mark in the wrong place, or none in
# seven digits, is misread, and stored texts cannot be read back.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > swiss.py <<'PY'
import sys

import babel
from babel.numbers import NumberFormatError, format_currency, format_decimal, parse_decimal


def reads(text):
    try:
        return str(parse_decimal(text, locale="de_CH", strict=True))
    except NumberFormatError:
        return "refused"


print("babel", babel.__version__)
found = {
    place: (
        *(format_decimal(number, locale=place) for number in (12345.5, 1234567.5, 1234567890.5)),
        format_currency(1234567.5, "CHF", locale=place).replace("\u00a0", " "),
    )
    for place in ("de_CH", "it_CH", "de_LI", "fr_CH", "de_DE")
}
for place, texts in found.items():
    print(place, *texts, sep=" | ")
curly = reads("1\u2019234.50")
print("1\u2019234.50 in de_CH:", curly)
germany = ("12.345,5", "1.234.567,5", "1.234.567.890,5", "1.234.567,50 CHF")
if babel.__version__ == "2.18.0":
    swiss = tuple(text.replace("'", "\u2019") for text in ("12'345.5", "1'234'567.5", "1'234'567'890.5", "CHF 1'234'567.50"))
    same = found["de_CH"] == swiss and curly == "1234.50"
else:
    swiss = ("12'345.5", "1234567.5", "1234567'890.5", "CHF 1234567.50")
    same = (
        all(found[place] == swiss for place in ("de_CH", "it_CH", "de_LI"))
        and found["fr_CH"] == ("12'345,5", "1234567,5", "1234567'890,5", "1234567,50 CHF")
        and curly == "refused"
    )
sys.exit(0 if same and found["de_DE"] == germany else "this is no longer what was seen")
PY
for version in 2.18.0 2.19.0; do
    python3 -m venv "venv-$version"
    "venv-$version/bin/python" -m pip install --quiet --disable-pip-version-check "babel==$version"
    "venv-$version/bin/python" swiss.py
done
