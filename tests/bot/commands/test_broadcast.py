"""One message to everybody: only to those who wrote before and may still write, only after a yes, only once."""

from bot.access.access import AccessList
from bot.clock import SetClock
from bot.commands import phrases
from bot.errors import Disconnected
from bot.events import PersonId
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.signal.protocol import Contact, Group
from store import Erasure, Store
from tests.bot.commands.test_commands import ask, plain
from tests.bot.loops.app_harness import FIRST, Harness, app_harness
from tests.servers.envelopes import ALICE, BOB, CAROL, GROUP, MALLORY, Person, delete, message, reaction

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
        for words in (f"{NEWS} yes", NEWS):
            asked = await ask(aldis, f"/broadcast {words}", author=BOB)
            assert asked == f"That goes to 1 person and 1 group: {words}\n\nSend it?"
        question = FIRST + len(aldis.transport.sent)
        clock.move(2)
        await aldis.process(message("yes", author=BOB))
        await aldis.process(reaction("👍", question, author=BOB))
        news = [reply.chat for reply in aldis.transport.sent if reply.content.text == NEWS]
        assert sorted(news) == [ALICE.chat, f"group:{GROUP}"]
        assert say(phrases.BROADCAST_DONE, count=2) in [reply.content.text for reply in aldis.transport.sent]
        assert await ask(aldis, "yes", author=BOB) == "re: yes"
        await ask(aldis, f"/broadcast {NEWS}", author=BOB)
        clock.move(2)
        assert await ask(aldis, "no", author=BOB) == common_phrases.NOT_DONE.text


async def test_only_admins_speak_to_everybody_and_not_from_a_group(store: Store, clock: SetClock) -> None:
    """For all others there is no such command; who let nobody in has nobody to tell."""
    async with app_harness(store, clock, access=LISTED) as aldis:
        aldis.transport.known_groups = ()
        assert await ask(aldis, f"/broadcast {NEWS}") == plain(phrases.unknown_command("broadcast"))
        assert await ask(aldis, f"/broadcast {NEWS}", author=BOB, group=GROUP) == phrases.ONLY_DIRECTLY.text
        assert await ask(aldis, "/broadcast", author=BOB) == "Please write it like this: /broadcast TEXT"
        assert await ask(aldis, f"/broadcast {NEWS}", author=BOB) == phrases.NOBODY_TO_TELL.text


async def test_a_broadcast_whose_words_are_taken_back_is_not_sent(store: Store, clock: SetClock) -> None:
    """Before the yes, and after it as far as it has not gone out."""
    async with app_harness(store, clock, access=LISTED) as aldis:
        await everybody(aldis, ALICE)
        sent = await aldis.process(message(f"/broadcast {NEWS}", author=BOB))
        await aldis.process(delete(sent, author=BOB))
        assert await ask(aldis, "yes", author=BOB) == "re: yes"
        sent = await aldis.process(message(f"/broadcast {NEWS}", author=BOB))
        aldis.transport.sends = [Disconnected("refused")] * 3
        clock.move(2)
        await aldis.deliver(message("yes", author=BOB))
        await aldis.until(lambda: not aldis.transport.sends)
        await aldis.deliver(delete(sent, author=BOB))
        await aldis.quiet_but(1)  # what the admin is told of it
        clock.move(600)
        await aldis.quiet()
        assert NEWS not in [reply.content.text for reply in aldis.transport.sent]


async def test_whoami_tells_how_somebody_is_known(store: Store, clock: SetClock) -> None:
    """Name and id as the settings and commands want them, admin or not, and in a group its id."""
    async with app_harness(store, clock, admins=ADMINS) as aldis:
        shown = await ask(aldis, "/whoami")
        assert f"Your name here: {ALICE.name}" in shown
        assert ALICE.uuid in shown
        shown = await ask(aldis, "/whoami", author=BOB, group=GROUP)
        assert "You're one of my admins." in shown
        assert GROUP in shown


async def test_groups_are_shown_as_the_settings_want_them(store: Store, clock: SetClock) -> None:
    """To admins, in their own chat; they read of a bridge that does not answer."""
    async with app_harness(store, clock, admins=ADMINS) as aldis:
        aldis.transport.known_groups = ()
        assert await ask(aldis, "/groups", author=BOB) == phrases.NO_GROUPS.text
        evil = "[*log in*](https://evil.example)"
        groups = [
            Group(id=one, name=name, members=frozenset())
            for one, name in ((GROUP, "Garden club"), ("b3RoZXI=", "Others"), ("bmV3", "New"), ("ZXZpbA==", evil))
        ]
        aldis.transport.known_groups, aldis.transport.known_invitations = tuple(groups[:2]), groups[2:]
        joined = f"• ✓ Garden club: {GROUP}\n• ✗ Others: b3RoZXI=\n"
        invitation = plain(phrases.GROUP_INVITATION.text)
        hostile = f"• ✗ [*log in*] (https[:]//evil[.]example): ZXZpbA== {invitation}"
        assert await ask(aldis, "/groups", author=BOB) == f"{joined}• ✗ New: bmV3 {invitation}\n{hostile}"
        assert await ask(aldis, "/groups", author=BOB, group=GROUP) == phrases.ONLY_DIRECTLY.text
        assert await ask(aldis, "/groups") == plain(phrases.unknown_command("groups"))


async def test_what_was_said_in_a_former_group_can_be_forgotten(store: Store, clock: SetClock) -> None:
    """By an admin who knows its id; a turn that still runs there ends with it, and nothing else is forgotten."""
    async with app_harness(store, clock, admins=ADMINS) as aldis:
        await ask(aldis, "Aldis, the code is lantern 4711.", group=GROUP)
        await ask(aldis, "My code is 1.")
        await ask(aldis, "Your code is 2.", author=BOB)
        await aldis.held("slow", message("Aldis, a slow one.", group=GROUP))
        aldis.transport.known_groups = ()
        assert await ask(aldis, f"/groups forget {GROUP}") == plain(phrases.unknown_command("groups"))
        assert await ask(aldis, "/groups forget b3RoZXI=", author=BOB) == phrases.UNKNOWN_GROUP.text
        assert (await ask(aldis, f"/groups remove {GROUP}", author=BOB)).startswith(
            "Please write it like this: /groups"
        )
        assert await ask(aldis, f"/groups forget `{GROUP}`", author=BOB) == phrases.forget_reply(Erasure(turns=1))
        await aldis.quiet()
        assert await aldis.count("SELECT count(DISTINCT conversation_id) FROM history") == 2
        await ask(aldis, "Aldis, what is the code?", group=GROUP)
        assert "lantern" not in str(aldis.model.requests[-1])
