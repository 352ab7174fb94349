"""What a person has allowed for good in a chat is not asked about again: only there, only for them, only that tool."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from bot.clock import SetClock
from bot.commands import phrases
from store import Store
from tests.bot.commands.test_commands import plain, told
from tests.bot.loops.app_harness import FIRST, Port, app_harness
from tests.bot.turn.turn_helpers import Echo, calls, contents, says
from tests.servers.envelopes import ALDIS, ALICE, BOB, GROUP, message, quote_of, reaction
from tools.reminders import Remind

GOOD = {"allows_always": True}
REMIND = ("remind", {"action": "set", "text": "call Mallory", "delay_seconds": 60})
OFFER = "✅ (always, for post when you ask here)"


def tools(**more: Any) -> tuple[Echo, Echo]:
    """One that brings words from outside, and one that may be allowed for good."""
    given: dict[str, Any] = {"name": "post", "effects": "once", "flags": GOOD, "cost_usd": Decimal(0)}
    post = Echo(**(given | more))
    return Echo(name="look"), post


async def poisoned(port: Port, *script: Any, **more: Any) -> str:
    """A page is read, and wants something done; gives what the person hears."""
    port.thinker.script = [calls(("look", {"word": "page"})), *script, says("Very well.")]
    heard = await told(port, "Aldis, read the page.", **more)
    await port.quiet_but(1 if heard.startswith("May I") else 0)
    return heard


async def allow(port: Port, **more: Any) -> str:
    """Put the sign for always on what was asked last; gives what is answered."""
    sent = len(port.transport.sent)
    await port.deliver(reaction("✅", FIRST + sent, **more))
    await port.answered(sent + 1)
    await port.quiet()
    return port.transport.sent[-1].content.text


POST = calls(("post", {"word": "x"}))


@pytest.mark.parametrize("group", [None, GROUP])
async def test_it_is_asked_once(store: Store, clock: SetClock, group: str | None) -> None:
    """Until it is taken back; `/tools` lists it, an export has it, a new conversation and a restart leave it."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post)) as port:
        assert OFFER in await poisoned(port, POST, group=group)
        assert (await allow(port, group=group)).startswith("Very well.\n\n(From now on I'll use post without asking")
        assert await poisoned(port, POST, group=group) == "Very well."
        await told(port, "/new", group=group)
        assert "post: allowed without asking" in await told(port, "/tools", group=group)
        assert "post: allowed without asking" in await told(port, "/export", group=group)
    async with app_harness(store, clock, tools=(look, post)) as port:
        assert await poisoned(port, POST, group=group) == "Very well."
        assert post.ran == ["x", "x", "x"]
        assert await told(port, "/tools revoke post", group=group) == "I'll ask you about post again."
        assert await told(port, "/tools revoke post", group=group) == phrases.NOT_ALLOWED.text
        assert OFFER in await poisoned(port, POST, group=group)
        assert post.ran == ["x", "x", "x"]


async def test_what_has_changed_since_is_not_listed(store: Store, clock: SetClock) -> None:
    """It asks again, so `/tools` does not call it allowed; one that is only away is."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post)) as port:
        await poisoned(port, POST)
        await allow(port)
    for there, is_listed in (((look,), True), ((look, replace(post, discloses=True)), False)):
        async with app_harness(store, clock, tools=there) as port:
            assert ("post: allowed without asking" in await told(port, "/tools")) is is_listed


@pytest.mark.parametrize("words", ["always", "Ja, immer!", "Oui, toujours.", "Sí, siempre", "✅"])
async def test_it_can_be_said(store: Store, clock: SetClock, words: str) -> None:
    """Plainly, while one question is open, in all languages."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post)) as port:
        await poisoned(port, POST)
        clock.move(2)
        await told(port, words)
        assert post.ran == ["x"]
        assert await poisoned(port, POST) == "Very well."


async def test_a_plain_yes_is_for_once(store: Store, clock: SetClock) -> None:
    """As is a thumb."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post)) as port:
        await poisoned(port, POST)
        await port.deliver(reaction("👍", FIRST + 1))
        await port.answered(2)
        await port.quiet()
        assert (await poisoned(port, POST)).startswith("May I")


async def test_it_holds_for_nobody_else_and_nowhere_else(store: Store, clock: SetClock) -> None:
    """Not for another member of the group, not in another chat; an admin allows nothing for good in another's name."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post), admins=frozenset({BOB.uuid})) as port:
        await poisoned(port, POST, group=GROUP)
        await allow(port, group=GROUP)
        assert (await poisoned(port, POST)).startswith("May I")
        await told(port, "/stop")
        assert (await poisoned(port, POST, group=GROUP, author=BOB)).startswith("May I")
        await told(port, "/stop", group=GROUP)
        await told(port, "/tools revoke post", group=GROUP)
        await poisoned(port, POST, group=GROUP)
        assert await allow(port, group=GROUP, author=BOB) == "Very well."  # for once
        assert (await poisoned(port, POST, group=GROUP)).startswith("May I")
        assert post.ran == ["x", "x"]


async def test_two_who_ask_together_allow_nothing_for_good(store: Store, clock: SetClock) -> None:
    """What one of them says would hold for the words of the other."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post)) as port:
        pass
    await port.deliver(message("Aldis, read it.", author=BOB, group=GROUP))
    await port.deliver(message("Aldis, read the page.", group=GROUP))
    async with app_harness(store, clock, tools=(look, post)) as port:
        port.thinker.script = [calls(("look", {"word": "page"})), POST, says("Very well.")]
        [question] = await port.answered(1)
        assert "👍" in question.content.text
        assert "✅" not in question.content.text


@pytest.mark.parametrize(
    "more",
    [
        {"flags": {}},
        {"cost_usd": Decimal("0.01")},
        {"flags": GOOD | {"needs_approval": True}},
        {"flags": GOOD | {"asks_always": frozenset({"word"})}},
        {"flags": GOOD | {"asks_always": frozenset({"word=x"})}},
    ],
    ids=["not said", "costs", "wanted", "argument", "value"],
)
async def test_what_is_dangerous_is_asked_each_time(store: Store, clock: SetClock, more: dict[str, Any]) -> None:
    """The question offers nothing else, and the sign for always is a yes for once."""
    look, post = tools(**more)
    async with app_harness(store, clock, tools=(look, post)) as port:
        assert "✅" not in await poisoned(port, POST)
        assert await allow(port) == "Very well."
        assert (await poisoned(port, POST)).startswith("May I")
        assert post.ran == ["x"]


async def test_what_is_private_is_shown_to_strangers_with_a_yes_only(store: Store, clock: SetClock) -> None:
    """Though the tool was allowed when nothing private was in the request."""
    look, post = tools(discloses=True)
    notes = Echo(name="notes", flags={"reads_private": True})
    async with app_harness(store, clock, tools=(look, notes, post)) as port:
        assert OFFER in await poisoned(port, POST)
        await allow(port)
        assert await poisoned(port, POST) == "Very well."
        heard = await poisoned(port, calls(("notes", {"word": "n"})), POST)
        assert heard.startswith("May I")
        assert "✅" not in heard
        assert post.ran == ["x", "x"]


async def test_two_tools_are_not_allowed_with_one_word(store: Store, clock: SetClock) -> None:
    """One question covers both, for once."""
    look, post = tools()
    other = Echo(name="other", effects="once", flags=GOOD, cost_usd=Decimal(0))
    async with app_harness(store, clock, tools=(look, post, other)) as port:
        heard = await poisoned(port, calls(("post", {"word": "x"}), ("other", {"word": "y"})))
        assert heard.startswith("May I do this?\n\n1. Use post")
        assert "✅" not in heard


async def test_another_tool_of_that_name_was_not_allowed(store: Store, clock: SetClock) -> None:
    """A server may give its tools other parameters, or another kind of effects."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post)) as port:
        await poisoned(port, POST)
        await allow(port)
    others: tuple[dict[str, Any], ...] = ({"effects": "repeatable"}, {"flags": GOOD | {"server": "other"}})
    for more in others:
        _, changed = tools(**more)
        async with app_harness(store, clock, tools=(look, changed)) as port:
            assert (await poisoned(port, POST)).startswith("May I")
            assert changed.ran == []
            await told(port, "/stop")


async def test_where_nobody_is_there_it_does_not_hold(store: Store, clock: SetClock) -> None:
    """A page that is read at night plans nothing more by itself."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post), ported=(Remind,)) as port:
        await poisoned(port, calls(REMIND))
        assert "remind without asking" in await allow(port)
        await told(port, "/remind in 1 minute ask: read the page")
        before = len(port.transport.sent)
        port.thinker.script = [calls(("look", {"word": "page"})), calls(REMIND), says("Read.")]
        clock.move(61)
        await port.reminder_scheduler.attend_all()
        await port.quiet()
        texts = "\n".join(reply.content.text for reply in port.transport.sent[before:])
        assert "Nobody was around to say yes" in texts
        assert "nobody is here" in contents(port.thinker.requests[-1])[-1]


async def test_a_reminder_that_works_by_itself_is_agreed_to_each_time(store: Store, clock: SetClock) -> None:
    """Nor is one cancelled by a page because others may be set."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post), ported=(Remind,)) as port:
        await poisoned(port, calls(REMIND))
        await allow(port)
        assert await poisoned(port, calls(REMIND)) == "Very well."
        for more in ({"prompt": "Fetch it"}, {"action": "cancel", "number": 1}, {"action": "timezone"}):
            assert (await poisoned(port, calls(("remind", REMIND[1] | {"timezone": "UTC"} | more)))).startswith("May I")
            await told(port, "/stop")


@pytest.mark.parametrize("command", ["/forget", "/forget everything"])
@pytest.mark.parametrize("group", [None, GROUP])
async def test_it_is_forgotten(store: Store, clock: SetClock, command: str, group: str | None) -> None:
    """With everything else; nothing looks forged afterwards."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post)) as port:
        await poisoned(port, POST, group=group)
        await allow(port, group=group)
        await told(port, command, group=group)
        assert await port.count("SELECT count(*) FROM grants") == 0
        assert not (await port.store.tampering()).sentences
        assert (await poisoned(port, POST, group=group)).startswith("May I")


async def test_a_quote_with_always_is_as_good(store: Store, clock: SetClock) -> None:
    """And one of somebody else's message is none."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post)) as port:
        await poisoned(port, POST, group=GROUP)
        await port.deliver(message("always", quote=quote_of(ALDIS, FIRST + 1, "May I"), author=BOB, group=GROUP))
        await port.until(lambda: True)
        assert post.ran == []
        await port.deliver(message("always", quote=quote_of(ALDIS, FIRST + 1, "May I"), author=ALICE, group=GROUP))
        await port.quiet()
        assert post.ran == ["x"]
        assert plain("/tools revoke post") in port.transport.sent[-1].content.text
