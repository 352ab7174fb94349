"""Works out which sends a set of receipts proves. Pure functions.

A receipt says that a person received a message with a certain name, its timestamp. Each send that went out has one
name, and each name belongs to one send. A name therefore proves an item if it can only mean attempts of that item.
Several names together prove several items if there are not enough other attempts to go round: two names that can each
mean the same two sends prove both. What stays open may become clear when more receipts come or other sends end.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

BEHIND_MS = 1000
"""How far the clock of the bridge, which names the messages, may be behind ours."""

_MAX_MATCHED = 64
"""The most connected names to match; if there are more, somebody invents them, and only unambiguous ones count."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SendAttempt:
    """A send whose name is unknown. Ids grow with time."""

    id: int
    item: int
    """The item that was sent; several attempts can send the same one."""
    is_open: bool
    """Whether it is still unknown if the item went out."""
    is_pending: bool
    """Whether its name may still become known, after which it cannot be mistaken for another."""


@dataclass(frozen=True, slots=True)
class KeptReceipt:
    """One message that somebody has received."""

    name: int
    person: bytes
    """The handle of their direct chat."""
    ahead_ms: int
    """How far own time was ahead of the machine's clock when it came."""
    came_at: int
    """In own time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UnnamedAttempt(SendAttempt):
    """A send whose name is unknown, with what a receipt of it would look like."""

    conversation: int
    handle: bytes
    in_group: bool
    begun_at: int
    until: int | None
    """When it can have got its name at the latest; None: it still can."""
    listed_at: int | None
    """When the bridge last listed the members of its group; None: never."""
    ahead_ms: int
    """How far own time was ahead of the machine's clock when it began."""

    def span(self, receipt: KeptReceipt) -> tuple[int, int]:
        """Returns when the message was named if this is it: earliest and latest, as the clock may have been set."""
        by = self.ahead_ms, receipt.ahead_ms
        return receipt.name + min(by), receipt.name + max(by)

    def may_be(self, receipt: KeptReceipt) -> bool:
        """Whether it can have got the name of the receipt."""
        earliest, latest = self.span(receipt)
        began_before = self.begun_at <= receipt.came_at and self.begun_at - BEHIND_MS <= latest
        return began_before and (self.until is None or earliest <= self.until)

    def reaches(self, receipt: KeptReceipt, left_at: Mapping[tuple[int, bytes], int | None]) -> bool | None:
        """Whether the author of the receipt received it, if the receipt means it; None: unknown.

        `left_at` tells for members of groups when they left.
        """
        if not self.in_group:
            return self.handle == receipt.person
        earliest, latest = self.span(receipt)
        here = self.conversation, receipt.person
        if here in left_at and ((left := left_at[here]) is None or left >= earliest):
            return True
        # Somebody missing from an earlier list may have joined since.
        return None if self.listed_at is None or self.listed_at < latest else False


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptReach:
    """The attempts that one person's receipt of a name can mean."""

    known: frozenset[int] = frozenset()
    """Ids of attempts that certainly went to this person."""
    possible: frozenset[int] = frozenset()
    """Ids of attempts to groups whose members are unknown."""

    @property
    def all(self) -> frozenset[int]:
        """Both together."""
        return self.known | self.possible


@dataclass(frozen=True, kw_only=True, slots=True)
class Proofs:
    """What a set of receipts proves."""

    names: Mapping[int, int]
    """The attempt that each name was found to belong to."""
    items: frozenset[int]
    """The open items that went out, with a known name or without."""
    spent: frozenset[int]
    """The names that can prove nothing more."""
    open_names: Mapping[int, frozenset[int]]
    """The other names, each with the items it can mean."""


@dataclass(slots=True)
class _Clue:
    """A name and the attempts it can mean."""

    name: int
    attempts: set[int]


def prove_receipts(
    unnamed: Collection[UnnamedAttempt],
    receipts: Iterable[KeptReceipt],
    left_at: Mapping[tuple[int, bytes], int | None],
) -> Proofs:
    """Returns what the receipts prove about the unnamed attempts; `left_at` as in `UnnamedAttempt.reaches`."""
    reaches: dict[int, list[ReceiptReach]] = {}
    for receipt in receipts:
        reached = {one.id: one.reaches(receipt, left_at) for one in unnamed if one.may_be(receipt)}
        reach = ReceiptReach(
            known=frozenset(attempt for attempt, is_for in reached.items() if is_for),
            possible=frozenset(attempt for attempt, is_for in reached.items() if is_for is None),
        )
        reaches.setdefault(receipt.name, []).append(reach)
    return prove(unnamed, reaches)


def prove(attempts: Collection[SendAttempt], receipts: Mapping[int, Collection[ReceiptReach]]) -> Proofs:
    """Returns what the receipts prove. `receipts` has for each name one `ReceiptReach` per person who confirmed it."""
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
    """Returns what a name can mean: the attempts that everybody who confirmed it could receive.

    If there are none, somebody is mistaken, and each person counts alone. Possible strangers do not count.
    """
    heard = [reach for reach in reaches if reach.known]
    if not heard:
        return []
    common = frozenset[int].intersection(*(reach.all for reach in heard))
    return [_Clue(name, set(common))] if common else [_Clue(name, set(reach.all)) for reach in heard]


def _name_unique(clues: Sequence[_Clue]) -> dict[int, int]:
    """Assigns names that can mean one attempt only, which takes it from the others, and so on."""
    names: dict[int, int] = {}
    while clue := next((clue for clue in clues if clue.name not in names and len(clue.attempts) == 1), None):
        [names[clue.name]] = clue.attempts
        for other in clues:
            other.attempts.discard(names[clue.name])
    return names


def _named_by_item(clues: Sequence[_Clue], attempts: Mapping[int, SendAttempt]) -> dict[int, int]:
    """Assigns names that can mean one item only, whichever of its attempts.

    Each goes to the latest attempt left: a name that can mean that one could mean the earlier ones as well.
    """
    names: dict[int, int] = {}
    for clue in clues:
        free = clue.attempts - set(names.values())
        if len(_meaning(clue, attempts)) == 1 and free and clue.name not in names:
            names[clue.name] = max(free)
    return names


def _components(clues: Sequence[_Clue]) -> list[list[_Clue]]:
    """Groups the clues that share attempts."""
    groups: list[tuple[set[int], list[_Clue]]] = []
    for clue in clues:
        touched = [group for group in groups if group[0] & clue.attempts]
        groups = [group for group in groups if not group[0] & clue.attempts]
        attempts = clue.attempts.union(*(group[0] for group in touched))
        groups.append((attempts, [clue, *(other for group in touched for other in group[1])]))
    return [group for _, group in groups]


def _certain(clues: Sequence[_Clue], attempts: Mapping[int, SendAttempt]) -> set[int]:
    """Returns the items without which there would be fewer attempts than names."""
    names = {clue.name for clue in clues}
    if len(names) < len(clues) or len(names) > _MAX_MATCHED or not _are_matched(clues, ()):
        return set()
    reachable = set[int]().union(*(clue.attempts for clue in clues))
    by_item: dict[int, set[int]] = {}
    for attempt in reachable:
        by_item.setdefault(attempts[attempt].item, set()).add(attempt)
    return {item for item, own in by_item.items() if not _are_matched(clues, own)}


def _are_matched(clues: Iterable[_Clue], without: Collection[int]) -> bool:
    """Whether each name can have an attempt of its own, leaving out those in `without`."""
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
    """Returns the items that a clue can mean."""
    return frozenset(attempts[attempt].item for attempt in clue.attempts)
