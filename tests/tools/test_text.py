"""Text for models: cleaned, freed of tags, cut to size."""

import json
import math
import sys
import unicodedata
from decimal import Decimal
from typing import Any

from tools.text import clean_text, fit_json, plain, shorten

TAGS = {place: "".join(chr(0xE0000 + ord(letter)) for letter in place) for place in ("gbsct", "gbxxx")}
"""What flags are spelled in."""
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
GERMANY = "\U0001f1e9\U0001f1ea"


def strict(text: str) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


CLEANED = [
    ("a\x00b\x07c\x1b[31md\x7fe\x9bf", "abc[31mdef"),
    ("a\r\nb\rc\u2028d\u2029e", "a\nb\nc\nd\ne"),
    ("a\ud800b\udfffc", "abc"),
    ("a\u202eb\u2066c\u200fd\u061ce", "abcde"),
    ("a\u200bb\ufeffc\u2060d\u00ade", "abcde"),
    ("hi\U000e0041\U000e0042\U000e007f", "hi"),
    ("a\ufe01b\U000e0101c", "abc"),
    ("می\u200cخواهم", "می\u200cخواهم"),
    ("a\u200db\u200cc", "abc"),
    ("漢\u200d字и\u200cк\u03b1\u200d\u03b2", "漢字ик\u03b1\u03b2"),
    ("क\u094d\u200dष", "क\u094d\u200dष"),
    ("\U0001f9d1\U0001f3fd\u200d\u2695\ufe0f 1\ufe0f\u20e3", "\U0001f9d1\U0001f3fd\u200d\u2695\ufe0f 1\ufe0f\u20e3"),
    ("❤\ufe0f\ufe0e\ufe0f\ufe0e", "❤\ufe0f"),
    (f"\U0001f3f4{TAGS['gbsct']}\U000e007f!", f"\U0001f3f4{TAGS['gbsct']}\U000e007f!"),
    (f"\U0001f3f4{TAGS['gbxxx']}\U000e007f \U0001f3f4{TAGS['gbsct']}{TAGS['gbsct']}", "\U0001f3f4 \U0001f3f4"),
]


def test_cleaned_drops_what_is_invisible_and_keeps_what_scripts_need() -> None:
    """Control, zero-width, bidirectional and tag characters go; emoji and Persian keep their joiners."""
    for text, left in CLEANED:
        assert clean_text(text) == left
    clean = clean_text(" ".join(map(chr, range(sys.maxunicode + 1))))
    clean.encode()
    assert not [mark for mark in clean if unicodedata.category(mark) in {"Cc", "Cs"} and mark not in "\t\n"]
    assert clean_text(clean) == clean


def test_plain_and_shortened_give_whole_words() -> None:
    """Tags go without gluing blocks or splitting words; an ellipsis marks a cut behind a whole character."""
    for snippet, words in (
        ("How <strong>Py</strong>thon &amp; friends", "How Python & friends"),
        ("one<br>two<br/>three<p class='x'>four</p>five", "one two three four five"),
        ("a < b and c > d", "a < b and c > d"),
        ("  many \n\t spaces &nbsp; here ", "many spaces here"),
        ("<!-- gone -->kept<!DOCTYPE html>", "kept"),
        ("&#" + "9" * 5000 + ";big", "big"),
        ("&#xD800;&#x202e;&#0;x", "\ufffd\ufffdx"),
        ("10<sup>5</sup>, the 1<sup>st</sup>, H<sub>2</sub>O, <del>100</del> 80", "10^5, the 1st, H2O, ~~100~~ 80"),
    ):
        assert plain(snippet) == words
    for text, max_chars, short in (
        ("short", 5, "short"),
        ("several words here", 12, "several…"),
        ("onelongwordwithoutend", 8, "onelong…"),
        ("ab" + GERMANY * 3, 5, "ab" + GERMANY + "…"),
        ("ab" + GERMANY * 3, 4, "ab…"),
        (FAMILY + "x", 4, "…"),
    ):
        assert shorten(text, max_chars) == short


def test_fitted_cuts_the_longest_text_first_and_says_by_how_much() -> None:
    """Then the last of very many items of a list, or entries of an object; marks count what is missing."""
    data = {"b": ["ä", 1, 2.5, None, True], "a": {"x": "\U0001f600"}}
    assert fit_json(data, 200) == '{"b":["ä",1,2.5,null,true],"a":{"x":"\U0001f600"}}'
    text = fit_json({"short": "s" * 60, "long": "l" * 5000, "list": [1, 2, 3]}, 400)
    read = strict(text)
    kept = read["long"].count("l")
    assert (read["short"], read["list"]) == ("s" * 60, [1, 2, 3])
    assert read["long"] == "l" * kept + f"… [cut: {5000 - kept} characters more]"
    assert 350 <= len(text) <= 400
    rows = [{"number": number, "title": f"Title {number}"} for number in range(200)]
    read = strict(fit_json({"rows": rows, "source": "somewhere"}, 1000))
    kept = read["rows"][:-1]
    assert kept == rows[: len(kept)]
    assert len(kept) > 20
    assert read["rows"][-1] == f"… [left out: {200 - len(kept)} items more]"
    assert read["source"] == "somewhere"
    rows = strict(fit_json({"rows": ["w" * 300] * 60}, 3000))["rows"]
    assert len(rows) > 10
    assert rows[0].count("w") > 100  # few whole rows rather than many stumps
    read = strict(fit_json({f"key{number}": number for number in range(1000)}, 300))
    assert read["key0"] == 0
    assert read["…"] == f"[left out: {1000 - (len(read) - 1)} entries more]"


def test_fitted_never_cuts_within_a_character() -> None:
    """What people see as one character is kept or dropped whole, at every length."""
    for character in (FAMILY, GERMANY, "\U0001f44d\U0001f3fd", "e\u0301\u0302", "❤\ufe0f", "\u1112\u1161\u11ab"):
        for max_chars in range(200, 200 + len(character)):
            read = strict(fit_json({"text": character * 300}, max_chars))
            kept, _, _ = read["text"].partition("… [cut")
            assert kept == character * (len(kept) // len(character)) != ""


def test_fitted_writes_what_json_does_not_know() -> None:
    """Numbers that are none become null, deep nests a mark, the rest its text; all of it cleaned."""
    nest: Any = "deep"
    for _ in range(500):
        nest = [nest]
    data = {
        "nan": math.nan,
        "money": Decimal("1.50"),
        "bytes": b"x",
        "tuple": (1, 2),
        "dirty\u202e": "a\x00b\ud800",
        "nest": nest,
    }
    read = strict(fit_json(data, 2000))
    assert (read["nan"], read["money"], read["bytes"], read["tuple"]) == (None, "1.50", "b'x'", [1, 2])
    assert read["dirty"] == "ab"
    assert "too deep" in str(read["nest"])
