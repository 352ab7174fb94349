"""Safety numbers: what is for somebody with a new one waits, the admins hear of it once, and trusting lets it go."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bot.access.access import AccessList
from bot.clock import SetClock
from bot.errors import CallRefused, Untrusted
from bot.events import PersonId, Reply, SentId
from bot.features import safety_numbers
from bot.i18n.catalogues import say
from bot.signal.protocol import Contact, Group, Identity
from store import Store
from tests.bot.commands.test_commands import plain
from tests.bot.loops.app_harness import Harness, HarnessTransport, app_harness
from tests.servers.envelopes import ALDIS, ALICE, BOB, CAROL, GROUP, MALLORY, Person, message, undecryptable
from tests.waiting import eventually_found

ADMINS = frozenset({BOB.uuid})


@dataclass
class Locks(HarnessTransport):
    """A fake transport on which people have keys: what is for a key that is not trusted is refused."""

    def change(self, *people: Person, number: int = 2) -> None:
        for person in people:
            self.known_identities = [one for one in self.known_identities if one.person != person.uuid]
            self.known_identities.append(identity(person, number, is_trusted=False))

    def untrusted(self) -> set[str]:
        return {one.person for one in self.known_identities if not one.is_trusted}

    async def send(self, reply: Reply) -> SentId:
        untrusted = self.untrusted()
        if reply.chat.startswith("direct:") and reply.chat.removeprefix("direct:") in untrusted:
            raise Untrusted("new")
        if reply.chat.startswith("group:"):
            members = {person.uuid for person in (ALICE, BOB, CAROL)}
            if members <= untrusted:
                raise Untrusted("new")
            self.missed.extend(map(PersonId, sorted(members & untrusted)))
        return await super().send(reply)


def identity(person: Person, number: int = 1, *, is_trusted: bool = True) -> Identity:
    return Identity(
        person=PersonId(person.uuid),
        is_trusted=is_trusted,
        key=f"{person.uuid}-{number}",
        safety_number=f"{number:05d} 11111",
    )


@asynccontextmanager
async def locked(store: Store, clock: SetClock, **more: Any) -> AsyncGenerator[tuple[Harness, Locks]]:
    transport = Locks(
        known_identities=[identity(person) for person in (ALICE, BOB, CAROL)],
        known_contacts=tuple(
            Contact(person=PersonId(person.uuid), number=person.number, name=person.name)
            for person in (ALICE, BOB, CAROL)
        ),
        known_groups=(
            Group(id=GROUP, name="Garden", members=frozenset(PersonId(one.uuid) for one in (ALICE, BOB, CAROL, ALDIS))),
        ),
    )
    async with app_harness(store, clock, transport=transport, admins=ADMINS, **more) as aldis:
        yield aldis, transport


async def greet(aldis: Harness, *people: Person) -> None:
    for person in people:
        before = len(aldis.transport.sent)
        await aldis.deliver(message("hi", author=person))
        await aldis.answered(before + 1)


def texts(transport: HarnessTransport, person: Person) -> list[str]:
    return [reply.content.text for reply in transport.sent if reply.chat == person.chat]


async def label_of(aldis: Harness, person: Person) -> str:
    return await aldis.store.read(lambda repos: repos.people.label(person.uuid, account=ALDIS.uuid))


async def held(aldis: Harness) -> int:
    return await aldis.count("SELECT count(*) FROM holds")


async def hold(aldis: Harness, transport: Locks, person: Person, text: str = "and now?") -> None:
    transport.change(person)
    await aldis.deliver(message(text, author=person))
    await eventually_held(aldis, 1)


async def eventually_held(aldis: Harness, count: int) -> None:
    async def is_so() -> bool:
        return await held(aldis) == count

    await eventually_found(is_so)


async def test_an_answer_is_held_until_an_admin_trusts_the_new_key(store: Store, clock: SetClock) -> None:
    """Nobody retries meanwhile, others are answered; the admin is told once, and the answer goes out once."""
    async with locked(store, clock) as (aldis, transport):
        await greet(aldis, ALICE, BOB)
        await aldis.deliver(message("/trust", author=BOB))
        await aldis.transport.until(lambda: texts(transport, BOB)[-1] == safety_numbers.NO_SUSPECTS.text)
        await hold(aldis, transport, ALICE)
        await greet(aldis, CAROL)
        [suspect] = await aldis.identities.look()
        label = await label_of(aldis, ALICE)
        assert (suspect.label, suspect.name, suspect.safety_number) == (label, ALICE.name, "00002 11111")
        await aldis.transport.until(lambda: len(texts(transport, BOB)) == 3)
        assert f"/trust {label}" in texts(transport, BOB)[2]
        assert ALICE.number is None or ALICE.number not in texts(transport, BOB)[2]
        assert await aldis.identities.look() == (suspect,)
        assert (await held(aldis), len(texts(transport, ALICE)), len(texts(transport, BOB))) == (1, 1, 3)
        await aldis.deliver(message("/trust", author=BOB))
        await aldis.transport.until(
            lambda: {label, "00002", "11111"} <= set(re.findall(r"\w+", texts(transport, BOB)[-1]))
        )
        await aldis.deliver(message(f"/trust {label} 00002 11111", author=BOB))
        await aldis.transport.until(lambda: "/trust [LABEL]" in texts(transport, BOB)[-1])
        await aldis.deliver(message(f"/trust {label}", author=BOB))
        await aldis.until(lambda: transport.trusted == [ALICE.uuid])
        assert await aldis.identities.look() == ()
        await aldis.transport.until(lambda: len(texts(transport, ALICE)) == 2)
        await aldis.quiet()
        assert texts(transport, ALICE) == ["re: hi", "re: and now?"]
        assert texts(transport, BOB)[5] == say(safety_numbers.TRUSTED, name=f"{ALICE.name} ({label})")


async def test_a_second_change_while_held_has_to_be_looked_at_again(store: Store, clock: SetClock) -> None:
    """Whoever was told of one key does not trust another by it; the admins are told of that one, too."""
    async with locked(store, clock) as (aldis, transport):
        await greet(aldis, ALICE, BOB)
        await hold(aldis, transport, ALICE)
        await aldis.identities.look()
        label = await label_of(aldis, ALICE)
        clock.move(60)
        transport.change(ALICE, number=3)
        await aldis.deliver(message(f"/trust {label}", author=BOB))
        await aldis.transport.until(lambda: plain(safety_numbers.TRUST_CHANGED_AGAIN.text) in texts(transport, BOB))
        await aldis.transport.until(lambda: sum(f"/trust {label}" in text for text in texts(transport, BOB)) == 2)
        assert (transport.trusted, await held(aldis)) == ([], 1)
        await aldis.deliver(message(f"/trust {label.upper()}", author=BOB))
        await aldis.until(lambda: transport.trusted == [ALICE.uuid])


async def test_an_admin_with_a_new_key_is_not_told_of_it(store: Store, clock: SetClock) -> None:
    """They may be another person by now."""
    async with locked(store, clock) as (aldis, transport):
        await greet(aldis, BOB)
        transport.change(BOB)
        await aldis.deliver(undecryptable(BOB))
        await aldis.until(lambda: bool(aldis.identities._noticed))
        [suspect] = await aldis.identities.look()
        assert suspect.person == BOB.uuid
        assert await aldis.count("SELECT count(*) FROM outbox WHERE reply IS NOT NULL") == 0


async def test_trusting_one_lets_go_nothing_of_another(store: Store, clock: SetClock) -> None:
    """What waits for another person's key waits on, and is not tried in vain."""
    async with locked(store, clock) as (aldis, transport):
        await greet(aldis, ALICE, BOB, CAROL)
        await hold(aldis, transport, ALICE)
        transport.change(CAROL)
        await aldis.deliver(undecryptable(CAROL))
        await aldis.until(lambda: bool(aldis.identities._noticed))
        await aldis.identities.look()
        since = await aldis.count("SELECT held_at FROM holds")
        clock.move(600)
        (wakeup := store.wakeups["identities"]).clear()
        outcome, _ = await aldis.identities.trust(CAROL.uuid)
        assert (outcome, wakeup.is_set()) == (safety_numbers.TRUSTED, True)  # what waited for her goes out now
        await aldis.identities.look()
        assert await aldis.count("SELECT held_at FROM holds") == since


async def test_what_the_bridge_refuses_is_not_trusted(store: Store, clock: SetClock) -> None:
    """Nothing is let go then."""
    async with locked(store, clock) as (aldis, transport):
        await greet(aldis, ALICE, BOB)
        await hold(aldis, transport, ALICE)
        [suspect] = await aldis.identities.look()
        transport.refuses = CallRefused("unknown recipient")
        await aldis.deliver(message(f"/trust {suspect.label}", author=BOB))
        await aldis.transport.until(lambda: texts(transport, BOB)[-1] == safety_numbers.TRUST_REFUSED.text)
        assert await held(aldis) == 1


async def test_the_policy_of_signals_apps_accepts_a_new_key(store: Store, clock: SetClock) -> None:
    """Without a question, and what was held goes out; only what the bridge refuses is put to the admins."""
    async with locked(store, clock, accepts_identities=True) as (aldis, transport):
        await greet(aldis, ALICE, BOB)
        await hold(aldis, transport, ALICE)
        assert await aldis.identities.look() == ()
        await aldis.transport.until(lambda: len(texts(transport, ALICE)) == 2)
        assert (transport.trusted, len(texts(transport, BOB))) == ([ALICE.uuid], 1)
        transport.refuses = CallRefused("unknown recipient")
        transport.change(ALICE, number=3)
        await aldis.deliver(message("again", author=ALICE))
        await eventually_held(aldis, 1)
        [suspect] = await aldis.identities.look()
        assert (suspect.safety_number, await held(aldis)) == ("00003 11111", 1)


async def test_what_cannot_be_read_for_a_new_key_is_noticed(store: Store, clock: SetClock) -> None:
    """signal-cli keeps it: Aldis knows only that something came. It is told of, whoever may write; nobody else is."""
    access = AccessList(persons=frozenset({ALICE.uuid}), groups=frozenset(), admins=ADMINS)
    async with locked(store, clock, access=access) as (aldis, transport):
        await greet(aldis, BOB)
        transport.change(ALICE, MALLORY)
        for author in (ALICE, MALLORY):
            await aldis.deliver(undecryptable(author))
        await aldis.deliver(undecryptable(CAROL, reason="ProtocolInvalidMessageException"))
        await aldis.until(lambda: bool(aldis.identities._noticed))
        [suspect] = await aldis.identities.look()
        assert suspect.person == ALICE.uuid
        await aldis.transport.until(lambda: len(texts(transport, BOB)) == 2)
