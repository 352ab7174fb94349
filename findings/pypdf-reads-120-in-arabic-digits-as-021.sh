#!/bin/sh
# pypdf 7.1.0, of a file made by fpdf2 2.8.9 with uharfbuzz 0.57.0, beside pdfminer.six 20260107 and pypdfium2 5.15.2.
# Seen on 2026-11-28; pypdf reads what Chromium prints in the same way.
#
# Guess, written down before: the words of an Arabic line may come in an odd order, but a number keeps its digits.
# Seen: 120, 28/11/2026 and 0791234567 in Arabic or Persian digits come out backwards (021, 6202/11/82, 7654321970),
# each a number like any other, while 120 in European digits on the same line is right. Numbers are written from left to
# right in these languages as well; pypdf counts their digits to the words beside them, and turns both round. The two
# other readers keep them. With fonts of one byte a sign, which few programs write, pypdf keeps them, too.
# Whom it hurts: who has bills, contracts or telephone lists in Arabic, Persian or Urdu read by a program: prices and
# dates are wrong without a sign of it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check \
    pypdf==7.1.0 fpdf2==2.8.9 uharfbuzz==0.57.0 pdfminer.six==20260107 pypdfium2==5.15.2
venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --target fonts matplotlib==3.11.2
cat > digits.py <<'PY'
import io
import re
import sys
from importlib.metadata import version
from pathlib import Path

import fpdf
import pypdf
import pypdfium2
from pdfminer.high_level import extract_text

[FONT] = Path("fonts").rglob("DejaVuSans.ttf")
LINES = ("السعر ١٢٠ دينار", "التاريخ ٢٨/١١/٢٠٢٦", "تلفن ۰۷۹۱۲۳۴۵۶۷", "السعر 120 دينار")
NUMBER = re.compile(r"[\d/]+")

file = fpdf.FPDF()
file.add_page()
file.add_font("sans", fname=FONT)
file.set_font("sans", size=14)
file.set_text_shaping(True)
for line in LINES:
    file.cell(text=line, new_x="LMARGIN", new_y="NEXT")
data = bytes(file.output())

written = NUMBER.findall("\n".join(LINES))
read = {
    "pypdf": NUMBER.findall(pypdf.PdfReader(io.BytesIO(data)).pages[0].extract_text()),
    "pdfminer.six": NUMBER.findall(extract_text(io.BytesIO(data))),
    "pypdfium2": NUMBER.findall(pypdfium2.PdfDocument(data)[0].get_textpage().get_text_range()),
}
print({name: version(name) for name in (*read, "fpdf2")})
print("written:", *written)
for name, numbers in read.items():
    print(f"{name}:", *numbers)
same = (
    read["pdfminer.six"] == read["pypdfium2"] == written
    and read["pypdf"] == [number if number == "120" else number[::-1] for number in written]
)
sys.exit(0 if same else "this is no longer what was seen")
PY
venv/bin/python digits.py
