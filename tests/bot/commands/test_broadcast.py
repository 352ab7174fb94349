"""One message to everybody: only to those who wrote before and may still write, only after a second word, only once."""

from collections.abc import Callable

import pytest

from bot.access.access import AccessList
from bot.clock import SetClock
from bot.commands import phrases
from bot.errors import Disconnected
from bot.events import PersonId
from bot.i18n.catalogues import say
from bot.signal.protocol import Contact, Group
from store import Store
from tests.bot.commands.test_commands import plain, told
from tests.bot.loops.app_harness import Harness, app_harness
from tests.servers.envelopes import ALDIS, ALICE, BOB, CAROL, GROUP, MALLORY, Frame, Person, delete, edit, message

ADMINS = frozenset({BOB.uuid})
NEWS = "Tomorrow I am down for an hour."
LISTED = AccessList(
    persons=frozenset({ALICE.uuid, BOB.uuid, CAROL.uuid, MALLORY.uuid}), groups=frozenset({GROUP}), admins=ADMINS
)


async def everybody(aldis: Harness, *people: Person) -> None:
    """These have written before, and so has the group; the bridge knows them all and a second group."""
    for person in people:
        await aldis.deliver(message("hi", author=person))
    await aldis.process(message("Aldis, hi", author=ALICE, group=GROUP))
    everyone = (ALICE, BOB, CAROL, MALLORY)
    aldis.transport.known_contacts = tuple(
        Contact(person=PersonId(p.uuid), number=p.number, name=None) for p in everyone
    )
    aldis.transport.known_groups = (
        Group(id=GROUP, name="Garden club", members=frozenset()),
        Group(id="b3RoZXI=", name="Others", members=frozenset()),
    )


async def test_a_broadcast_reaches_who_wrote_before_and_may_still_write(store: Store, clock: SetClock) -> None:
    """Asked first, with how many that are; not to whom it is given by, not to contacts who never wrote."""
    async with app_harness(store, clock, access=LISTED) as aldis:
        await everybody(aldis, ALICE, MALLORY, BOB)
    allowed = AccessList(persons=LISTED.persons - {MALLORY.uuid}, groups=LISTED.groups, admins=ADMINS)
    async with app_harness(store, clock, access=allowed) as aldis:
        await everybody(aldis)
        before = len(aldis.transport.sent)
        assert await told(aldis, f"/broadcast {NEWS}", author=BOB) == plain(phrases.broadcast_asks(1, 1, NEWS))
        await aldis.quiet()
        assert len(aldis.transport.sent) == before + 1
        clock.move(2)
        await aldis.process(message("yes", author=BOB))
        news = [reply.chat for reply in aldis.transport.sent if reply.content.text == NEWS]
        assert sorted(news) == [ALICE.chat, f"group:{GROUP}"]
        assert say(phrases.BROADCAST_DONE, count=2) in [reply.content.text for reply in aldis.transport.sent]
        assert await told(aldis, "yes", author=BOB) == "re: yes"


async def test_a_second_word_is_good_for_ten_minutes_and_until_a_restart(store: Store, clock: SetClock) -> None:
    """After that nobody is sure any more what it was about."""
    async with app_harness(store, clock, access=LISTED) as aldis:
        await everybody(aldis, ALICE)
        await told(aldis, f"/broadcast {NEWS}", author=BOB)
        clock.move(601)
        assert await told(aldis, "yes", author=BOB) == "re: yes"
        await told(aldis, f"/broadcast {NEWS}", author=BOB)
    async with app_harness(store, clock, access=LISTED) as aldis:
        assert await told(aldis, "yes", author=BOB) == "re: yes"
        assert NEWS not in [reply.content.text for reply in aldis.transport.sent]


async def test_only_admins_speak_to_everybody_and_not_from_a_group(store: Store, clock: SetClock) -> None:
    """For all others there is no such command; who let nobody in has nobody to tell."""
    async with app_harness(store, clock, access=LISTED) as aldis:
        aldis.transport.known_groups = ()
        assert await told(aldis, f"/broadcast {NEWS}") == plain(phrases.unknown_command("broadcast"))
        assert await told(aldis, f"/broadcast {NEWS}", author=BOB, group=GROUP) == phrases.ONLY_DIRECTLY.text
        assert await told(aldis, "/broadcast", author=BOB) == plain(phrases.wrong_form("broadcast", ()))
        assert await told(aldis, f"/broadcast {NEWS}", author=BOB) == phrases.NOBODY_TO_TELL.text


@pytest.mark.parametrize(
    ("takes_back", "answers"), [(delete, 0), (lambda sent, author: edit("/help", sent, author=author), 1)]
)
async def test_a_broadcast_whose_words_are_taken_back_is_not_sent(
    store: Store, clock: SetClock, takes_back: Callable[..., Frame], answers: int
) -> None:
    """Before the second word, and after it as far as it has not gone out."""
    async with app_harness(store, clock, access=LISTED) as aldis:
        await everybody(aldis, ALICE)
        sent = await aldis.process(message(f"/broadcast {NEWS}", author=BOB))
        await aldis.process(takes_back(sent, author=BOB))
        assert await told(aldis, "yes", author=BOB) == "re: yes"
        sent = await aldis.process(message(f"/broadcast {NEWS}", author=BOB))
        aldis.transport.sends = [Disconnected("refused")] * 3
        clock.move(2)
        await aldis.deliver(message("yes", author=BOB))
        await aldis.until(lambda: not aldis.transport.sends)
        await aldis.deliver(takes_back(sent, author=BOB))
        await aldis.quiet_but(1 + answers)  # what the admin is told of it, and of the command
        clock.move(600)
        await aldis.quiet()
        assert NEWS not in [reply.content.text for reply in aldis.transport.sent]


async def test_a_broadcast_disappears_with_its_message(store: Store, clock: SetClock) -> None:
    """A yes that comes after its timer has run out sends nothing."""
    async with app_harness(store, clock, access=LISTED) as aldis:
        await everybody(aldis, ALICE)
        await aldis.process(message(f"/broadcast {NEWS}", author=BOB, expires_in_seconds=60))
        clock.move(61)
        await aldis.process(message("yes", author=BOB))
        assert NEWS not in [reply.content.text for reply in aldis.transport.sent]


@pytest.mark.parametrize("takes_back", [delete, lambda sent, author: edit("/help", sent, author=author)])
async def test_an_edited_broadcast_takes_the_place_of_the_former(
    store: Store, clock: SetClock, takes_back: Callable[..., Frame]
) -> None:
    """Nobody gets its former words; and it goes with its message, by whichever of its times that is named."""
    async with app_harness(store, clock, access=LISTED) as aldis:
        await everybody(aldis, ALICE)
        for is_taken_back in (False, True):
            sent = await aldis.process(message("/broadcast Tomorow", author=BOB))
            await aldis.process(edit(f"/broadcast {NEWS}", sent, author=BOB))
            if is_taken_back:
                await aldis.process(takes_back(sent, author=BOB))
            clock.move(2)
            await aldis.process(message("yes", author=BOB))
        said = [reply.content.text for reply in aldis.transport.sent]
        assert (said.count(NEWS), said.count("Tomorow"), said[-1]) == (2, 0, "re: yes")


async def test_who_was_shut_out_since_the_first_word_is_not_told(store: Store, clock: SetClock) -> None:
    """Who may write is decided when it is sent."""
    listed = AccessList(persons=frozenset({ALICE.uuid}), groups=frozenset(), admins=ADMINS)
    async with app_harness(store, clock, access=LISTED) as aldis:
        await everybody(aldis, ALICE, CAROL)
    async with app_harness(store, clock, access=listed) as aldis:
        await everybody(aldis)
        await store.transaction(
            lambda repos: repos.people.allow(CAROL.uuid, account=ALDIS.uuid, by=BOB.uuid, now=clock.now())
        )
        assert "goes to 2 people:" in await told(aldis, f"/broadcast {NEWS}", author=BOB)
        await store.transaction(lambda repos: repos.people.deny(CAROL.uuid, account=ALDIS.uuid))
        clock.move(2)
        await aldis.process(message("yes", author=BOB))
        assert [reply.chat for reply in aldis.transport.sent if reply.content.text == NEWS] == [ALICE.chat]
        assert say(phrases.BROADCAST_DONE, count=1) in [reply.content.text for reply in aldis.transport.sent]
