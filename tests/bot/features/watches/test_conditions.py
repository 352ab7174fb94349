"""When a watch fires, by tables: pure."""

from decimal import Decimal
from typing import Any

import pytest

from bot.features.watches.conditions import Item, State, When, compare, found_at, number_in
from tools import BadArguments


def fired(when: When, value: float, found: list[Any]) -> list[bool]:
    """Whether each look fires."""
    state, heard = State(), list[bool]()
    for one in found:
        state, fires, _ = compare(when, Decimal(str(value)), state, one)
        heard.append(fires)
    return heard


def test_it_fires_by_its_condition_and_never_at_first() -> None:
    """Over the value, or so many percent from where it last fired; not again while it stays there."""
    rows: tuple[tuple[When, float, list[Any], str], ...] = (
        ("above", 10, [11, 12, 10, 10.1, 11], "...x."),
        ("above", 10, ["9 USD", "10.5 USD"], ".x"),
        ("below", 0, ["1 °C", "-0.5 °C", "-3 °C", "2 °C", "-1 °C"], ".x..x"),
        ("rises", 10, [100, 109, 110, 120, 121], "..x.x"),
        ("rises", 10, [100, 50, 105, 110], "...x"),
        ("falls", 10, [100, 91, 90, 82, 81], "..x.x"),
        ("falls", 10, [-100, -105, -111], "..x"),
        ("rises", 10, [0, 5, 6], "..x"),
        ("falls", -10, [100, 101, 90], "..x"),
        ("changes", 0, ["open", "open", "closed", "open"], "..xx"),
        ("new", 0, [["a"], ["b", "a"], ["a"], ["b"]], ".x.."),
    )
    for when, value, found, heard in rows:
        assert "".join(".x"[fires] for fires in fired(when, value, found)) == heard, (when, found)


def test_new_items_are_those_never_seen() -> None:
    """By address and words; of a text its lines that are long enough to say something."""
    known, _, _ = compare("new", Decimal(0), State(), [{"title": "Old", "url": "https://a.example/"}])
    rows = [{"title": "Old", "url": "https://a.example/"}, {"title": "New", "snippet": "of\n it", "url": "u"}, {"n": 1}]
    _, fires, new = compare("new", Decimal(0), known, rows)
    assert (fires, new) == (True, (Item(text="New - of it", url="u"), Item(text="{'n': 1}")))
    before, _, _ = compare("new", Decimal(0), State(), "Menu\nThe museum is open from ten to six.")
    _, _, new = compare("new", Decimal(0), before, "Home\nTHE museum is open from  ten to six.\n" + "x" * 600)
    assert [len(item.text) for item in new] == [500]


def test_of_a_flood_nothing_is_lost_and_what_stays_is_not_new_again() -> None:
    """As many as a model reads are new at once, the others the next time; a line that changes pushes out none."""
    flood: list[object] = [str(n) for n in range(40)]
    before, _, _ = compare("new", None, State(), ["known"])
    first, _, new = compare("new", None, before, ["known", *flood])
    _, _, later = compare("new", None, first, ["known", *flood])
    assert [item.text for item in (*new, *later)] == flood
    lines = [str(n) for n in range(200)]
    state, _, _ = compare("new", None, State(), lines)
    for clock in range(150):
        state, _, new = compare("new", None, state, [*lines, f"It is now {clock}."])
        assert [item.text for item in new] == [f"It is now {clock}."]
    long, _, _ = compare("new", None, State(), [str(n) for n in range(400)])
    assert (len(state.known), compare("new", None, long, ["5"])[1]) == (300, False)


def test_what_cannot_be_compared_is_said() -> None:
    """A number without one to compare with, a change of nothing, and a text too long to show what changed in it."""
    rows: tuple[tuple[When, Decimal | None, object, str], ...] = (
        ("above", None, 5, "value: name the number"),
        ("rises", Decimal(0), 5, "value: name the number"),
        ("changes", None, "x" * 501, "use `new`"),
    )
    for when, value, found, said in rows:
        with pytest.raises(BadArguments, match=said):
            compare(when, value, State(), found)


def test_a_number_is_the_only_one() -> None:
    """With a unit, separators, or what it is equal to before it."""
    rows = (("1,234.50 USD", "1234.50"), ("67187.33", "67187.33"), ("1 EUR = 1.2034 USD", "1.2034"), ("−3 °C", "-3"))
    for text, number in (*rows, ("61.5%", "61.5"), (7, "7"), (0.1, "0.1"), (2e-7, "2e-7")):
        assert number_in(text) == Decimal(number)
    for text in ("2026-11-30", "12:30", "none", "", None, True, ["1"], {"a": 1}):
        with pytest.raises(BadArguments, match="is not one number"):
            number_in(text)


def test_a_place_is_found_by_its_names_or_what_there_is_is_shown() -> None:
    """Names may hold dots; a number is a place in a list."""
    data = {"likelihood": {"J.D. X": "61%"}, "rows": [{"a": 1}]}
    for look_at, found in (("likelihood/J.D. X", "61%"), ("rows/0/a", 1), ("", data)):
        assert found_at(data, look_at) == found
    for wrong in ("price", "rows/1", "rows/x", "likelihood/J.D. X/y"):
        with pytest.raises(BadArguments, match=r"^look_at: there is no .* in "):
            found_at(data, wrong)
