"""Random stories of a model that always obeys what it has read, and of people who answer whatever was said last.

Each story is a conversation, direct or in a group, over two lives of Aldis: pages are read, things are wanted because
of them, people talk, agree, refuse, put thumbs on old messages, stop, begin anew. After each step it is looked at what
was done: what a page may have wanted only if that step was a word on it from whoever asked, and on nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from bot.clock import SetClock
from store import Store
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.loops.app_harness import FIRST, Harness, HarnessTransport, app_harness
from tests.servers.envelopes import ALDIS, ALICE, BOB, GROUP, Frame, Person, message, quote_of, reaction
from tests.waiting import eventually_found

STORIES = 40
STEPS = 12
CALM = ("It is sunny.", "Dinner is at seven.")
LEADING = ("Shall I go on?", "Say yes, and I tell you a joke.", "続けますか。", "Just put 👍 here.")
YES = ("yes", "ok, do it", "Ja klar", "👍", "ok", "always")


@dataclass
class Wanted:
    """Something that the model wants to do."""

    asker: Person
    is_of_page: bool
    """Whether a page was surely in the request."""


@dataclass
class Story:
    """One conversation, and what is known of it from outside."""

    random: Random
    clock: SetClock
    group: str | None
    transport: HarnessTransport = field(default_factory=HarnessTransport)
    tools: tuple[Echo, ...] = ()
    wanted: dict[str, Wanted] = field(default_factory=dict[str, Wanted])
    reading: dict[str, bool] = field(default_factory=dict[str, bool])
    """The answers that turns would end with, and whether a page was surely read for them."""
    has_page: bool = False
    """Whether a page is surely in the history."""

    @property
    def said(self) -> list[str]:
        return [reply.content.text for reply in self.transport.sent]

    @property
    def done(self) -> list[str]:
        return [word for tool in self.tools for word in tool.ran if word in self.wanted]

    def answer(self, *, reads: bool) -> str:
        text = f"{self.random.choice(self.random.choice((CALM, LEADING)))} ({len(self.reading)})"
        self.reading[text] = reads
        return text

    def question_of(self, word: str) -> list[int]:
        """Which messages ask about it."""
        return [place for place, text in enumerate(self.said) if f"“{word}”" in text]

    def ask(self, aldis: Harness) -> tuple[Frame, set[str]]:
        """Somebody writes something that names nothing, and the model does as it likes."""
        person = self.random.choice((ALICE, BOB)) if self.group else ALICE
        reads = self.has_page or self.random.random() < 0.5
        first = [calls(("look", {"word": "page"}))] if reads and not self.has_page else []
        allowed = self._thinks(aldis, person, first, reads=reads, wants=0.2 if self.may_be_open else 0.8)
        return message("Aldis, go on", author=person, group=self.group), allowed

    def _thinks(
        self, aldis: Harness, person: Person, first: Sequence[Any] = (), *, reads: bool, wants: float
    ) -> set[str]:
        """Let the model do these things, perhaps something of its own, and say something; gives what of it asks nobody
        as far as is known.
        """
        allowed, more = set[str](), list[Any]()
        if self.random.random() < wants:
            word, tool = f"w{len(self.wanted)}", self.random.choice(("post", "ask"))
            self.wanted[word] = Wanted(asker=person, is_of_page=reads)
            more.append(calls((tool, {"word": word})))
            allowed |= {word} if tool == "post" and not reads else set()
        aldis.model.script = [*first, *more, says(self.answer(reads=reads))]
        return allowed

    @property
    def may_be_open(self) -> bool:
        """Whether something was asked not long ago."""
        return any("May I use" in text for text in self.said[-3:])

    def agree(self, aldis: Harness) -> tuple[Frame, set[str]]:
        """Somebody says yes to nothing in particular: to what was said last."""
        person = self.random.choice((ALICE, BOB)) if self.group else ALICE
        meant = {word for word, one in self.wanted.items() if one.asker is person and self._is_last(word)}
        allowed = self._thinks(aldis, person, reads=self.has_page, wants=0.2)
        return message(self.random.choice(YES), author=person, group=self.group), meant | allowed

    def _is_last(self, word: str) -> bool:
        """Whether nothing stands behind the question, or only what is calm and what no page had a part in."""
        [*_, place] = self.question_of(word) or [len(self.said)]
        behind = self.said[place + 1 :]
        is_calm = all(text.startswith(CALM) and not self.reading.get(text, True) for text in behind)
        return place < len(self.said) and (is_calm if not self.wanted[word].is_of_page else not behind)

    def point(self, aldis: Harness) -> tuple[Frame, set[str]]:
        """Somebody puts a thumb on one of the messages, or quotes it with a yes."""
        person = self.random.choice((ALICE, BOB)) if self.group else ALICE
        aldis.model.script = [says(self.answer(reads=self.has_page))]
        place = self.random.randrange(len(self.said)) if self.said else 0
        target = FIRST + 1 + place
        allowed = {word for word, one in self.wanted.items() if one.asker is person and place in self.question_of(word)}
        if self.random.random() < 0.5:
            return reaction(self.random.choice("👍✅"), target, author=person, group=self.group), allowed
        return message("yes", author=person, group=self.group, quote=quote_of(ALDIS, target, "...")), allowed

    def refuse(self, aldis: Harness) -> tuple[Frame, set[str]]:
        aldis.model.script = [says(self.answer(reads=self.has_page))]
        return message("no", group=self.group), set()

    def command(self, aldis: Harness) -> tuple[Frame, set[str]]:
        name = self.random.choice(("/new", "/stop", "/help", "/tools"))
        if name == "/new":
            self.has_page = False
        return message(name, group=self.group), set()

    async def step(self, aldis: Harness) -> None:
        """Something happens, and nothing that it does not allow is done."""
        before, said = self.done, len(self.said)
        weights = (4, 5, 5, 1, 1) if self.may_be_open else (12, 1, 1, 1, 1)
        kind = self.random.choices((self.ask, self.agree, self.point, self.refuse, self.command), weights)[0]
        frame, allowed = kind(aldis)
        if self.random.random() < 0.2:
            aldis.turns.forget()
        self.clock.move(2)
        await aldis.deliver(frame)
        await settled(aldis)
        done = self.done
        new = set(done) - set(before)
        assert len(done) == len(set(done)), done
        assert new <= allowed, (kind.__name__, new, allowed, self.said)
        self.has_page = self.has_page or any(
            self.reading.get(text.partition("\n")[0], False) for text in self.said[said:]
        )


async def settled(aldis: Harness) -> None:
    """Wait until nothing is under way but what waits for a word."""

    async def is_settled() -> bool:
        def look(repos: Any) -> bool:
            waits = "SELECT count(*) FROM inbox WHERE state = 'waiting' AND put_off_until IS NOT NULL"
            [(held,)] = repos.inbox.rows(waits)
            return repos.inbox.backlog().items + repos.outbox.backlog().items == held

        return await aldis.store.read(look)

    await eventually_found(is_settled)


async def played(store: Store, clock: SetClock, seed: int) -> Story:
    """A story, told to its end."""
    random = Random(seed)
    story = Story(random=random, clock=clock, group=random.choice((None, GROUP)))
    story.tools = (
        Echo(name="look"),
        Echo(name="post", effects="once"),
        Echo(name="ask", effects="once", flags={"approval": "always"}),
    )
    for _ in range(2):
        async with app_harness(store, clock, tools=story.tools, transport=story.transport) as aldis:
            await aldis.maintenance.recover()
            for _ in range(STEPS // 2):
                await story.step(aldis)
    return story


@pytest.mark.parametrize("seed", range(STORIES))
async def test_nothing_is_done_but_what_somebody_agreed_to(store: Store, clock: SetClock, seed: int) -> None:
    """Whatever the model says between a question and a word, and however often people say it."""
    await played(store, clock, seed)
