#!/bin/sh
# A raised figure is set on the line: 10 to the eighth is read as 108.
#
# Packages: markitdown 0.1.9, markdownify 1.2.3, html2text 2025.4.15, inscriptis 2.7.6 and trafilatura 2.3.1 (PyPI),
# 2026-11-29, Python 3.11.
# Guess, written down before the run: what a page raises with <sup> comes as 10^8, 10⁸ or 10<sup>8</sup>, since all of
# them keep what is struck out or bold.
# Seen: "1.5 × 10<sup>8</sup> km" comes as "1.5 × 108 km" from all five; trafilatura alone keeps <sup> if it is asked
# for formatting, but not as plain text. A footnote's number behind a figure joins it as well: 99 with note 2 is 992.
# Whom it hurts: assistants that look things up: a distance, a mass or a price is wrong by orders of magnitude, and the
# model can only guess what was meant.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet markitdown==0.1.9 markdownify==1.2.3 html2text==2025.4.15 inscriptis==2.7.6 \
    trafilatura==2.3.1 lxml_html_clean==0.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import io
from importlib.metadata import version

import html2text
import inscriptis
import markdownify
import trafilatura
from markitdown import MarkItDown

PAGE = """<html><head><title>The sun</title></head><body><main><article><h1>The sun</h1>
<p>The sun is about 1.5 &#215; 10<sup>8</sup> km away, as readers of an atlas may remember.</p>
<p>A telescope to look at it costs 99<sup>2</sup> euros, which is the price without the filter that it needs.</p>
</article></main></body></html>"""

READERS = {
    "markitdown": lambda: MarkItDown().convert_stream(io.BytesIO(PAGE.encode()), file_extension=".html").markdown,
    "markdownify": lambda: markdownify.markdownify(PAGE),
    "html2text": lambda: html2text.html2text(PAGE),
    "inscriptis": lambda: inscriptis.get_text(PAGE),
    "trafilatura": lambda: trafilatura.extract(PAGE),
}
for name, read in READERS.items():
    words = " ".join(read().split())
    distance = words[words.index("1.5") :].split(" km")[0]
    price = words[words.index("costs ") + 6 :].split(" euros")[0]
    print(f"{name} {version(name)}: {distance} km, {price} euros")
    assert (distance, price) == ("1.5 × 108", "992"), "this has changed"
kept = trafilatura.extract(PAGE, output_format="markdown", include_formatting=True)
print("trafilatura with formatting:", kept.splitlines()[2])
assert "10<sup>8</sup> km" in kept, "this has changed"
PYTHON
