"""How much of JSON there is, without reading it: nothing that is written oddly looks like less."""

import json

import pytest

from tools.mcp.bounds import MAX_ANSWER_VALUES, cut_lists, values_in


@pytest.mark.parametrize(
    "value",
    [
        [],
        [1] * 99,
        [[]] * 99,
        {f"name {number}": "" for number in range(99)},
        {f"\\{number}\\": f'"{number}\\"' for number in range(99)},
        [{"a": [1, 2.5, None, {"b": []}]}, "c"],
    ],
)
@pytest.mark.parametrize("separators", [(",", ":"), (" , ", " : "), (",\n", ":\r\n"), (",\t", "\t:")])
def test_every_value_counts_however_it_is_written(value: object, separators: tuple[str, str]) -> None:
    """Never less than there are, and at most lines, and what is empty, besides."""
    written = json.dumps(value, separators=separators).encode()
    values = _count(value)
    assert values <= values_in(written) <= 2 * values + 1 + written.count(b"\n")


def _count(value: object) -> int:
    match value:
        case list():
            return 1 + sum(map(_count, value))
        case dict():
            return 1 + sum(map(_count, value.values()))
        case _:
            return 1


@pytest.mark.parametrize("text", ["a,b,c,[d],{e}" * 99, '{"a": [1, 2, 3]}' * 99, '\\",\\\\",' * 99])
def test_what_stands_in_a_text_does_not_count(text: str) -> None:
    """A table or a file in an answer is one text, whatever is in it."""
    assert values_in(json.dumps({"text": text}).encode()) == 2


def test_a_quotation_mark_too_many_hides_nothing() -> None:
    """In a line that is no JSON, such as a comment between events, it would turn texts and values round."""
    written = json.dumps([[""]] * 99).encode()
    assert values_in(b': "\n' + written) >= 198


def test_what_is_too_much_is_found_quickly() -> None:
    """Without taking texts or lines apart of which there are too many already."""
    for part in (b'"":"",', b"\n", b"\r"):
        assert values_in(part * (MAX_ANSWER_VALUES + 1)) > MAX_ANSWER_VALUES


def test_lists_are_cut() -> None:
    """Those of which a part is looked at; nothing else in an answer is touched."""
    result = {"content": [{}] * 5_000, "tools": [{}] * 5_000, "structuredContent": {"content": [1] * 5_000}, "meta": {}}
    cut_lists(result)
    assert (len(result["content"]), len(result["tools"])) == (101, 1_000)
    assert result["structuredContent"] == {"content": [1] * 5_000}
    cut_lists({"content": "no list", "tools": None})
