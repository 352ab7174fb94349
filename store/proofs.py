"""Pure: which sends some receipts prove. A receipt tells that a person has received something, and its name.

Each send that went out has one name, its timestamp, and each name belongs to one send. So a name proves an item where
it can mean attempts of that item alone; and several names prove several items together where there are not enough other
attempts to go round: two names that can each mean two sends prove both. What stays open may show later, when more
receipts come or other sends have ended.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

_MAX_MATCHED = 64
"""Names that hang together; where there are more, somebody makes them up, and only the clear ones count."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SendAttempt:
    """A send whose name nobody knows; ids grow with time."""

    id: int
    item: int
    """What was sent: several attempts of one item say the same."""
    is_open: bool
    """Whether it is still to be found out that the item went out."""
    is_pending: bool
    """Whether it may still get its name: if that is known it cannot be taken for another."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptReach:
    """Which attempts one person's receipt of a name can mean."""

    known: frozenset[int] = frozenset()
    """Attempts, by id, that surely were for this person, too."""
    possible: frozenset[int] = frozenset()
    """Attempts to groups of which nobody knows who is in them."""

    @property
    def all(self) -> frozenset[int]:
        """Either."""
        return self.known | self.possible


@dataclass(frozen=True, kw_only=True, slots=True)
class Proofs:
    """What is proved."""

    names: Mapping[int, int]
    """The attempts that have got a name by now, each by its name."""
    items: frozenset[int]
    """The open items that went out, with a name or without."""
    spent: frozenset[int]
    """The names that nothing can be learned from any more."""
    open_names: Mapping[int, frozenset[int]]
    """The other names, each with the items that it can mean."""


@dataclass(slots=True)
class _Clue:
    """A name with the attempts that it can mean."""

    name: int
    attempts: set[int]


def prove(attempts: Sequence[SendAttempt], receipts: Mapping[int, Collection[ReceiptReach]]) -> Proofs:
    """What the receipts prove, given by name: one `ReceiptReach` for each person who has confirmed it."""
    by_id = {attempt.id: attempt for attempt in attempts}
    clues = [clue for name, reaches in receipts.items() for clue in _clues(name, reaches)]
    names = _name_unique(clues)
    left = [clue for clue in clues if clue.name not in names and clue.attempts]
    groups = _components(left)
    items = {by_id[attempt].item for attempt in names.values()}
    items |= {item for clue in left if len(meant := _meaning(clue, by_id)) == 1 for item in meant}
    items |= {item for group in groups for item in _certain(group, by_id)}
    names |= _named_by_item(left, by_id)
    pending = {attempt.id for attempt in attempts if attempt.is_pending} - set(names.values())
    telling = {clue.name for group in groups if any(clue.attempts & pending for clue in group) for clue in group}
    meanings: dict[int, frozenset[int]] = {}
    for clue in left:
        meanings[clue.name] = meanings.get(clue.name, frozenset()) | _meaning(clue, by_id)
    unheard = {name for name, reaches in receipts.items() if any(reach.all & pending for reach in reaches)}
    unheard -= {clue.name for clue in clues}
    return Proofs(
        names=names,
        items=frozenset(items & {attempt.item for attempt in attempts if attempt.is_open}),
        spent=frozenset(set(receipts) - (telling - names.keys()) - unheard),
        open_names={name: meant for name, meant in meanings.items() if name not in names},
    )


def _clues(name: int, reaches: Collection[ReceiptReach]) -> list[_Clue]:
    """What a name can mean: what everybody who has confirmed it has received.

    Where there is no such thing somebody is mistaken, and each is heard alone. Who may be a stranger is not heard.
    """
    heard = [reach for reach in reaches if reach.known]
    if not heard:
        return []
    common = frozenset[int].intersection(*(reach.all for reach in heard))
    return [_Clue(name, set(common))] if common else [_Clue(name, set(reach.all)) for reach in heard]


def _name_unique(clues: Sequence[_Clue]) -> dict[int, int]:
    """Give the names that can mean one attempt only; each takes it from the others, so that it goes on."""
    names: dict[int, int] = {}
    while clue := next((clue for clue in clues if clue.name not in names and len(clue.attempts) == 1), None):
        [names[clue.name]] = clue.attempts
        for other in clues:
            other.attempts.discard(names[clue.name])
    return names


def _named_by_item(clues: Sequence[_Clue], attempts: Mapping[int, SendAttempt]) -> dict[int, int]:
    """Give the names that mean one item, whichever of its attempts.

    Each goes to the latest that is left: what can mean that one could mean the earlier ones as well.
    """
    names: dict[int, int] = {}
    for clue in clues:
        free = clue.attempts - set(names.values())
        if len(_meaning(clue, attempts)) == 1 and free and clue.name not in names:
            names[clue.name] = max(free)
    return names


def _components(clues: Sequence[_Clue]) -> list[list[_Clue]]:
    """The clues that hang together by what they can mean."""
    groups: list[tuple[set[int], list[_Clue]]] = []
    for clue in clues:
        touched = [group for group in groups if group[0] & clue.attempts]
        groups = [group for group in groups if not group[0] & clue.attempts]
        attempts = clue.attempts.union(*(group[0] for group in touched))
        groups.append((attempts, [clue, *(other for group in touched for other in group[1])]))
    return [group for _, group in groups]


def _certain(clues: Sequence[_Clue], attempts: Mapping[int, SendAttempt]) -> set[int]:
    """The items without whose attempts there would not be one for each name."""
    names = {clue.name for clue in clues}
    if len(names) < len(clues) or len(names) > _MAX_MATCHED or not _are_matched(clues, ()):
        return set()
    reachable = set[int]().union(*(clue.attempts for clue in clues))
    by_item: dict[int, set[int]] = {}
    for attempt in reachable:
        by_item.setdefault(attempts[attempt].item, set()).add(attempt)
    return {item for item, own in by_item.items() if not _are_matched(clues, own)}


def _are_matched(clues: Iterable[_Clue], without: Collection[int]) -> bool:
    """Whether each name can have an attempt of its own, none of them `without`."""
    taken: dict[int, _Clue] = {}

    def finds(clue: _Clue, tried: set[int]) -> bool:
        for attempt in clue.attempts - tried - set(without):
            tried.add(attempt)
            if attempt not in taken or finds(taken[attempt], tried):
                taken[attempt] = clue
                return True
        return False

    return all(finds(clue, set()) for clue in clues)


def _meaning(clue: _Clue, attempts: Mapping[int, SendAttempt]) -> frozenset[int]:
    """The items that it can mean."""
    return frozenset(attempts[attempt].item for attempt in clue.attempts)
