"""What receipts prove: by table, and against all that could be.

Nothing is taken for sent that nobody received; and whatever follows from what is known is proved.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.proofs import ReceiptReach, SendAttempt, prove


def attempt(id_: int, item: int | None = None, *, is_open: bool = True) -> SendAttempt:
    return SendAttempt(id=id_, item=id_ if item is None else item, is_open=is_open, is_pending=is_open)


def reach(*known: int, possible: Sequence[int] = ()) -> ReceiptReach:
    return ReceiptReach(known=frozenset(known), possible=frozenset(possible))


TABLE: dict[str, tuple[list[SendAttempt], Mapping[int, list[ReceiptReach]], set[int]]] = {
    "only one can be meant": ([attempt(1), attempt(2)], {7: [reach(1)]}, {1}),
    "either can be meant": ([attempt(1), attempt(2)], {7: [reach(1, 2)]}, set()),
    "both tries of one item can be meant": ([attempt(1, 5), attempt(2, 5)], {7: [reach(1, 2)]}, {5}),
    "two who have one in common": ([attempt(1), attempt(2), attempt(3)], {7: [reach(1, 2), reach(1, 3)]}, {1}),
    "two who have none in common": ([attempt(1), attempt(2)], {7: [reach(1), reach(2)]}, {1}),
    "one is left over": ([attempt(1), attempt(2)], {7: [reach(1)], 8: [reach(1, 2)]}, {1, 2}),
    "as many names as sends": ([attempt(1), attempt(2)], {7: [reach(1, 2)], 8: [reach(1, 2)]}, {1, 2}),
    "fewer names than sends": (
        [attempt(1), attempt(2), attempt(3)],
        {7: [reach(1, 2, 3)], 8: [reach(1, 2, 3)]},
        set(),
    ),
    "more names than sends": ([attempt(1), attempt(2)], {name: [reach(1, 2)] for name in (7, 8, 9)}, set()),
    "two names for three tries of two items": (
        [attempt(1, 5), attempt(2, 5), attempt(3)],
        {7: [reach(1, 2, 3)], 8: [reach(1, 2, 3)]},
        {5},
    ),
    "more names of one item than tries": ([attempt(1, 5), attempt(2, 5)], {n: [reach(1, 2)] for n in (7, 8, 9)}, {5}),
    "perhaps a stranger": ([attempt(1)], {7: [reach(possible=[1])]}, set()),
    "perhaps a stranger, and a member": ([attempt(1)], {7: [reach(possible=[1]), reach(1)]}, {1}),
    "a member of two, and perhaps a stranger": (
        [attempt(1), attempt(2)],
        {7: [reach(1, 2), reach(possible=[1])]},
        set(),
    ),
    "a member of one, and perhaps of another": ([attempt(1), attempt(2)], {7: [reach(1, possible=[2])]}, set()),
    "surely a stranger": ([attempt(1)], {7: [reach()]}, set()),
    "surely a stranger, and a member": ([attempt(1)], {7: [reach(), reach(1)]}, {1}),
    "what is over is not proved": ([attempt(1, is_open=False)], {7: [reach(1)]}, set()),
    "what is over may be meant": ([attempt(1, is_open=False), attempt(2)], {7: [reach(1, 2)]}, set()),
}


@pytest.mark.parametrize(("attempts", "receipts", "items"), TABLE.values(), ids=TABLE)
def test_what_follows_from_receipts(
    attempts: list[SendAttempt], receipts: Mapping[int, list[ReceiptReach]], items: set[int]
) -> None:
    """Items are proved where there is no other way in which each name has one send."""
    assert prove(attempts, receipts).items == items


def test_names_that_tell_nothing_any_more_are_spent() -> None:
    """One is kept as long as it can mean something that is open."""
    attempts = [attempt(1), attempt(2), attempt(3), attempt(4, is_open=False)]
    receipts = {7: [reach(1, 2)], 8: [reach(3)], 9: [reach(4)], 10: [reach()], 11: [reach(possible=[2])]}
    found = prove(attempts, receipts)
    assert found.names == {8: 3, 9: 4}
    assert found.spent == {8, 9, 10}


def ways(names: Sequence[int], could: Mapping[int, frozenset[int]]) -> Iterator[frozenset[int]]:
    """All ways in which each name has an attempt of its own: the attempts that went out then."""
    if not names:
        yield frozenset()
        return
    for rest in ways(names[1:], could):
        yield from (rest | {attempt} for attempt in could[names[0]] - rest)


@given(st.randoms(use_true_random=False))
def test_what_is_proved_is_what_is_so_in_every_way(lots: Random) -> None:
    """Against all that could be: nothing is proved that need not be, and everything that must be."""
    attempts = [attempt(number, lots.randint(1, 4)) for number in range(1, lots.randint(2, 6))]
    people = [frozenset(a.id for a in attempts if lots.random() < 0.5) for _ in range(3)]
    out = [a for a in attempts if lots.random() < 0.6]
    receipts: dict[int, list[ReceiptReach]] = {}
    for name, sent in enumerate(out):
        confirmed = [person for person in people if sent.id in person and lots.random() < 0.6]
        if confirmed:
            receipts[name] = [reach(*person) for person in confirmed]
    found = prove(attempts, receipts)
    could = {name: frozenset.intersection(*(one.all for one in heard)) for name, heard in receipts.items()}
    items = {a.id: a.item for a in attempts}
    always = [frozenset(items[attempt] for attempt in way) for way in ways(sorted(could), could)]
    assert found.items == (frozenset.intersection(*always) if could else frozenset())
    assert all(items[sent] == out[name].item for name, sent in found.names.items())
