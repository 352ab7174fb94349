"""Safety numbers: what is for somebody with a new one waits, the admins hear of it once, and trusting lets it go."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from bot.clock import SetClock
from bot.commands.phrases import BRIDGE_SILENT, HELP, ONLY_DIRECTLY, unknown_command
from bot.errors import CallRefused, Disconnected, Untrusted
from bot.events import PersonId, Reply, SentId
from bot.features.safety_numbers import phrases
from bot.i18n.language import use_language
from bot.policy.access import AccessList
from bot.transports.base import Contact, Group, Identity, MissedRecipient
from store import Store
from tests.bot.loops.app_harness import Berth, Port, app_harness
from tests.servers.envelopes import ALDIS, ALICE, BOB, CAROL, GROUP, MALLORY, Person, message, undecryptable
from tests.waiting import eventually_found

ADMINS = frozenset({BOB.uuid})


@dataclass
class Locks(Berth):
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
            self.missed.extend(
                MissedRecipient(person=PersonId(one), reason="untrusted") for one in sorted(members & untrusted)
            )
        return await super().send(reply)


def identity(person: Person, number: int = 1, *, is_trusted: bool = True) -> Identity:
    return Identity(
        person=PersonId(person.uuid),
        is_trusted=is_trusted,
        key=f"{person.uuid}-{number}",
        safety_number=f"{number:05d} 11111",
    )


@asynccontextmanager
async def locked(store: Store, clock: SetClock, **more: Any) -> AsyncGenerator[tuple[Port, Locks]]:
    """Aldis with Bob as an admin; everybody may write and has written."""
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
    async with app_harness(store, clock, transport=transport, admins=ADMINS, **more) as port:
        yield port, transport


async def greet(port: Port, *people: Person) -> None:
    """Let people write, and be answered."""
    for person in people:
        before = len(port.transport.sent)
        await port.deliver(message("hi", author=person))
        await port.answered(before + 1)


def texts(transport: Berth, person: Person) -> list[str]:
    return [reply.content.text for reply in transport.sent if reply.chat == person.chat]


def plain(sentence: str) -> str:
    """A sentence as it stands in Signal, where code is a style."""
    return sentence.replace("`", "")


async def label_of(port: Port, person: Person) -> str:
    return await port.store.read(lambda repos: repos.people.label(person.uuid, account=ALDIS.uuid))


async def held(port: Port) -> int:
    return await port.count("SELECT count(*) FROM holds")


async def hold(port: Port, transport: Locks, person: Person, text: str = "and now?") -> None:
    """Give the person a new key and let them ask."""
    transport.change(person)
    await port.deliver(message(text, author=person))
    await eventually_held(port, 1)


async def eventually_held(port: Port, count: int) -> None:
    async def is_so() -> bool:
        return await held(port) == count

    await eventually_found(is_so)


async def test_an_answer_is_held_until_an_admin_trusts_the_new_key(store: Store, clock: SetClock) -> None:
    """Nobody retries meanwhile, others are answered; the admin is told once, and the answer goes out once."""
    async with locked(store, clock) as (port, transport):
        await greet(port, ALICE, BOB)
        await hold(port, transport, ALICE)
        await greet(port, CAROL)
        [suspect] = await port.identities.look()
        label = await label_of(port, ALICE)
        assert (suspect.label, suspect.name, suspect.safety_number) == (label, ALICE.name, "00002 11111")
        await port.transport.until(lambda: len(texts(transport, BOB)) == 2)
        assert f"/trust {label}" in texts(transport, BOB)[1]
        assert ALICE.number is None or ALICE.number not in texts(transport, BOB)[1]
        assert await port.identities.look() == (suspect,)
        assert (await held(port), len(texts(transport, ALICE)), len(texts(transport, BOB))) == (1, 1, 2)
        await port.deliver(message(f"/trust {label}", author=BOB))
        await port.transport.until(lambda: len(texts(transport, ALICE)) == 2)
        await port.quiet()
        assert transport.trusted == [(ALICE.uuid, None)]
        assert texts(transport, ALICE) == ["re: hi", "re: and now?"]
        assert texts(transport, BOB)[2] == phrases.now_trusted(ALICE.name, label)
        assert await port.identities.look() == ()


async def test_trust_alone_lists_whom_with_the_number_to_compare(store: Store, clock: SetClock) -> None:
    """And says so where there is nobody."""
    async with locked(store, clock) as (port, transport):
        await greet(port, ALICE, BOB)
        await port.deliver(message("/trust", author=BOB))
        await port.transport.until(lambda: texts(transport, BOB)[-1] == phrases.NO_SUSPECTS.text)
        await hold(port, transport, ALICE)
        await port.deliver(message("/trust", author=BOB))
        await port.transport.until(lambda: "00002 11111" in texts(transport, BOB)[-1])
        assert await label_of(port, ALICE) in texts(transport, BOB)[-1]


async def test_only_admins_trust(store: Store, clock: SetClock) -> None:
    """To everybody else the command does not exist; the help lists it for admins alone, and no group reads of it."""
    async with locked(store, clock) as (port, transport):
        await greet(port, ALICE, BOB, CAROL)
        await hold(port, transport, ALICE)
        await port.identities.look()
        label = await label_of(port, ALICE)
        await port.deliver(message(f"/trust {label}", author=CAROL))
        await port.transport.until(lambda: texts(transport, CAROL)[-1] == plain(unknown_command("trust")))
        await port.deliver(message("/help", author=CAROL))
        await port.transport.until(lambda: plain(HELP.text) in texts(transport, CAROL)[-1])
        assert "/trust" not in texts(transport, CAROL)[-1]
        await port.deliver(message("/help trust", author=BOB))
        await port.transport.until(lambda: phrases.ABOUT_TRUST.text in texts(transport, BOB)[-1])
        await port.deliver(message(f"/trust {label}", author=BOB, group=GROUP))
        await port.transport.until(lambda: transport.sent[-1].content.text == ONLY_DIRECTLY.text)
        assert (transport.trusted, await held(port)) == ([], 1)


@pytest.mark.parametrize(
    ("name", "told"),
    [("beef1234", phrases.NOT_SUSPECT.text), (BOB.uuid, phrases.NOT_SUSPECT.text), ("", phrases.NO_SUSPECTS.text)],
)
async def test_a_wrong_label_trusts_nobody(store: Store, clock: SetClock, name: str, told: str) -> None:
    """Neither does one of somebody whose number has not changed."""
    async with locked(store, clock) as (port, transport):
        await greet(port, ALICE, BOB)
        if name:
            await hold(port, transport, ALICE)
        await port.deliver(message(f"/trust {name}", author=BOB))
        await port.transport.until(lambda: texts(transport, BOB)[-1] == plain(told))
        assert transport.trusted == []


async def test_a_second_change_while_held_has_to_be_looked_at_again(store: Store, clock: SetClock) -> None:
    """Whoever was told of one key does not trust another by it; the admins are told of that one, too."""
    async with locked(store, clock) as (port, transport):
        await greet(port, ALICE, BOB)
        await hold(port, transport, ALICE)
        await port.identities.look()
        label = await label_of(port, ALICE)
        clock.move(60)
        transport.change(ALICE, number=3)
        await port.deliver(message(f"/trust {label}", author=BOB))
        await port.transport.until(lambda: plain(phrases.TRUST_CHANGED_AGAIN.text) in texts(transport, BOB))
        await port.transport.until(lambda: sum(f"/trust {label}" in text for text in texts(transport, BOB)) == 2)
        assert (transport.trusted, await held(port)) == ([], 1)
        await port.deliver(message(f"/trust {label.upper()}", author=BOB))
        await port.transport.until(lambda: len(texts(transport, ALICE)) == 2)
        assert transport.trusted == [(ALICE.uuid, None)]


async def test_nobody_vouches_for_themselves(store: Store, clock: SetClock) -> None:
    """An admin with a new key may be somebody else by now: they are not told, and cannot trust it."""
    async with locked(store, clock) as (port, transport):
        await greet(port, ALICE, BOB)
        await hold(port, transport, BOB)
        await port.identities.look()
        verdict = await port.identities.trust(await label_of(port, BOB), by=PersonId(BOB.uuid))
        assert (verdict.kind, transport.trusted, len(texts(transport, BOB))) == ("own", [], 1)
        assert (await port.identities.trust(await label_of(port, BOB))).kind == "trusted"
        await port.transport.until(lambda: len(texts(transport, BOB)) == 2)


async def test_a_safety_number_that_was_compared_has_to_be_right(store: Store, clock: SetClock) -> None:
    """It is handed to the bridge, which refuses another one; then nothing is trusted and nothing let go."""
    async with locked(store, clock) as (port, transport):
        await greet(port, ALICE, BOB)
        await hold(port, transport, ALICE)
        label = await label_of(port, ALICE)
        transport.refuses = CallRefused("make sure the number is correct")
        await port.deliver(message(f"/trust {label} 1234", author=BOB))
        await port.transport.until(lambda: texts(transport, BOB)[-1] == phrases.TRUST_REFUSED.text)
        assert await held(port) == 1
        transport.refuses = None
        await port.identities.trust(label, safety_number="00002 11111")
        assert transport.trusted == [(ALICE.uuid, "00002 11111")]
        assert await held(port) == 0


async def test_the_policy_of_signals_apps_accepts_a_new_key(store: Store, clock: SetClock) -> None:
    """Except where the key before had been compared: then somebody is asked after all."""
    async with locked(store, clock, accepts_identities=True) as (port, transport):
        await greet(port, ALICE, BOB)
        await hold(port, transport, ALICE)
        assert await port.identities.look() == ()
        await port.transport.until(lambda: len(texts(transport, ALICE)) == 2)
        assert (transport.trusted, len(texts(transport, BOB))) == ([(ALICE.uuid, None)], 1)
        assert (await port.identities.trust(ALICE.uuid, safety_number="00002 11111")).kind == "trusted"
        transport.change(ALICE, number=3)
        await port.deliver(message("again", author=ALICE))
        await eventually_held(port, 1)
        [suspect] = await port.identities.look()
        assert (suspect.safety_number, len(transport.trusted)) == ("00003 11111", 2)


async def test_what_cannot_be_read_for_a_new_key_is_noticed(store: Store, clock: SetClock) -> None:
    """signal-cli keeps it: Aldis knows only that something came. It is told of, whoever may write; nobody else is."""
    access = AccessList(persons=frozenset({ALICE.uuid}), groups=frozenset(), admins=ADMINS)
    async with locked(store, clock, access=access) as (port, transport):
        await greet(port, BOB)
        transport.change(ALICE, MALLORY)
        for author in (ALICE, MALLORY):
            await port.deliver(undecryptable(author))
        await port.deliver(undecryptable(CAROL, reason="ProtocolInvalidMessageException"))
        await port.until(lambda: port.identities.has_noticed)
        [suspect] = await port.identities.look()
        assert suspect.person == ALICE.uuid
        await port.transport.until(lambda: len(texts(transport, BOB)) == 2)


async def test_what_the_bridge_does_not_know_yet_is_asked_for_again_but_not_for_ever(
    store: Store, clock: SetClock
) -> None:
    """signal-cli fetches the new key only after it has missed it."""
    async with locked(store, clock) as (port, transport):
        await greet(port, ALICE, BOB)
        await port.deliver(undecryptable(ALICE))
        await port.until(lambda: port.identities.has_noticed)
        assert (await port.identities.look(), port.identities.has_noticed) == ((), True)
        transport.change(ALICE)
        assert len(await port.identities.look()) == 1
        assert not port.identities.has_noticed
        port.identities.notice(PersonId(CAROL.uuid))
        for _ in range(10):
            assert port.identities.has_noticed
            await port.identities.look()
        assert not port.identities.has_noticed


async def test_a_member_whom_a_group_message_missed(store: Store, clock: SetClock) -> None:
    """The others read it once; who did not is told of, and does not get it later."""
    async with locked(store, clock) as (port, transport):
        await greet(port, BOB)
        transport.change(CAROL)
        await port.deliver(message("hi all", author=ALICE, group=GROUP, mention=True))
        await port.answered(2)
        await port.quiet()
        [suspect] = await port.identities.look()
        assert (suspect.person, await held(port)) == (CAROL.uuid, 0)
        await port.identities.trust(suspect.label)
        await port.quiet()
        assert sum(reply.chat == f"group:{GROUP}" for reply in transport.sent) == 1


async def test_a_group_in_which_no_key_is_trusted_is_held(store: Store, clock: SetClock) -> None:
    """As soon as one of them is trusted, it goes out to them."""
    async with locked(store, clock) as (port, transport):
        transport.change(ALICE, BOB, CAROL)
        await port.deliver(message("hi all", author=ALICE, group=GROUP, mention=True))
        await eventually_held(port, 1)
        suspects = await port.identities.look()
        assert {one.person for one in suspects} == {ALICE.uuid, BOB.uuid, CAROL.uuid}
        clock.move(600)
        await port.identities.look()
        assert (await held(port), transport.sent) == (1, [])
        await port.identities.trust(suspects[0].label)
        await port.answered(1)
        assert await held(port) == 0


async def test_a_key_that_was_trusted_elsewhere_lets_go(store: Store, clock: SetClock) -> None:
    """An operator may have said so to signal-cli itself."""
    async with locked(store, clock) as (port, transport):
        await greet(port, ALICE, BOB)
        await hold(port, transport, ALICE)
        await port.identities.look()
        transport.known_identities = [replace(one, is_trusted=True) for one in transport.known_identities]
        assert await port.identities.look() == ()
        await port.transport.until(lambda: len(texts(transport, ALICE)) == 2)


async def test_a_key_that_the_bridge_calls_trusted_is_not_tried_again_at_once(store: Store, clock: SetClock) -> None:
    """A bridge that refuses for a key and does not say which would else be asked without end."""
    async with locked(store, clock) as (port, transport):
        await greet(port, ALICE)
        transport.sends = [Untrusted("odd"), Untrusted("odd")]
        await port.deliver(message("and now?", author=ALICE))
        await eventually_held(port, 1)
        for _ in range(3):
            assert await port.identities.look() == ()
        assert (await held(port), len(transport.sends)) == (1, 1)
        clock.move(300)
        await port.identities.look()
        await port.transport.until(lambda: not transport.sends)
        await eventually_held(port, 1)


async def test_what_is_held_survives_a_restart(store: Store, clock: SetClock) -> None:
    """Nothing is sent at the start; the admins are not told again; trusting lets it go."""
    async with locked(store, clock) as (port, transport):
        await greet(port, ALICE, BOB)
        await hold(port, transport, ALICE)
        await port.identities.look()
        await port.transport.until(lambda: len(texts(transport, BOB)) == 2)
        await port.quiet_but(1)
    async with locked(store, clock) as (port, transport):
        transport.change(ALICE)
        [suspect] = await port.identities.look()
        await greet(port, CAROL)
        assert [reply.chat for reply in transport.sent] == [CAROL.chat]
        await port.identities.trust(suspect.label)
        await port.transport.until(lambda: texts(transport, ALICE) == ["re: and now?"])


async def test_what_is_held_too_long_is_given_up(store: Store, clock: SetClock) -> None:
    """After as long as signal-cli keeps what the person has written; what came since is kept."""
    async with locked(store, clock) as (port, transport):
        await greet(port, ALICE)
        await hold(port, transport, ALICE)
        clock.move(timedelta(days=10).total_seconds())
        await port.deliver(message("still there?", author=ALICE, sent_at=int(clock.now().timestamp() * 1000)))
        await port.quiet_but(2)
        clock.move(timedelta(days=5).total_seconds())
        await port.maintenance.tidy()
        rows = await port.store.read(lambda repos: repos.outbox.rows("SELECT state FROM outbox ORDER BY id"))
        assert rows == [("sent",), ("dead",), ("waiting",)]


async def test_a_bridge_that_does_not_answer_is_told(store: Store, clock: SetClock) -> None:
    """The admin tries again; what was noticed stays noticed."""
    async with locked(store, clock) as (port, transport):
        await greet(port, ALICE, BOB)
        transport.directory_fails = Disconnected("down")
        port.identities.notice(PersonId(ALICE.uuid))
        await port.deliver(message("/trust", author=BOB))
        await port.transport.until(lambda: texts(transport, BOB)[-1] == BRIDGE_SILENT.text)
        assert port.identities.has_noticed


async def test_an_admin_who_has_never_written_is_told_as_soon_as_they_do(store: Store, clock: SetClock) -> None:
    """Aldis knows no chat with them before; and speaks their language then."""
    async with locked(store, clock) as (port, transport):
        await greet(port, ALICE)
        await hold(port, transport, ALICE)
        await port.identities.look()
        await port.deliver(message("/language de", author=BOB))
        await port.transport.until(lambda: len(texts(transport, BOB)) == 1)
        await port.identities.look()
        await port.transport.until(lambda: len(texts(transport, BOB)) == 2)
        with use_language("de"):
            begin = phrases.identity_changed("BOB", "label").partition("BOB")[0]
        assert texts(transport, BOB)[1].startswith(begin)
