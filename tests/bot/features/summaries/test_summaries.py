"""Summaries: what the window cuts off is summed up, told to the model, and gone with what it was made of."""

import asyncio
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bot.clock import SetClock
from bot.errors import ContextTooLong, ProviderError, Unavailable
from bot.providers.base import Attempt, Stop
from bot.settings import HistorySettings
from bot.turn.prompt import estimated_text_tokens, estimated_tokens
from store import Store
from tests.bot.commands.test_commands import told
from tests.bot.loops.app_harness import Port, app_harness
from tests.bot.turn.test_edits import on_disk
from tests.bot.turn.turn_helpers import says
from tests.invariants import is_sendable
from tests.servers.envelopes import BOB, GROUP, delete, edit, message

SMALL = HistorySettings(max_turns=4, max_tokens=10_000)


async def talk(port: Port, *words: str, **more: Any) -> list[int]:
    """One question after the other, each answered; gives the times under which they are known."""
    sent: list[int] = []
    for text in words:
        before = len(port.transport.sent)
        sent.append(await port.deliver(message(text, **more)))
        await port.answered(before + 1)
        await port.quiet()
    return sent


async def sum_up(port: Port, text: str = "They spoke of apples.") -> str:
    """Let the loop look; gives what the model was shown if it was asked, else nothing."""
    asked = len(port.thinker.asked)
    port.thinker.script = [says(text)]
    await port.summary_worker.attend_all()
    port.thinker.script = []
    return port.thinker.asked[-1] if len(port.thinker.asked) > asked else ""


def seen(port: Port) -> str:
    return repr(port.thinker.requests[-1].messages)


FIVE = ("one apple", "two pears", "three figs", "four plums", "five limes")


async def test_what_the_window_cuts_off_is_summed_up(store: Store, clock: SetClock) -> None:
    """Only when it cuts something; down to a third of a window, whole turns; the model is told that it is a summary."""
    async with app_harness(store, clock, window=SMALL) as port:
        await talk(port, *FIVE[:4])
        assert await sum_up(port) == ""
        await talk(port, FIVE[4])
        shown = await sum_up(port)
        assert "one apple" in shown
        assert "Assistant: re: three figs" in shown
        assert "four plums" not in shown
        assert port.thinker.requests[-1].tools == ()
        await talk(port, "six dates")
        request = port.thinker.requests[-1]
        assert is_sendable(request.messages)
        first = request.messages[0]
        assert first.role == "user"
        assert "summary of what was said here before" in first.text
        assert "They spoke of apples." in first.text
        assert "three figs" not in seen(port)
        assert "four plums" in seen(port)
        assert request.system == port.thinker.requests[0].system


async def test_the_next_one_holds_the_former(store: Store, clock: SetClock) -> None:
    """Each turn is summed up once; the beginning of the requests stays the same in between."""
    async with app_harness(store, clock, window=SMALL) as port:
        await talk(port, *FIVE)
        await sum_up(port)
        await talk(port, "six dates", "seven nuts")
        first = port.thinker.requests[-1].messages[0]
        assert await sum_up(port) == ""
        await talk(port, "eight kiwis")
        assert port.thinker.requests[-1].messages[0] == first
        shown = await sum_up(port, "They spoke of fruit.")
        assert "They spoke of apples." in shown
        assert "one apple" not in shown
        assert "four plums" in shown
        await talk(port, "nine more")
        assert "They spoke of fruit." in seen(port)
        assert "They spoke of apples." not in seen(port)


async def test_it_is_paid_once_by_whoever_asked_last(store: Store, clock: SetClock) -> None:
    """A model call like any other, in the ledger and in the sums."""
    async with app_harness(store, clock, window=SMALL) as port:
        await talk(port, *FIVE)
        await sum_up(port)
        await port.summary_worker.attend_all()
        assert await port.count("SELECT count(*) FROM ledger WHERE kind = 'model'") == 6
        assert "You, today: 0.0600 USD" in await told(port, "/usage")


@pytest.mark.parametrize("how", ["unavailable", "cut off", "nothing"])
async def test_a_failure_is_harmless(store: Store, clock: SetClock, how: str) -> None:
    """Then the oldest turns are not read. It is tried again with the next turn; if it was paid, half a window later."""
    async with app_harness(store, clock, window=SMALL) as port:
        await talk(port, *FIVE)
        failures: dict[str, Any] = {
            "unavailable": Unavailable("gone", provider="scripted"),
            "cut off": says("They spo", stop=Stop.LENGTH),
            "nothing": says(" "),
        }
        port.thinker.script = [failures[how]]
        await port.summary_worker.attend_all()
        assert await port.count("SELECT count(*) FROM summaries") == 0
        for word in ("six dates", "seven nuts") if how != "unavailable" else ():
            await talk(port, word)
            assert await sum_up(port) == ""
        await talk(port, "eight kiwis")
        assert "one apple" not in seen(port)
        assert "one apple" in await sum_up(port)


@pytest.mark.parametrize("then", ["fails", "is too long", "is stopped", "answers"])
async def test_what_its_tries_have_cost_is_paid(store: Store, clock: SetClock, then: str) -> None:
    """Also where they come to nothing, and where Aldis is stopped in the middle of one."""
    async with app_harness(store, clock, window=SMALL) as port:
        await talk(port, *FIVE)
        tried = Attempt(provider="p", model="m", error="Unavailable", latency_seconds=1.0, cost_usd=Decimal("0.25"))
        failed: ProviderError = (ContextTooLong if then != "fails" else Unavailable)("no", provider="scripted")
        failed.attempts = (tried,)
        last = says("They spoke of apples.")
        port.thinker.script = {"is too long": [failed] * 3, "answers": [failed, last]}.get(then, [failed])
        if then == "is stopped":
            asked, first = len(port.thinker.asked), asyncio.Event()
            port.thinker.gates["one apple"] = first
            summing_up = asyncio.create_task(port.summary_worker.attend_all())
            await port.asked(asked + 1)
            port.thinker.gates["one apple"] = asyncio.Event()
            first.set()
            await port.asked(asked + 2)
            summing_up.cancel()
            await asyncio.wait([summing_up])
        else:
            await port.summary_worker.attend_all()
        paid = await port.count("SELECT count(*) FROM ledger WHERE outcome = 'Unavailable' AND cost_usd = '0.25'")
        assert paid == (3 if then == "is too long" else 1)


@pytest.mark.parametrize("how", ["delete", "edit", "/forget", "/forget everything"])
async def test_it_goes_when_something_in_it_goes_and_is_made_anew(
    store: Store, clock: SetClock, path: Path, how: str
) -> None:
    """Of what is left, without the words that were taken back."""
    async with app_harness(store, clock, window=SMALL) as port:
        sent = await talk(port, *FIVE)
        await sum_up(port, "canary-apples")
        if how.startswith("/"):
            await told(port, how)
        else:
            await port.process(delete(sent[0]) if how == "delete" else edit("one cherry", sent[0]))
        assert await port.count("SELECT count(*) FROM summaries") == 0
        if how.startswith("/"):
            assert b"canary-apples" not in on_disk(path)
            return
        await talk(port, "six dates", "seven nuts")
        shown = await sum_up(port)
        assert "canary-apples" not in shown
        assert "Person: [Sat 2026-11-21 12:00 UTC] one apple" not in shown
        assert "two pears" in shown


async def test_it_expires_with_the_first_of_what_it_sums_up(store: Store, clock: SetClock, path: Path) -> None:
    """At that moment it is told no more, and then it has left the disk."""
    async with app_harness(store, clock, window=SMALL) as port:
        await talk(port, FIVE[0], expires_in_seconds=60)
        await talk(port, *FIVE[1:])
        await sum_up(port, "canary-apples")
        clock.move(60)
        await talk(port, "six dates")
        assert "canary-apples" not in seen(port)
        await port.maintenance.expire()
        assert await port.count("SELECT count(*) FROM summaries") == 0
        assert b"canary-apples" not in on_disk(path)


async def test_what_is_taken_back_while_the_model_writes_is_not_kept(store: Store, clock: SetClock) -> None:
    """The summary of it is paid and dropped; an edit of an older message counts as well."""
    async with app_harness(store, clock, window=SMALL) as port:
        sent = await talk(port, *FIVE)
        for change in (edit("one cherry", sent[0]), delete(sent[1])):
            port.thinker.gates["Person: "] = asyncio.Event()
            port.thinker.asked.clear()
            working = asyncio.create_task(port.summary_worker.attend_all())
            await port.asked(1)
            await port.process(change)
            port.thinker.gates["Person: "].set()
            await working
            assert await port.count("SELECT count(*) FROM ledger WHERE kind = 'model'") == len(port.thinker.requests)
            assert await port.count("SELECT count(*) FROM summaries") == 0
            await talk(port, "more")


async def test_new_begins_afresh(store: Store, clock: SetClock) -> None:
    """What was before `/new` is told no more, and not summed up into what comes later."""
    async with app_harness(store, clock, window=SMALL) as port:
        await talk(port, *FIVE)
        await sum_up(port, "canary-apples")
        await told(port, "/new")
        await talk(port, "six dates", "seven nuts", "eight kiwis", "nine", "ten")
        assert "canary-apples" not in seen(port)
        shown = await sum_up(port)
        assert "six dates" in shown
        assert "canary-apples" not in shown
        assert "four plums" not in shown


async def test_a_group_has_its_own(store: Store, clock: SetClock) -> None:
    """One conversation's summary is told in no other; forgetting one person's words makes it go there, too."""
    async with app_harness(store, clock, window=SMALL) as port:
        await talk(port, *(f"Aldis, {words}" for words in FIVE), group=GROUP)
        await sum_up(port, "canary-apples")
        await talk(port, "hello")
        assert "canary-apples" not in seen(port)
        await talk(port, "Aldis, hello", group=GROUP, author=BOB)
        assert "canary-apples" in seen(port)
        await told(port, "/forget everything")
        assert await port.count("SELECT count(*) FROM summaries") == 0


async def test_many_tokens_are_cut_as_well(store: Store, clock: SetClock) -> None:
    """The window has two bounds; what one long message costs is estimated."""
    async with app_harness(store, clock, window=HistorySettings(max_turns=20, max_tokens=1000)) as port:
        await talk(port, "one " + "apple " * 300, "two " + "pear " * 40)
        shown = await sum_up(port)
        assert "one apple" in shown
        assert "two pear" not in shown
        clock.move(timedelta(minutes=1).total_seconds())
        await talk(port, "three")
        assert "They spoke of apples." in seen(port)


@pytest.mark.parametrize("words", ["apple ", "яблоко "])
async def test_what_does_not_fit_a_small_model_is_summed_up_within_its_window(
    store: Store, clock: SetClock, words: str
) -> None:
    """The window that is set is far larger: without a summary the model would forget what no request has room for. What
    it is given to sum up fits as well, for some servers cut off the rest without a word.
    """
    async with app_harness(store, clock, window=HistorySettings()) as port:
        refusal = ContextTooLong("too long", provider="scripted")
        refusal.window_tokens = 4096
        port.thinker.script = [refusal, says("re: hello")]
        await talk(port, "hello")
        size = 12_000 // len(words.encode())
        await talk(port, *(f"{number} {words * (size // 6)}" for number in ("one", "two", "three", "four", "five")))
        shown = await sum_up(port, "fruit " * 1000)
        assert "five" not in shown
        assert "four" in shown
        request = port.thinker.requests[-1]
        read = estimated_text_tokens(request.system) + sum(map(estimated_tokens, request.messages))
        assert read + request.max_output_tokens <= 4096
        assert "at most 153 words" in request.system
        await talk(port, "six")
        assert "fruit fruit" in seen(port)
        assert seen(port).count("fruit") <= 4096 * 0.3 / len("fruit ")
