# ruff: noqa: INP001, T201  (a script beside the others of its folder, which prints)
"""Brings the catalogues of the other languages up to date with the sentences in the code; `make translations` calls it.

A sentence that is new, or was reworded in English, stands there untranslated afterwards; one that is gone is taken out.
A language that is named on the command line is begun: `python .ci/translations.py it`.
"""

import sys
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_keywords
from babel.messages.pofile import read_po, write_po

BOT = Path(__file__).parents[1] / "bot"
LOCALES = BOT / "i18n" / "locales"
KEYWORDS = parse_keywords(["Sentence:1c,2", "Sentence:1c,2,3,3t", "Sentence:1c,2,3,4t"])
"""What makes a sentence: its name, its English, and where it counts something, its English for several."""
PLACEHOLDERS = ("EMAIL@ADDRESS", "YEAR-MO-DA", "LL@li.org", "POT-Creation-Date", "Generated-By", "Project-Id-Version")


def template() -> Catalog:
    """Every sentence in the code, by name: one that moves to another room stays where it is for translators."""
    found = extract_from_dir(BOT, method_map=[("**.py", "python")], keywords=KEYWORDS)
    catalogue = Catalog()
    for name, ids in sorted(((str(name), ids) for _, _, ids, _, name in found), key=lambda one: one[0]):
        catalogue.add(ids, context=name)
    return catalogue


def text_of(catalogue: Catalog) -> str:
    """The catalogue as it is kept: without the lines of the head that nobody has filled in."""
    written = BytesIO()
    write_po(written, catalogue, width=100, ignore_obsolete=True)
    lines = written.getvalue().decode().splitlines(keepends=True)
    return "".join(line for line in lines if not any(placeholder in line for placeholder in PLACEHOLDERS))


def main(begun: list[str]) -> None:
    """Write the catalogues."""
    sentences = template()
    for language in (*(path.name for path in sorted(LOCALES.iterdir())), *begun):
        path = LOCALES / language / "LC_MESSAGES" / "aldis.po"
        catalogue = Catalog(locale=language, project="Aldis", version="", fuzzy=False)
        if path.exists():
            with path.open("rb") as file:
                catalogue = read_po(file, locale=language)
        else:
            catalogue.header_comment = f"# What Aldis says, in {catalogue.locale.get_display_name('en')}."
        catalogue.update(sentences, no_fuzzy_matching=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(catalogue), encoding="utf-8")
        waiting = sum(1 for message in catalogue if message.id and not (message.string and all(message.string)))
        print(f"{path.relative_to(BOT.parent)}: {len(catalogue)} sentences, {waiting} to be translated")


if __name__ == "__main__":
    main(sys.argv[1:])
