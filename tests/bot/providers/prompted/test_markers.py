"""Calls written in words: what is one, what is none, and that nothing on earth upsets the reader."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.providers.prompted.markers import (
    Piece,
    WrittenCall,
    escape_markers,
    escaped_json,
    marker,
    pieces,
    squeeze,
    visible_parts,
)

NAMES = frozenset({"get_weather", "current_time"})


def call(name: str, arguments: Any) -> WrittenCall:
    return WrittenCall(name=name, arguments=arguments if isinstance(arguments, str) else json.dumps(arguments))


OSLO = call("get_weather", {"place": "Oslo"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<<get_weather: {"place": "Oslo"}>>', [OSLO]),
        ('I look. <<get_weather: {"place": "Oslo"}>>', ["I look.", OSLO]),
        ('Oslo first <<get_weather: {"place": "Oslo"}>>, then home.', ["Oslo first", OSLO, ", then home."]),
        ('<<get_weather: {"place": "Oslo"}>>\n<<current_time: {}>>', [OSLO, call("current_time", {})]),
        ('```json\n<<get_weather: {"place": "Oslo"}>>\n```', [OSLO]),
        ('Now:\n```\n<<get_weather: {"place": "Oslo"}>>\n<<current_time: {}>>\n```\nSo.',
         ["Now:", OSLO, call("current_time", {}), "So."]),
        ('So: `<<get_weather: {"place": "Oslo"}>>`.', ["So:", OSLO, "."]),
        ('<<get_weather: {"place": "Oslo"}>>\n```python\nprint()\n```', [OSLO, "```python\nprint()\n```"]),
        ('<<get_weather: ```json\n{"place": "Oslo"}\n```>>', [OSLO]),
        ("<<get_weather: {“place”: “Oslo”}>>", [OSLO]),
        ('<<“get_weather”: {"place": "Oslo"}>>', [OSLO]),
        ('<<**get_weather**: {"place": "Oslo"}>>', [OSLO]),
        ('<<get_weather({"place": "Oslo"})>>', [OSLO]),
        ('<<get_weather {"place": "Oslo"}>>', [OSLO]),
        ('<< get_weather : {"place": "Oslo"} >>', [OSLO]),
        ('<<get_weather: {"place": "Oslo"}>', [OSLO]),
        ('<<get_weather: {"place": "Oslo"}', [OSLO]),
        ('<<get_weather: {"place": "Oslo"}}>>', [OSLO]),
        ('<<get_weather: {"place": "Oslo"}>> and more', [OSLO, "and more"]),
        ('<<get_weather: {"place": "a >> b"}>>', [call("get_weather", {"place": "a >> b"})]),
        ('<<get_weather: {"place": "a “b” c"}>>', [call("get_weather", {"place": "a “b” c"})]),
        ('<<get_weather: {"place": "a\nb"}>>', [call("get_weather", {"place": "a\nb"})]),
        ('<<get_weather: {"at": {"x": [1, {"y": "}"}]}}>>', [call("get_weather", {"at": {"x": [1, {"y": "}"}]}})]),
        ('<<get_weather: {"place": "<<x: {}>>"}>>', [call("get_weather", {"place": "<<x: {}>>"})]),
        ("<<current_time>>", [call("current_time", "")]),
        ("<<current_time:>> Soon.", [call("current_time", ""), "Soon."]),
        ('<<get_stock: {"of": "X"}>>', [call("get_stock", {"of": "X"})]),
    ],
)  # fmt: skip
def test_what_is_a_call(text: str, expected: list[Piece]) -> None:
    """However a model writes it, in order, and the words around it without what held it."""
    assert pieces(text, names=NAMES) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<<get_weather: Oslo>> Soon.", [call("get_weather", "Oslo"), "Soon."]),
        ("<<get_weather: Oslo\nSoon.", [call("get_weather", "Oslo"), "Soon."]),
        ("<<get_weather(place='Oslo')>>", [call("get_weather", "place='Oslo')")]),
        ("<<get_weather: ['Oslo']>>", [call("get_weather", "['Oslo']")]),
        ('<<get_weather: {"place": Oslo}>> Soon.', [call("get_weather", '{"place": Oslo}'), "Soon."]),
        ('<<get_weather: {"place": "Os', [call("get_weather", '{"place": "Os')]),
        ("<<get_stock: {of X}>>", [call("get_stock", "{of X}")]),
        ('<<get_weather: {"n": %s}>>' % ("9" * 5000), [call("get_weather", '{"n": %s}' % ("9" * 5000))]),
        ("<<get_weather: %s>>" % ('{"a":' * 50_000), [call("get_weather", '{"a":' * 50_000)]),
        ('<<get_weather: {"n": 1e999}>>', [call("get_weather", '{"n": 1e999}')]),
        ('<<get_weather: {"n": NaN}>>', [call("get_weather", '{"n": NaN}')]),
    ],
)  # fmt: skip
def test_a_call_without_an_object(text: str, expected: list[Piece]) -> None:
    """What stands in its place is kept, so that the model can be told."""
    assert pieces(text, names=NAMES) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", " plain words ", "std::cout << name << std::endl;", "cout << x: {", "1 << n", "cat <<EOF\n{}\nEOF",
        "<<chapter one>>=", "<<setup>>", "a <<b>> c", "<<f({})>>", "<<f {}>>", "<<get_weather or not", "<< >>", "<<",
        "`<\\<get_weather: {}>>`", "«get_weather: {}»", "<get_weather: {}>", "<<get_weather::all: {}>>",
        "<<3d: {}>>", "＜＜get_weather: {}>>",
    ],
)  # fmt: skip
def test_what_is_none(text: str) -> None:
    """Code, quotations with a backslash and look-alikes stay as they are, to the last space."""
    assert pieces(text, names=NAMES) == [text]


def test_an_invented_result_ends_the_answer() -> None:
    """What a model makes up after its calls is not said; without a call only the line itself goes."""
    forged = (
        '<<get_weather: {"place": "Oslo"}>>\n<<RESULT: get_weather>>\n{"ok": true}\nIt is warm. <<current_time: {}>>'
    )
    assert pieces(forged, names=NAMES) == [OSLO]
    assert pieces("<<RESULT: get_weather>>\nIt is warm.", names=NAMES) == ["It is warm."]


@pytest.mark.parametrize(
    "told",
    [
        'Do <<get_weather: {"place": "Oslo"}>> now',
        json.dumps({"text": 'x <<get_weather:\n{"place":\t"Oslo"}>>'}),
        "<< get_weather: {“place”: “Oslo”} >>",
    ],
)
def test_what_others_wrote_is_a_quotation_when_it_is_repeated(told: str) -> None:
    """Word for word, however it is laid out; the model's own words of another place are a call."""
    said = 'The page says <<get_weather: {"place": "Oslo"}>>.'
    assert pieces(said, names=NAMES, given=squeeze(told)) == [said]
    own = said.replace("Oslo", "Bergen")
    assert pieces(own, names=NAMES, given=squeeze(told))[1] == call("get_weather", {"place": "Bergen"})


def test_a_quotation_is_shown_when_it_is_one() -> None:
    """While only its beginning is there, it may still become a call."""
    given, said = squeeze('<<get_weather: {"place": "Oslo"}>>'), 'It says <<get_weather: {"place": "Oslo"}>>'
    for length in range(len("It says <"), len(said)):
        assert visible_parts(said[:length], names=NAMES, given=given) == ["It says"]
    assert visible_parts(said, names=NAMES, given=given) == [said]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is", ["It is"]), ("It is ", ["It is"]), ("Look <", ["Look"]), ("Look <<get_we", ["Look"]),
        ("Look <<get_weather", ["Look"]), ("Look << get_weather: ", ["Look"]), ("Look <<get_weather:\n```js", ["Look"]),
        ('Look <<get_weather: {"pl', ["Look"]), ('Look <<get_weather: {"place": "a >> b', ["Look"]),
        ('Look <<get_weather: {"place": "a"}', ["Look"]), ('Look <<get_weather: {"place": "a"}\n`', ["Look"]),
        ('Look <<get_weather: {"place": "a"}>', ["Look"]), ("Look <<get_weather: Os", ["Look"]),
        ("Look <<get_stock: {", ["Look"]), ("Look <<get_weather: {}>>\nAnd", ["Look", "And"]),
        ("Look <<get_weather: {}>> <<curr", ["Look"]), ("a << b and", ["a << b and"]), ("a <b", ["a <b"]),
        ("<<RESULT: get_weather", []),
    ],
)  # fmt: skip
def test_what_is_shown_while_it_is_written(text: str, expected: list[str]) -> None:
    """Nothing of a call, and nothing that may become one."""
    assert visible_parts(text, names=NAMES) == expected


_parts = st.sampled_from(
    ["<<get_weather: ", "<<nope:{}>>", '<< current_time {"x": ', "<<RESULT: a>>",
     "<", "<<", ">", ">>", "{", "}", '"', "“", "”", ":", "`", "```", "\n", " ", "\\", "get_weather", "RESULT", "nope",
     '{"place": "Oslo"}', "{}", "(", ")", "[", ",", "a", "\ud800", "🌧️", "1e999", "NaN"]
)  # fmt: skip
_texts = st.lists(_parts | st.text(max_size=8), max_size=30).map("".join)


@settings(max_examples=120, deadline=None)
@given(_texts)
def test_whatever_is_written_is_read(text: str) -> None:
    """Nothing raises; what has no two angle brackets is unchanged; nothing of a text is said twice or made up."""
    found = pieces(text, names=NAMES)
    visible_parts(text, names=NAMES)
    if "<<" not in text:
        assert found == [text]
    at = 0
    for piece in found:
        at = text.index(piece if isinstance(piece, str) else piece.name, at) + 1
    assert all(isinstance(piece, str) or piece.name != "RESULT" for piece in found)


@settings(max_examples=120, deadline=None)
@given(_texts)
def test_what_is_escaped_is_no_call(text: str) -> None:
    """Whoever wrote it and however it is cut, and what looks like none is not touched."""
    safe = escape_markers(text)
    assert pieces(safe, names=NAMES) == [safe]
    assert escape_markers(safe) == safe
    assert safe.replace("<\\<", "<<").replace("\\", "") == text.replace("<\\<", "<<").replace("\\", "")


_json = _texts | st.integers() | st.none() | st.lists(_texts | st.booleans(), max_size=2)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(_texts, _json, max_size=3))
def test_escaped_json_says_the_same(value: dict[str, Any]) -> None:
    """So that arguments go through a history unchanged, and come back as the call that they were."""
    plain = json.dumps(value, ensure_ascii=False)
    safe = escaped_json(plain)
    assert json.loads(safe) == value
    assert pieces(safe, names=NAMES) == [safe]
    [back] = pieces(marker("get_weather", safe), names=NAMES)
    assert isinstance(back, WrittenCall)
    assert json.loads(back.arguments) == value


@settings(max_examples=40, deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=10), max_size=2), max_size=5))
def test_many_calls_keep_their_order(asked: list[dict[str, str]]) -> None:
    """With words between them or without."""
    written = [marker("get_weather", json.dumps(arguments)) for arguments in asked]
    for between in ("", " and ", "\n\n"):
        found = pieces(between.join(written), names=NAMES)
        assert [json.loads(piece.arguments) for piece in found if isinstance(piece, WrittenCall)] == asked


@pytest.mark.parametrize(
    "text",
    ["<<" * 200_000, "<<a: {" * 70_000, '<<a: {"x":' * 40_000, "<<get_weather " * 30_000, "<" + " " * 400_000,
     '<<a: {"' * 60_000, "<<get_weather: x\n" * 30_000, "<<a" + "." * 400_000, '<<a: {"b": [' * 30_000,
     "<<a: {}" + " " * 100_000],
)  # fmt: skip
def test_a_model_that_repeats_itself_is_read_to_its_end(text: str) -> None:
    """Only so many markers are looked at, however long the text is."""
    found = pieces(text, names=NAMES, given=squeeze(text[:100]))
    assert sum(isinstance(piece, WrittenCall) for piece in found) <= 64
    visible_parts(text, names=NAMES)
    escape_markers(text)
