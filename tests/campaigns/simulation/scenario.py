"""What happens in a story: who writes what and when, what the model will want, how the outside fails.

Every word that a person writes is a canary: `qz3x14z` is message 14, in conversation 3. All that a scenario leaves open
is decided by `chance`, which depends on the seed and on what is asked, never on the order of asking: the same send
fails in the same way, wherever Aldis was killed before.
"""

import base64
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.events import ChatId, Kind, PersonId

WORD = re.compile(r"qz(\d+)x(\d+)z")

ToolName = Literal["look_up", "add_up", "put_on_list", "post_letter"]
Rounds = tuple[tuple[ToolName, ...], ...]
Ending = Literal["words", "many words", "refusal", "nothing", "cut off"]
Fault = Literal["overloaded", "unavailable", "silent"]


def words_in(text: str) -> tuple[tuple[int, int], ...]:
    found = ((int(match[1]), int(match[2])) for match in WORD.finditer(text))
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, kw_only=True)
class Chat:
    number: int
    address: ChatId
    people: tuple[PersonId, ...]
    is_allowed: bool = True

    @property
    def is_group(self) -> bool:
        return self.address.startswith("group:")


@dataclass(frozen=True, kw_only=True)
class Word:
    target: int
    is_yes: bool


@dataclass(frozen=True, kw_only=True)
class Said:
    """Something that a person writes, and how a model will go about it."""

    number: int
    chat: Chat
    author: PersonId
    at_seconds: float
    kind: Kind = Kind.MESSAGE
    reaction: Word | None = None
    """What a reaction means where it answers a question of Aldis."""
    is_addressed: bool = True
    """False for what people in a group say to each other."""
    again_after_seconds: float | None = None
    """Signal delivers it once more then."""
    deleted_after_seconds: float | None = None
    """Its author deletes it for everybody then."""
    deletes: int | None = None
    """The number of the message that this deletes."""
    rounds: Rounds = ()
    """The tools that the model wants, one completion after the other."""
    ending: Ending = "words"
    faults: tuple[Fault, ...] = ()
    """How the model fails before it answers at all."""

    @property
    def word(self) -> str:
        return f"qz{self.chat.number}x{self.number}z"

    @property
    def is_question(self) -> bool:
        return self.kind is Kind.MESSAGE and self.is_addressed and self.chat.is_allowed


_KEPT = {"message", "edit", "delete", "reaction"}


def may_enter(said: Said) -> bool:
    return said.chat.is_allowed and said.kind in _KEPT


@dataclass(frozen=True, kw_only=True)
class Odds:
    """How likely it is that something goes wrong outside, from 0 to 1; nothing does by default."""

    unknown_but_sent: float = 0
    unknown_and_lost: float = 0
    not_sent: float = 0
    undeliverable: float = 0
    slow: float = 0
    """A send, a model or a tool takes many seconds."""
    receipt_late: float = 0
    receipt_never: float = 0
    receipt_first: float = 0
    """The receipt overtakes the bridge's own answer."""
    stream_breaks: float = 0
    says_yes: float = 0
    """Somebody agrees to what Aldis wants to do."""
    says_no: float = 0
    meddles: float = 0
    """Somebody agrees who was not asked."""
    tool_fails: float = 0
    tool_hangs: float = 0


CALM = Odds()


@dataclass(frozen=True, kw_only=True)
class Scenario:
    name: str
    seed: int
    chats: tuple[Chat, ...]
    said: tuple[Said, ...]
    odds: Odds = CALM
    stops_at_seconds: tuple[float, ...] = ()
    """When the operator stops Aldis in good order and starts it again."""
    down_seconds: tuple[float, ...] = (3.0,)
    """How long Aldis is away after each death or stop; the last counts for all further ones."""
    clock_steps: tuple[tuple[float, float], ...] = ()
    """When the machine's clock is set, and ahead by how many seconds (back where negative)."""
    conversations_at_once: int = 16
    shows_status: bool = False
    """Whether people see what is going on in turns that take long."""

    def chance(self, *what: object) -> random.Random:
        """A source of chance for one question, the same in every run."""
        return random.Random(f"{self.seed}/{what}")

    def happens(self, odds: float, *what: object) -> bool:
        return odds > 0 and self.chance(*what).random() < odds


def small(
    name: str,
    odds: Odds = CALM,
    rounds: Rounds = (("look_up", "post_letter"), ("add_up",)),
    *,
    shows_status: bool = False,
) -> Scenario:
    """The story of three messages: a direct one that takes a chain of tools, one in a group, a plain one."""
    alice, bob = _person(0), _person(1)
    directly = Chat(number=0, address=_direct(alice), people=(alice,))
    together = Chat(number=1, address=_group(0), people=(alice, bob))
    with_bob = Chat(number=2, address=_direct(bob), people=(bob,))
    return Scenario(
        name=name,
        seed=0,
        odds=odds,
        shows_status=shows_status,
        chats=(directly, together, with_bob),
        said=(
            Said(number=0, chat=directly, author=alice, at_seconds=0.5, rounds=rounds),
            Said(number=1, chat=together, author=bob, at_seconds=0.8),
            Said(number=2, chat=with_bob, author=bob, at_seconds=1.1),
        ),
    )


def drawn(seed: int) -> Scenario:
    chance = random.Random(seed)
    chats = _chats(chance)
    count = chance.randint(3, 9)
    times = sorted(chance.uniform(0.1, chance.choice((5, 60))) for _ in range(count))
    said = [_said(chance, number, chance.choice(chats), at) for number, at in enumerate(times)]
    deletions = random.Random(f"{seed}/deletions")
    deletion_odds = deletions.choice((0.0, 0.2, 0.5))

    def perhaps_deleted(one: Said) -> Said:
        """Some messages are deleted by their authors, soon or long after they were written."""
        if deletions.random() < deletion_odds and one.kind is Kind.MESSAGE:
            return replace(one, deleted_after_seconds=deletions.choice((0.3, 3.0, 12.0, 40.0)))
        return one

    return Scenario(
        name=f"seed {seed}",
        seed=seed,
        chats=chats,
        said=tuple(map(perhaps_deleted, said)),
        odds=_odds(chance),
        stops_at_seconds=tuple(sorted(chance.uniform(1.0, 90.0) for _ in range(chance.choice((0, 0, 1, 2))))),
        down_seconds=tuple(chance.choice((0.5, 3.0, 20.0, 130.0)) for _ in range(6)),
        conversations_at_once=chance.choice((1, 2, 16)),
        shows_status=chance.random() < 0.5,
        clock_steps=_clock_steps(seed),
    )


def crashes(seed: int, messages: int) -> tuple[int, ...]:
    """The steps of a seed's story at which Aldis dies: none to four; some may lie behind the story's end."""
    chance = random.Random(f"{seed}/crashes")
    return tuple(chance.randint(1, 14 * messages) for _ in range(chance.randint(0, 4)))


def _chats(chance: random.Random) -> tuple[Chat, ...]:
    people = [_person(number) for number in range(chance.randint(1, 3))]
    stranger = _person(9)
    groups = chance.choice((0, 1, 1, 2))
    found = [(_direct(person), (person,), True) for person in people]
    found += [(_group(number), (*people, stranger), True) for number in range(groups)]
    found += [(_direct(stranger), (stranger,), False)] * chance.choice((0, 1, 1))
    found += [(_group(9), (stranger, people[0]), False)] * chance.choice((0, 0, 1))
    return tuple(
        Chat(number=number, address=address, people=members, is_allowed=allowed)
        for number, (address, members, allowed) in enumerate(found)
    )


def _clock_steps(seed: int) -> tuple[tuple[float, float], ...]:
    """In one of three stories the clock is set, perhaps twice: by minutes, hours, days, to and fro."""
    chance = random.Random(f"{seed}/clock")
    if chance.random() > 1 / 3:
        return ()
    seconds = chance.choice((-20, -1200, -3600, -259_200, 30, 3600, 259_200))
    first = (chance.uniform(0, 90), float(seconds))
    second = (first[0] + chance.choice((20.0, 200.0, 500.0)), float(-seconds))
    return (first, second) if chance.random() < 0.5 else (first,)


def _person(number: int) -> PersonId:
    return PersonId(f"0b1c2d3e-4f50-4172-8394-{number:012d}")


def _direct(person: PersonId) -> ChatId:
    return ChatId(f"direct:{person}")


def _group(number: int) -> ChatId:
    return ChatId(f"group:{base64.b64encode(bytes([number]) * 32).decode()}")


def _said(chance: random.Random, number: int, chat: Chat, at_seconds: float) -> Said:
    kind = chance.choice((Kind.REACTION, Kind.OTHER)) if chance.random() < 0.08 else Kind.MESSAGE
    faults: Sequence[Fault] = ("overloaded", "overloaded", "unavailable", "unavailable", "silent")
    return Said(
        number=number,
        chat=chat,
        author=chance.choice(chat.people),
        at_seconds=at_seconds,
        kind=kind,
        is_addressed=not chat.is_group or chance.random() < 0.75,
        again_after_seconds=chance.choice((0.01, 5.0, 100.0)) if chance.random() < 0.15 else None,
        rounds=_rounds(chance),
        ending=chance.choices(("words", "many words", "refusal", "nothing", "cut off"), (80, 10, 4, 3, 3))[0],
        faults=tuple(chance.choice(faults) for _ in range(chance.choice((0, 0, 0, 0, 1, 2, 4)))),
    )


def _rounds(chance: random.Random) -> Rounds:
    names: Sequence[ToolName] = ("look_up", "add_up", "put_on_list", "post_letter")
    return tuple(
        tuple(chance.choice(names) for _ in range(chance.choice((1, 1, 2, 3))))
        for _ in range(chance.choice((0, 1, 1, 2)))
    )


def _odds(chance: random.Random) -> Odds:
    rough = chance.choice((0.0, 0.1, 0.3))
    return Odds(
        unknown_but_sent=rough,
        unknown_and_lost=rough / 2,
        not_sent=rough,
        undeliverable=rough / 10,
        slow=rough,
        receipt_late=chance.choice((0.0, 0.2)),
        receipt_never=chance.choice((0.0, 0.2, 1.0)),
        receipt_first=chance.choice((0.0, 0.3)),
        stream_breaks=rough / 2,
        says_yes=0.5,
        says_no=0.2,
        meddles=rough,
        tool_fails=rough / 2,
        tool_hangs=rough / 4,
    )


def _regret() -> Scenario:
    """The story of one person whose messages are answered together, and who deletes one of them."""
    alice = _person(0)
    directly = Chat(number=0, address=_direct(alice), people=(alice,))
    return Scenario(
        name="small, one of several is deleted",
        seed=1,
        odds=Odds(not_sent=0.5),
        chats=(directly,),
        said=(
            Said(number=0, chat=directly, author=alice, at_seconds=0.5, rounds=(("add_up",),)),
            Said(number=1, chat=directly, author=alice, at_seconds=0.6, deleted_after_seconds=1.5),
            Said(number=2, chat=directly, author=alice, at_seconds=0.7, rounds=(("look_up",),)),
        ),
    )


SMALL = (
    small("small"),
    small("small, on a word", Odds(says_yes=1), (("look_up",), ("post_letter", "add_up"))),
    small("small, receipts overtake answers", Odds(receipt_first=1)),
    small("small, no receipts", Odds(receipt_never=1)),
    small("small, sends in doubt", Odds(unknown_but_sent=0.5, receipt_late=0.5)),
    small("small, with statuses", Odds(slow=1, says_yes=1), shows_status=True),
    _regret(),
)
"""Short stories, of which steps and pairs of steps are tried."""
