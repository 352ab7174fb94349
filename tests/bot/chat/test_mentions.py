"""Names in an answer: whoever is meant beyond doubt is mentioned, at the very place, and nobody else."""

import pytest

from bot.chat.outgoing import find_mentions
from bot.events import NamedPerson, PersonId, Style, Styled, StyleRange


def people(*names: str) -> tuple[NamedPerson, ...]:
    """Each with their name as their id."""
    return tuple(NamedPerson(name=name, person=PersonId(f"id of {name}")) for name in names)


def named(text: str, *names: str) -> list[str]:
    """The words that are mentions, after checking whom they mean."""
    units = text.encode("utf-16-le")
    words: list[str] = []
    for one in find_mentions(Styled(text=text), people(*names)):
        word = units[2 * one.start : 2 * (one.start + one.length)].decode("utf-16-le")
        assert one.person == f"id of {word[1:]}"
        words.append(word)
    return words


@pytest.mark.parametrize(
    ("text", "names", "mentioned"),
    [
        ("Ask @Anna.", ["Anna"], ["@Anna"]),
        ("Ask Anna.", ["Anna"], []),
        ("Ask @anna.", ["Anna"], []),
        ("Ask @Annabel.", ["Anna"], []),
        ("Ask @Anna Maria!", ["Anna", "Anna Maria"], ["@Anna Maria"]),
        ("mail@Anna", ["Anna"], []),
        ("@@Anna", ["Anna"], []),
        ("👩‍👩‍👧 @Zoë and @Zoë", ["Zoë"], ["@Zoë", "@Zoë"]),
        ("(@J.R. (Bob))", ["J.R. (Bob)"], ["@J.R. (Bob)"]),
        ("@Anna", [], []),
    ],
)
def test_a_name_is_exact_and_the_longest(text: str, names: list[str], mentioned: list[str]) -> None:
    """With the sign before it, as the person chose it; letters around it make it another word."""
    assert named(text, *names) == mentioned


def test_a_name_of_two_people_is_nobodys() -> None:
    """Nobody can tell who is meant; the same person twice is one."""
    one, other = NamedPerson(name="Alex", person=PersonId("1")), NamedPerson(name="Alex", person=PersonId("2"))
    assert find_mentions(Styled(text="@Alex"), (one, other)) == ()
    assert len(find_mentions(Styled(text="@Alex"), (one, one))) == 1


def test_the_name_that_the_model_is_shown_counts_as_well() -> None:
    """What cannot stand in the bracket is left out there, so the model cannot write it."""
    [one] = find_mentions(Styled(text="Hi @Anna x"), (NamedPerson(name="[Anna] x", person=PersonId("1")),))
    assert (one.start, one.length, one.person) == (3, 7, "1")


def test_code_is_left_alone() -> None:
    """There a name is part of the code."""
    code = StyleRange(start=0, length=5, style=Style.MONOSPACE)
    [one] = find_mentions(Styled(text="@Anna @Anna", styles=(code,)), people("Anna"))
    assert one.start == 6
