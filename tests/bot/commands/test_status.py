"""Where things stand: what is under way, who asks, and what admins see of groups and money."""

import asyncio

from bot.clock import SetClock
from bot.commands import phrases
from bot.signal.protocol import Group
from store import Erasure, Store
from tests.bot.commands.test_commands import ask, plain
from tests.bot.loops.app_harness import app_harness
from tests.servers.envelopes import ALICE, BOB, GROUP, message

ADMINS = frozenset({BOB.uuid})


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
    """To admins, in their own chat; a bridge that does not answer is told."""
    async with app_harness(store, clock, admins=ADMINS) as aldis:
        aldis.transport.known_groups = ()
        assert await ask(aldis, "/groups", author=BOB) == phrases.NO_GROUPS.text
        aldis.transport.known_groups = (
            Group(id=GROUP, name="Garden club", members=frozenset()),
            Group(id="b3RoZXI=", name="Others", members=frozenset()),
        )
        assert await ask(aldis, "/groups", author=BOB) == f"• ✓ Garden club: {GROUP}\n• ✗ Others: b3RoZXI="
        aldis.transport.known_invitations = [Group(id="bmV3", name="New", members=frozenset())]
        aldis.transport.known_invitations += [
            Group(id="ZXZpbA==", name="[*log in*](https://evil.example)", members=frozenset())
        ]
        *_, shown, hostile = (await ask(aldis, "/groups", author=BOB)).splitlines(keepends=True)
        assert hostile.startswith("• ✗ [*log in*] (https[:]//evil[.]example): ZXZpbA==")
        shown = f"\n{shown.rstrip()}"
        assert shown.endswith(f"\n• ✗ New: bmV3 {plain(phrases.GROUP_INVITATION.text)}")
        assert await ask(aldis, "/groups", author=BOB, group=GROUP) == phrases.ONLY_DIRECTLY.text
        assert await ask(aldis, "/groups") == plain(phrases.unknown_command("groups"))


async def test_what_was_said_in_a_former_group_can_be_forgotten(store: Store, clock: SetClock) -> None:
    """By an admin who knows its id; a turn that still runs there ends with it, and nothing else is forgotten."""
    async with app_harness(store, clock, admins=ADMINS) as aldis:
        await ask(aldis, "Aldis, the code is lantern 4711.", group=GROUP)
        await ask(aldis, "My code is 1.")
        await ask(aldis, "Your code is 2.", author=BOB)
        aldis.model.gates["slow"] = asyncio.Event()
        await aldis.deliver(message("Aldis, a slow one.", group=GROUP))
        await aldis.asked(4)
        aldis.transport.known_groups = ()
        assert await ask(aldis, f"/groups forget {GROUP}") == plain(phrases.unknown_command("groups"))
        assert await ask(aldis, "/groups forget b3RoZXI=", author=BOB) == phrases.UNKNOWN_GROUP.text
        assert (await ask(aldis, f"/groups remove {GROUP}", author=BOB)).startswith("I can't read that.")
        assert await ask(aldis, f"/groups forget `{GROUP}`", author=BOB) == phrases.forget_reply(Erasure(turns=1))
        await aldis.quiet()
        assert await aldis.count("SELECT count(DISTINCT conversation_id) FROM history") == 2
        await ask(aldis, "Aldis, what is the code?", group=GROUP)
        assert "lantern" not in str(aldis.model.requests[-1])
