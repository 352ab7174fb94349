#!/bin/sh
# babel 2.19.0 beside 2.18.0. Seen on 2026-11-29.
#
# Guess, written down before: the newer CLDR in 2.19 brings names of currencies; a Swiss amount is still grouped, be it
# by the straight apostrophe that CLDR 48 has now or by the curly one of before.
# Seen: 1234567.5 in de_CH, it_CH, de_LI and fr_CH has no mark at all, as a number and as an amount; only a percentage
# keeps its apostrophe. CLDR's new mark is the sign that quotes in a number's pattern, which Babel takes out of what it
# has written. Read strictly, 1’234.50, which 2.18 wrote, is an error. Germany, beside them, is as it was.
# Whom it hurts: invoices, statements and bots for Switzerland and Liechtenstein: an amount of seven digits without a
# mark is easily read as one of six, and stored texts cannot be read back.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > swiss.py <<'PY'
import sys

import babel
from babel.numbers import NumberFormatError, format_currency, format_decimal, format_percent, parse_decimal


def reads(text):
    try:
        return str(parse_decimal(text, locale="de_CH", strict=True))
    except NumberFormatError:
        return "refused"


print("babel", babel.__version__)
found = {
    place: (
        format_decimal(1234567.5, locale=place),
        format_currency(1234567.5, "CHF", locale=place).replace("\u00a0", " "),
        format_percent(1234.5, locale=place).replace("\u00a0", " "),
    )
    for place in ("de_CH", "it_CH", "de_LI", "fr_CH", "de_DE")
}
for place, texts in found.items():
    print(place, *texts, sep=" | ")
curly = reads("1\u2019234.50")
print("1\u2019234.50 in de_CH:", curly)
germany = ("1.234.567,5", "1.234.567,50 CHF", "123.450 %")
if babel.__version__ == "2.18.0":
    same = found["de_CH"] == ("1\u2019234\u2019567.5", "CHF 1\u2019234\u2019567.50", "123\u2019450%") and curly == "1234.50"
else:
    swiss = ("1234567.5", "CHF 1234567.50", "123'450%")
    same = (
        all(found[place] == swiss for place in ("de_CH", "it_CH", "de_LI"))
        and found["fr_CH"] == ("1234567,5", "1234567,50 CHF", "123'450%")
        and curly == "refused"
    )
sys.exit(0 if same and found["de_DE"] == germany else "this is no longer what was seen")
PY
for version in 2.18.0 2.19.0; do
    python3 -m venv "venv-$version"
    "venv-$version/bin/python" -m pip install --quiet --disable-pip-version-check "babel==$version"
    "venv-$version/bin/python" swiss.py
done
