"""Summaries: what the window cuts off is summed up, told to the model, and gone with what it was made of."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bot.chat.prompt import estimated_text_tokens, estimated_tokens
from bot.clock import SetClock
from bot.errors import ContextTooLong, Unavailable
from bot.models.base import Stop
from bot.settings.groups import HistorySettings
from store import Store
from tests.bot.chat.test_edits import on_disk
from tests.bot.chat.turn_helpers import says
from tests.bot.commands.test_commands import ask
from tests.bot.features.test_memory import seen
from tests.bot.loops.app_harness import Harness, app_harness
from tests.invariants import is_sendable
from tests.servers.envelopes import delete, edit, message

SMALL = HistorySettings(max_turns=4, max_tokens=10_000)


async def talk(aldis: Harness, *words: str, **more: Any) -> list[int]:
    sent: list[int] = []
    for text in words:
        before = len(aldis.transport.sent)
        sent.append(await aldis.deliver(message(text, **more)))
        await aldis.answered(before + 1)
        await aldis.quiet()
    return sent


async def sum_up(aldis: Harness, text: str = "They spoke of apples.") -> str:
    asked = len(aldis.model.asked)
    aldis.model.script = [says(text)]
    await aldis.summaries.attend_all()
    aldis.model.script = []
    return aldis.model.asked[-1] if len(aldis.model.asked) > asked else ""


FIVE = ("one apple", "two pears", "three figs", "four plums", "five limes")


async def test_what_the_window_cuts_off_is_summed_up(store: Store, clock: SetClock) -> None:
    """Only when it cuts something; down to a third of a window, whole turns; the model is told that it is a summary."""
    async with app_harness(store, clock, window=SMALL) as aldis:
        await talk(aldis, *FIVE[:4])
        assert await sum_up(aldis) == ""
        await talk(aldis, FIVE[4])
        shown = await sum_up(aldis)
        assert "one apple" in shown
        assert "Assistant: re: three figs" in shown
        assert "four plums" not in shown
        assert aldis.model.requests[-1].tools == ()
        await talk(aldis, "six dates")
        request = aldis.model.requests[-1]
        assert is_sendable(request.messages)
        first = request.messages[0]
        assert first.role == "user"
        assert "summary of what was said here before" in first.text
        assert "They spoke of apples." in first.text
        assert "three figs" not in seen(aldis)
        assert "four plums" in seen(aldis)
        assert request.system == aldis.model.requests[0].system


async def test_the_next_one_holds_the_former(store: Store, clock: SetClock) -> None:
    """Each turn is summed up once; the beginning of the requests stays the same in between."""
    async with app_harness(store, clock, window=SMALL) as aldis:
        await talk(aldis, *FIVE)
        await sum_up(aldis)
        await talk(aldis, "six dates", "seven nuts")
        first = aldis.model.requests[-1].messages[0]
        assert await sum_up(aldis) == ""
        await talk(aldis, "eight kiwis")
        assert aldis.model.requests[-1].messages[0] == first
        shown = await sum_up(aldis, "They spoke of fruit.")
        assert "They spoke of apples." in shown
        assert "one apple" not in shown
        assert "four plums" in shown
        await talk(aldis, "nine more")
        assert "They spoke of fruit." in seen(aldis)
        assert "They spoke of apples." not in seen(aldis)


@pytest.mark.parametrize("how", ["unavailable", "too long", "cut off", "nothing"])
async def test_a_failure_is_harmless(store: Store, clock: SetClock, how: str) -> None:
    """Then the oldest turns are not read. It is tried again with the next turn, or half a window later."""
    async with app_harness(store, clock, window=SMALL) as aldis:
        await talk(aldis, *FIVE)
        failures: dict[str, Any] = {
            "unavailable": Unavailable("gone", provider="scripted"),
            "too long": ContextTooLong("long", provider="scripted"),
            "cut off": says("They spo", stop=Stop.LENGTH),
            "nothing": says(" "),
        }
        aldis.model.script = [failures[how]]
        await aldis.summaries.attend_all()
        left = "SELECT (SELECT count(*) FROM summaries) + count(*) FROM ledger WHERE outcome = 'reserved'"
        assert await aldis.count(left) == 0
        for word in ("six dates", "seven nuts") if how in {"cut off", "nothing"} else ():
            await talk(aldis, word)
            assert await sum_up(aldis) == ""
        await talk(aldis, "eight kiwis")
        assert "one apple" not in seen(aldis)
        assert "one apple" in await sum_up(aldis)


@pytest.mark.parametrize("how", ["delete", "edit", "/forget yes", "/forget everything yes"])
async def test_it_goes_when_something_in_it_goes_and_is_made_anew(
    store: Store, clock: SetClock, path: Path, how: str
) -> None:
    """Of what is left, without the words that were taken back."""
    async with app_harness(store, clock, window=SMALL) as aldis:
        sent = await talk(aldis, *FIVE)
        await sum_up(aldis, "canary-apples")
        if how.startswith("/"):
            await ask(aldis, how)
        else:
            await aldis.process(delete(sent[0]) if how == "delete" else edit("one cherry", sent[0]))
        assert await aldis.count("SELECT count(*) FROM summaries") == 0
        if how.startswith("/"):
            assert b"canary-apples" not in on_disk(path)
            return
        await talk(aldis, "six dates", "seven nuts")
        shown = await sum_up(aldis)
        assert "canary-apples" not in shown
        assert "Person: [Sat 2026-11-21 12:00 UTC] one apple" not in shown
        assert "two pears" in shown


async def test_what_is_taken_back_while_the_model_writes_is_not_kept(store: Store, clock: SetClock) -> None:
    """The summary of it is paid and dropped; an edit of an older message counts as well."""
    async with app_harness(store, clock, window=SMALL) as aldis:
        sent = await talk(aldis, *FIVE)
        for change in (edit("one cherry", sent[0]), delete(sent[1])):
            aldis.model.gates["Person: "] = asyncio.Event()
            aldis.model.asked.clear()
            working = asyncio.create_task(aldis.summaries.attend_all())
            await aldis.asked(1)
            await aldis.process(change)
            aldis.model.gates["Person: "].set()
            await working
            assert await aldis.count("SELECT count(*) FROM ledger WHERE kind = 'model'") == len(aldis.model.requests)
            assert await aldis.count("SELECT count(*) FROM summaries") == 0
            await talk(aldis, "more")


async def test_new_begins_afresh(store: Store, clock: SetClock) -> None:
    """What was before `/new` is told no more, and not summed up into what comes later."""
    async with app_harness(store, clock, window=SMALL) as aldis:
        await talk(aldis, *FIVE)
        await sum_up(aldis, "canary-apples")
        await ask(aldis, "/new")
        await talk(aldis, "six dates", "seven nuts", "eight kiwis", "nine", "ten")
        assert "canary-apples" not in seen(aldis)
        shown = await sum_up(aldis)
        assert "six dates" in shown
        assert "canary-apples" not in shown
        assert "four plums" not in shown


@pytest.mark.parametrize("words", ["apple ", "яблоко "])
async def test_what_does_not_fit_a_small_model_is_summed_up_within_its_window(
    store: Store, clock: SetClock, words: str
) -> None:
    """What it is given to sum up fits as well, for some servers cut off the rest without a word."""
    async with app_harness(store, clock, window=HistorySettings()) as aldis:
        refusal = ContextTooLong("too long", provider="scripted")
        refusal.window_tokens = 4096
        aldis.model.script = [refusal, says("re: hello")]
        await talk(aldis, "hello")
        size = 12_000 // len(words.encode())
        await talk(aldis, *(f"{number} {words * (size // 6)}" for number in ("one", "two", "three", "four", "five")))
        shown = await sum_up(aldis, "fruit " * 1000)
        assert "five" not in shown
        assert "four" in shown
        request = aldis.model.requests[-1]
        read = estimated_text_tokens(request.system) + sum(map(estimated_tokens, request.messages))
        assert read + request.max_output_tokens <= 4096
        await talk(aldis, "six")
        assert "fruit fruit" in seen(aldis)
        assert seen(aldis).count("fruit") <= 2400 / len("fruit ")
