"""What a person has allowed for good in a chat is not asked about again: only there, only for them, only that tool."""

from decimal import Decimal
from typing import Any

import pytest

from bot.clock import SetClock
from bot.commands import phrases
from bot.features.reminders.tool import Remind
from store import Store
from tests.bot.chat.turn_helpers import Echo, calls, contents, says
from tests.bot.commands.test_commands import ask
from tests.bot.loops.app_harness import FIRST, Harness, app_harness
from tests.servers.envelopes import BOB, GROUP, reaction

REMIND = ("remind", {"action": "set", "text": "call Mallory", "delay_seconds": 60})
OFFER = "✅ (always, for post when you ask here)"


def tools(**more: Any) -> tuple[Echo, Echo]:
    given: dict[str, Any] = {"name": "post", "effects": "once", "cost_usd": Decimal(0)}
    post = Echo(**(given | more))
    return Echo(name="look"), post


@pytest.fixture
def post() -> Echo:
    return tools()[1]


async def poisoned(aldis: Harness, *script: Any, **more: Any) -> str:
    aldis.model.script = [calls(("look", {"word": "page"})), *script, says("Very well.")]
    heard = await ask(aldis, "Aldis, read the page.", **more)
    await aldis.quiet_but(1 if heard.startswith("May I") else 0)
    return heard


async def allow(aldis: Harness, **more: Any) -> str:
    """Put the sign for always on what was asked last; gives what is answered."""
    sent = len(aldis.transport.sent)
    await aldis.deliver(reaction("✅", FIRST + sent, **more))
    await aldis.answered(sent + 1)
    await aldis.quiet()
    return aldis.transport.sent[-1].content.text


POST = calls(("post", {"word": "x"}))


@pytest.mark.parametrize("group", [None, GROUP])
async def test_it_is_asked_once(store: Store, clock: SetClock, group: str | None) -> None:
    """Until it is taken back; `/tools` lists it, a new conversation and a restart leave it."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post)) as aldis:
        assert OFFER in await poisoned(aldis, POST, group=group)
        assert (await allow(aldis, group=group)).startswith("Very well.\n\n(From now on I'll use post without asking")
        assert await poisoned(aldis, POST, group=group) == "Very well."
        await ask(aldis, "/new", group=group)
        assert "post: allowed without asking" in await ask(aldis, "/tools", group=group)
    async with app_harness(store, clock, tools=(look, post)) as aldis:
        assert await poisoned(aldis, POST, group=group) == "Very well."
        assert post.ran == ["x", "x", "x"]
        assert await ask(aldis, "/tools revoke post", group=group) == "I'll ask you about post again."
        assert await ask(aldis, "/tools revoke post", group=group) == phrases.NOT_ALLOWED.text
        assert OFFER in await poisoned(aldis, POST, group=group)
        assert post.ran == ["x", "x", "x"]


@pytest.mark.parametrize("words", ["always", "Ja, immer!", "Oui, toujours.", "Sí, siempre", "✅"])
async def test_it_can_be_said(aldis: Harness, post: Echo, clock: SetClock, words: str) -> None:
    """Plainly, while one question is open, in all languages."""
    await poisoned(aldis, POST)
    clock.move(2)
    await ask(aldis, words)
    assert post.ran == ["x"]
    assert await poisoned(aldis, POST) == "Very well."


async def test_it_holds_for_nobody_else_and_nowhere_else(store: Store, clock: SetClock) -> None:
    """Not for another member of the group, not in another chat; an admin allows nothing for good in another's name."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post), admins=frozenset({BOB.uuid})) as aldis:
        await poisoned(aldis, POST, group=GROUP)
        await allow(aldis, group=GROUP)
        assert (await poisoned(aldis, POST)).startswith("May I")
        await ask(aldis, "/stop")
        assert (await poisoned(aldis, POST, group=GROUP, author=BOB)).startswith("May I")
        await ask(aldis, "/stop", group=GROUP)
        await ask(aldis, "/tools revoke post", group=GROUP)
        await poisoned(aldis, POST, group=GROUP)
        assert await allow(aldis, group=GROUP, author=BOB) == "Very well."  # for once
        assert (await poisoned(aldis, POST, group=GROUP)).startswith("May I")
        assert post.ran == ["x", "x"]


@pytest.mark.parametrize(
    "more",
    [
        {"cost_usd": Decimal("0.01")},
        {"flags": {"approval": "always"}},
        {"flags": {"approval": "each_by_labels"}},
        {"flags": {"approval": "unless_named"}},
        {"flags": {"approval": lambda given: "each_by_labels" if given.word == "x" else "by_labels"}},
    ],
    ids=["costs", "wanted", "deletes", "writes", "this call deletes"],
)
async def test_what_is_dangerous_is_asked_each_time(store: Store, clock: SetClock, more: dict[str, Any]) -> None:
    """The question offers nothing else, and the sign for always is a yes for once."""
    look, post = tools(**more)
    async with app_harness(store, clock, tools=(look, post)) as aldis:
        assert "✅" not in await poisoned(aldis, POST)
        assert await allow(aldis) == "Very well."
        assert (await poisoned(aldis, POST)).startswith("May I")
        assert post.ran == ["x"]


async def test_what_is_private_is_shown_to_strangers_with_a_yes_only(store: Store, clock: SetClock) -> None:
    """Though the tool was allowed when nothing private was in the request."""
    look, post = tools(label="public")
    notes = Echo(name="notes", label="private")
    async with app_harness(store, clock, tools=(look, notes, post)) as aldis:
        assert OFFER in await poisoned(aldis, POST)
        await allow(aldis)
        assert await poisoned(aldis, POST) == "Very well."
        heard = await poisoned(aldis, calls(("notes", {"word": "n"})), POST)
        assert heard.startswith("May I")
        assert "✅" not in heard
        assert post.ran == ["x", "x"]


async def test_where_nobody_is_there_it_does_not_hold(store: Store, clock: SetClock) -> None:
    """A page that is read at night plans nothing more by itself."""
    look, post = tools()
    async with app_harness(store, clock, tools=(look, post), ported=(Remind,)) as aldis:
        await poisoned(aldis, calls(REMIND))
        assert "Reminders without asking" in await allow(aldis)
        await ask(aldis, "/remind in 1 minute ask: read the page")
        before = len(aldis.transport.sent)
        aldis.model.script = [calls(("look", {"word": "page"})), calls(REMIND), says("Read.")]
        clock.move(61)
        await aldis.reminders.attend_all()
        await aldis.quiet()
        texts = "\n".join(reply.content.text for reply in aldis.transport.sent[before:])
        assert "You weren't here to say yes" in texts
        assert "no one is here" in contents(aldis.model.requests[-1])[-1]


@pytest.mark.parametrize("command", ["/forget yes", "/forget everything yes"])
@pytest.mark.parametrize("group", [None, GROUP])
async def test_it_is_forgotten(aldis: Harness, command: str, group: str | None) -> None:
    """With everything else."""
    await poisoned(aldis, POST, group=group)
    await allow(aldis, group=group)
    await ask(aldis, command, group=group)
    assert await aldis.count("SELECT count(*) FROM grants") == 0
    assert (await poisoned(aldis, POST, group=group)).startswith("May I")
