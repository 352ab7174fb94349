"""Who writes, and what: people, groups and strangers, and their letters, drawn from a seed.

Every conversation has a canary, a word that stands in all that is written in it and nowhere else. Every question has a
label, so that it can be followed through prompts, tools and answers.
"""

import base64
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tests.servers import envelopes
from tests.servers.envelopes import Frame, Person

CANARY = re.compile(r"Zx[0-9a-f]{10}")
LABEL = re.compile(r"q\d{6}")

WISHES = ("calculate", "weather", "search", "weather and search")
"""What a question may ask the model to do; the model of `models` takes these words literally."""

Sort = Literal["question", "chatter", "reaction"]


def labels_in(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(LABEL.findall(text)))


@dataclass(frozen=True, kw_only=True)
class Chat:
    """A conversation; `is_listed` says whether Aldis may answer in it."""

    id: str
    members: tuple[Person, ...]
    canary: str
    is_listed: bool

    @property
    def group(self) -> str | None:
        kind, _, name = self.id.partition(":")
        return name if kind == "group" else None


@dataclass(frozen=True, kw_only=True)
class Letter:
    label: str
    """Empty for what is no question."""
    chat: Chat
    author: Person
    sort: Sort
    sent_at: int
    frame: Frame


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """Everybody, and the conversations that they have with Aldis or try to have."""

    people: tuple[Person, ...]
    strangers: tuple[Person, ...]
    chats: tuple[Chat, ...]

    @classmethod
    def drawn(cls, seed: int, *, people: int, groups: int, strangers: int) -> "Crowd":
        """A direct chat for everybody, groups of four to seven, and one group that is not on the list."""
        lots = random.Random(f"{seed}|crowd")
        listed = tuple(_person(lots, number) for number in range(people))
        unlisted = tuple(_person(lots, 900 + number) for number in range(strangers))
        chats = [_direct(lots, person, is_listed=True) for person in listed]
        chats += [_group(lots, lots.sample(listed, min(people, lots.randint(4, 7))), True) for _ in range(groups)]
        chats += [_direct(lots, person, is_listed=False) for person in unlisted]
        chats.append(_group(lots, [*unlisted, listed[0]], is_listed=False))
        return cls(people=listed, strangers=unlisted, chats=tuple(chats))

    @property
    def listed(self) -> tuple[Chat, ...]:
        return tuple(chat for chat in self.chats if chat.is_listed)

    @property
    def groups(self) -> dict[str, tuple[Person, ...]]:
        return {chat.group: chat.members for chat in self.chats if chat.group}

    def settings(self) -> dict[str, str]:
        persons = [person.number or person.uuid for person in self.people]
        return {
            "ACCESS__ALLOWED": ",".join(persons),
            "ACCESS__GROUPS": ",".join(chat.group for chat in self.listed if chat.group),
        }


@dataclass
class Pen:
    crowd: Crowd
    seed: int
    letters: dict[int, Letter] = field(default_factory=dict[int, Letter])
    chats: dict[str, Chat] = field(default_factory=dict[str, Chat])

    def __post_init__(self) -> None:
        self._lots = random.Random(f"{self.seed}|letters")

    def letter(self) -> Letter:
        """The next one: mostly a question, sometimes talk among others, a reaction, or a stranger's."""
        chat = self._lots.choice(self.crowd.chats)
        author = self._lots.choice(chat.members)
        draw = self._lots.random()
        if draw < 0.03:
            return self._kept(
                "", chat, author, "reaction", envelopes.reaction("👍", 7, author=author, group=chat.group)
            )
        if chat.group and draw < 0.3:
            words = f"has nobody fed {chat.canary} today?"
            return self._kept("", chat, author, "chatter", envelopes.message(words, author=author, group=chat.group))
        return self.question(chat, author)

    def question(self, chat: Chat, author: Person | None = None) -> Letter:
        label = f"q{len(self.chats):06d}"
        self.chats[label] = chat
        author = author or chat.members[0]
        wish = self._lots.choice(WISHES) if self._lots.random() < 0.45 else "a word"
        length = "long" if self._lots.random() < 0.03 else "short"
        call = "Aldis, " if chat.group else ""
        words = f"{call}{label} about {chat.canary}: {wish} please, {length}"
        return self._kept(label, chat, author, "question", envelopes.message(words, author=author, group=chat.group))

    def oddity(self) -> Frame | str:
        """Something that is no letter: what cannot be decrypted or read, typing, what the operator wrote elsewhere."""
        author = self._lots.choice(self.crowd.people)
        odd: list[Frame | str] = [
            envelopes.undecryptable(author, "ProtocolInvalidMessageException"),
            envelopes.undecryptable(None),
            envelopes.typing(author=author),
            envelopes.sync_sent("see you", author),
            envelopes.receipt([7], author=author, what="read"),
            {"envelope": {"timestamp": "soon"}, "account": envelopes.ACCOUNT},
            "[]",
            '{"envelope": ',
        ]
        return self._lots.choice(odd)

    def _kept(self, label: str, chat: Chat, author: Person, sort: Sort, frame: Frame) -> Letter:
        sent_at = frame["envelope"]["timestamp"]
        letter = Letter(label=label, chat=chat, author=author, sort=sort, sent_at=sent_at, frame=frame)
        self.letters[sent_at] = letter
        return letter

    def foreign(self, text: str, chat: Chat) -> set[str]:
        labels = {label for label in labels_in(text) if self.chats.get(label) is not chat}
        return labels | (set(CANARY.findall(text)) - {chat.canary})

    def told_in(self, log: str) -> set[str]:
        """What must not stand in a log: canaries, labels, phone numbers."""
        numbers = {person.number for person in (*self.crowd.people, *self.crowd.strangers) if person.number}
        return {*CANARY.findall(log), *labels_in(log), *(number for number in numbers if number in log)}


def canaries_in(files: Iterable[bytes]) -> set[str]:
    pattern = re.compile(CANARY.pattern.encode())
    return {found.decode() for data in files for found in pattern.findall(data)}


def _person(lots: random.Random, number: int) -> Person:
    number_known = f"+1555020{number:04d}" if lots.random() < 0.3 else None
    uuid = f"{lots.getrandbits(32):08x}-0000-4000-8000-{number:012x}"
    return Person(uuid=uuid, name=f"Person {number}", number=number_known)


def _direct(lots: random.Random, person: Person, *, is_listed: bool) -> Chat:
    return Chat(id=person.chat, members=(person,), canary=_canary(lots), is_listed=is_listed)


def _group(lots: random.Random, members: Sequence[Person], is_listed: bool) -> Chat:
    name = base64.b64encode(lots.randbytes(32)).decode()
    return Chat(id=f"group:{name}", members=tuple(members), canary=_canary(lots), is_listed=is_listed)


def _canary(lots: random.Random) -> str:
    return f"Zx{lots.getrandbits(40):010x}"
