#!/bin/sh
# pypdf 7.1.1, pdfplumber 0.11.10, pypdfium2 5.15.2, markitdown 0.1.9; the form is made by reportlab 5.1.0 and filled by
# pypdf. Seen on 2026-11-29.
#
# Guess, written down before: what is filled into a form stands in the text of its page, at least with the reader that
# draws it there.
# Seen: all four give the labels of the form and nothing that was filled in, although pdfium draws the answers in their
# places. What is filled in is drawn by annotations, which none of them reads; pypdf has it in a list of its own.
# Whom it hurts: programs that let a model read applications, tax forms and questionnaires: it says that the form is
# empty, or asks for what stands there.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check \
    pypdf==7.1.1 pdfplumber==0.11.10 pypdfium2==5.15.2 "markitdown[pdf]==0.1.9" reportlab==5.1.0
cat > form.py <<'PY'
import io
import sys
from importlib.metadata import version

import pdfplumber
import pypdf
import pypdfium2
from markitdown import MarkItDown
from reportlab.pdfgen import canvas

made = io.BytesIO()
page = canvas.Canvas(made)
page.drawString(72, 720, "Rent per month:")
page.acroForm.textfield(name="rent", x=200, y=710, width=200, height=20, value="")
page.save()
form = pypdf.PdfWriter(clone_from=made)
empty = io.BytesIO()
form.write(empty)
form.update_page_form_field_values(form.pages[0], {"rent": "850 euros"}, auto_regenerate=False)
form.write("filled.pdf")


def ink(file):
    """How many dark points the field has when it is drawn, inside its frame."""
    document = pypdfium2.PdfDocument(file)
    document.init_forms()
    drawn = document[0].render(scale=1).to_pil().convert("L")
    top = drawn.height - 727
    return sum(point < 128 for point in drawn.crop((205, top, 395, top + 14)).tobytes())


reader = pypdf.PdfReader("filled.pdf")
texts = {
    "pypdf": reader.pages[0].extract_text(),
    "pdfplumber": pdfplumber.open("filled.pdf").pages[0].extract_text(),
    "pypdfium2": pypdfium2.PdfDocument("filled.pdf")[0].get_textpage().get_text_range(),
    "markitdown": MarkItDown().convert("filled.pdf").text_content,
}
for name, text in texts.items():
    print(name, version(name), repr(text.strip()))
drawn = ink("filled.pdf") - ink(empty.getvalue())
print("dark points that the answer adds:", drawn, "; pypdf's list of fields:", reader.get_form_text_fields())
same = (
    all(text.strip() == "Rent per month:" for text in texts.values())
    and drawn > 50
    and reader.get_form_text_fields() == {"rent": "850 euros"}
)
sys.exit(0 if same else "this is no longer what was seen")
PY
venv/bin/python form.py
