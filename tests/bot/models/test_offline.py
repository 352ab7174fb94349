"""The provider without a model: what it reads out of a sentence, and how it words what the tools answered."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.app.models import vendor
from bot.messages import AssistantMessage, CallId, Message, Text, ToolAnswer, ToolCall, ToolMessage, UserMessage
from bot.models import offline
from bot.models.base import Request, Stop, ToolOffer
from bot.models.offline import Offline, asked_for, people_words
from bot.settings import load_settings

TOOLS = ("calculate", "convert", "get_weather", "current_time", "web_search")
CALCULATED = {"expression": "17*23", "result": "391"}
PARIS = {
    "place": {"name": "Paris", "region": "Île-de-France", "country": "France", "latitude": 48.85, "longitude": 2.35},
    "timezone": "Europe/Paris (GMT+1)",
    "current": {"local_time": "2026-11-21T23:30", "weather": "slight rain", "temperature": "8.1 °C", "wind": "12 km/h"},
    "days": [
        {"date": "Saturday 2026-11-21", "weather": "overcast", "temperature_min": "5 °C", "temperature_max": "9 °C"},
        {"date": "Sunday 2026-11-22", "weather": "clear sky", "temperature_max": "11 °C"},
    ],
    "attribution": "Weather data by Open-Meteo.com (https://open-meteo.com/)",
}
LIGHTHOUSES = {
    "query": "lighthouses",
    "source": "Wikipedia",
    "results": [
        {"number": 1, "title": "Lighthouse", "url": "https://a.example/1", "site": "a.example", "snippet": "A tower."},
        {"number": 2, "title": "Keeper", "url": "https://a.example/2", "site": "a.example", "snippet": ""},
    ],
}


def asking(text: str, *, tools: Iterable[str] = TOOLS, may_call_tools: bool = True) -> Request:
    return Request(
        system="",
        messages=(UserMessage(text=f"[Sat 2026-11-21 22:40 Europe/Berlin] {text}"),),
        tools=tuple(ToolOffer(name=name, description="", parameters={}) for name in tools),
        may_call_tools=may_call_tools,
        max_output_tokens=1000,
        timeout_seconds=60,
        conversation="c",
    )


def followed_by(request: Request, *messages: Message) -> Request:
    return replace(request, messages=(*request.messages, *messages))


def found(data: Mapping[str, Any]) -> str:
    return json.dumps({"ok": True, "untrusted_data": data})


NOTHING = "There's nothing by that name; check the spelling, please."


def failed(message: str, error: str = "not_found") -> str:
    return json.dumps({"ok": False, "error": error, "message": message})


def provider_of() -> Offline:
    provider = vendor(load_settings({}, env_file=None), "offline")
    assert isinstance(provider, Offline)
    return provider


async def calls_for(request: Request) -> Sequence[ToolCall]:
    completion = await provider_of().complete(request)
    assert completion.message is not None
    assert (completion.stop is Stop.TOOLS) == bool(completion.message.calls)
    return completion.message.calls


async def words_for(request: Request) -> str:
    completion = await provider_of().complete(request)
    assert completion.message is not None
    assert completion.stop is Stop.END
    assert not completion.message.calls
    return completion.message.text


async def answer(text: str, *contents: str, tools: Iterable[str] = TOOLS) -> str:
    """What it says when its calls for the text are answered with these contents."""
    request = asking(text, tools=tools)
    calls = await calls_for(request)
    answers = [
        ToolAnswer(call_id=call.id, name=call.name, content=content, ok=content.startswith('{"ok": true'))
        for call, content in zip(calls, contents, strict=True)
    ]
    return await words_for(
        followed_by(request, AssistantMessage(parts=tuple(calls)), ToolMessage(answers=tuple(answers)))
    )


async def test_what_a_tool_found_is_worded() -> None:
    """In short lines, what is unknown left out, with the attribution that a licence wants."""
    for sentence, data, words in (
        (
            "what time is it",
            {"timezone": "UTC", "date": "2026-11-21", "time": "22:40"},
            "It's **22:40** on 21 November 2026 (UTC).",
        ),
        (
            "100 Mbps in MB/s",
            {"from": "100 megabit per second", "to": "12.5 megabyte/second"},
            "100 megabits per second = **12.5 megabytes per second**",
        ),
        ("5 km in miles", {"from": "5 kilometer", "to": "3.106855961 mile"}, "5 kilometres = **3.107 mi**"),
        (
            "20 EUR in USD",
            {
                "from": "20 EUR",
                "to": "23 USD",
                "rate": "1 EUR = 1.15 USD",
                "rate_date": "2026-11-20",
                "attribution": "ECB",
            },
            "20 EUR = **23 USD**\n1 EUR = 1.15 USD (2026-11-20). ECB",
        ),
        (
            "weather in Paris",
            PARIS,
            (
                "**Paris, Île-de-France, France**: slight rain, 8.1 °C\n"
                "- Saturday, 21 November 2026: overcast, 5 °C – 9 °C\n"
                "- Sunday, 22 November 2026: clear sky, 11 °C\n"
                "Weather data by Open-Meteo.com (https://open-meteo.com/)"
            ),
        ),
        (
            "weather in Springfield",
            {
                "ambiguous": True,
                "candidates": [{"name": "Springfield", "region": "Illinois"}, {"name": "Springfield"}, "… [left out]"],
            },
            "There are several places called “Springfield”:\n- Springfield, Illinois\n- Springfield\n- … [left out]",
        ),
        (
            "search for lighthouses",
            LIGHTHOUSES,
            "Wikipedia\n1. **Lighthouse**: A tower. https://a.example/1\n2. **Keeper**:  https://a.example/2",
        ),
        ("search for xyzzy", {"query": "xyzzy", "results": []}, "I found nothing about “xyzzy”; try other words."),
        (
            "remind me in 10 minutes to buy tea",
            {"number": 1, "when": "Sat 2026-11-21 22:50 Europe/Berlin", "in_seconds": 600, "text": "buy tea"},
            "OK, at 22:50 (in 10 minutes): buy tea.",
        ),
    ):
        assert await answer(sentence, found(data), tools=(*TOOLS, "remind")) == words


async def test_failures_in_words() -> None:
    """A tool's failure is explained without what it says to models; an answer of another shape is shown as it is."""
    assert await answer("weather in Nowhere", failed("No.")) == NOTHING
    reason = "kilometer and kilogram measure different things: one cannot be converted into the other."
    assert await answer("5 km in kg", failed(reason, "invalid_arguments")) == reason
    for content in ("garbage", "[]", '{"ok": true, "untrusted_data": 5}'):
        assert await answer("2*3", content) == f"`calculate` answers: {content}"


async def test_calls_of_a_model_before_it_are_worded_too() -> None:
    """Taking over in the middle of another provider's turn it words what is there, tools it does not know included."""
    asked = AssistantMessage(
        parts=(
            Text(text="Let me see."),
            ToolCall(id=CallId("toolu_1"), name="read_page", arguments={}),
            ToolCall(id=CallId("toolu_2"), name="calculate", arguments={"expression": "17*23"}),
        )
    )
    answers = ToolMessage(
        answers=(
            ToolAnswer(call_id=CallId("toolu_1"), name="read_page", content=found({"text": "words"}), ok=True),
            ToolAnswer(call_id=CallId("toolu_2"), name="calculate", content=found(CALCULATED), ok=True),
        )
    )
    text = await words_for(followed_by(asking("Read that page"), asked, answers))
    assert text == f"`read_page` answers: {found({'text': 'words'})}\n\n`17*23` = **391**"


async def test_a_message_of_one_form() -> None:
    """The whole of it, and then its call."""
    for sentence, tool, arguments in (
        ("What is 17*23?", "calculate", {"expression": "17*23"}),
        ("2 + 3 * (4 - 1) =", "calculate", {"expression": "2 + 3 * (4 - 1)"}),
        ("What is 6-1?", "calculate", {"expression": "6-1"}),
        ("0.125 * 8", "calculate", {"expression": "0.125 * 8"}),
        ("20 % + 5", "calculate", {"expression": "20 % + 5"}),
        ("What is 17% of 349?", "calculate", {"expression": "17% of 349"}),
        ("20 % of 50 + 1", "calculate", {"expression": "20 % of 50 + 1"}),
        ("2026-12-24 - 2026-11-27", "calculate", {"expression": "2026-12-24 - 2026-11-27"}),
        ("sqrt(16)", "calculate", {"expression": "sqrt(16)"}),
        ("√16", "calculate", {"expression": "√16"}),
        ("What is √16 + 2?", "calculate", {"expression": "√16 + 2"}),
        ("5 km in miles", "convert", {"amount": 5.0, "unit": "km", "to": "miles"}),
        ("20 EUR in USD", "convert", {"amount": 20.0, "unit": "EUR", "to": "USD"}),
        ("what time is it", "current_time", {}),
        ("What time is it in Tokyo?", "current_time", {"timezone": "Tokyo"}),
        ("time in New York", "current_time", {"timezone": "New York"}),
        ("weather in Paris", "get_weather", {"place": "Paris"}),
        ("What's the weather in Paris, Texas today?", "get_weather", {"place": "Paris, Texas", "days": 1}),
        ("weather in Paris tomorrow", "get_weather", {"place": "Paris", "days": 2}),
        ("Search for lighthouses", "web_search", {"query": "lighthouses"}),
        ("please look up the Eiffel tower", "web_search", {"query": "the Eiffel tower"}),
        (
            "Remind me in 10 minutes to turn off the oven",
            "remind",
            {"action": "set", "text": "turn off the oven", "delay_seconds": 600},
        ),
        ("remind me to call Mum in an hour", "remind", {"action": "set", "text": "call Mum", "delay_seconds": 3600}),
    ):
        [call] = await calls_for(asking(sentence, tools=(*TOOLS, "remind")))
        assert (call.name, dict(call.arguments)) == (tool, arguments)


async def test_the_hour_of_a_reminder() -> None:
    """As /remind reads it; no day is guessed for words that were not read."""
    for sentence, due, names in (
        ("remind me tomorrow at 9 to buy tea", "2026-11-22T09:00", (False, True)),
        ("remind me at 5 to buy tea", "2026-11-21T05:00", (False, False)),  # the tool finds the half and the day
        ("remind me at 11 pm to buy tea", "2026-11-21T23:00", (True, False)),
        ("remind me to buy tea tomorrow at 12:30", "2026-11-22T12:30", (True, True)),
        ("remind me to buy tea at 23:15", "2026-11-21T23:15", (True, False)),
        ("remind me at 25 to buy tea", None, ()),
        ("remind me every day at 9 to buy tea", None, ()),
        ("remind me on Monday to buy tea", None, ()),
        ("remind me at 9 on the 3rd to buy tea", None, ()),
        ("remind me to buy tea", None, ()),
    ):
        calls = await calls_for(asking(sentence, tools=("remind",)))
        named = dict(zip(("half_of_day_given", "day_given"), names, strict=False))
        planned = {"action": "set", "text": "buy tea", "local_datetime": due, **named}
        assert [dict(call.arguments) for call in calls] == ([planned] if due else [])


ANYTHING_ELSE = (
    # What is another number, or another thing, to someone.
    "12:30 + 1:45", "5'000 * 2", "5’000 * 2", "1.500 + 2.500", "1,5 + 2", "1,500 + 2", "10 000 + 1",
    "2026-12-24 - 11-27", "24/12/2026 - 1", "+49 155 5000001", "555-1234", "9-5", "3 + ",
    "(2 + 3", "2 apples + 3", "1e3 + 1", "1.2.3 + 1",
    "1.500 km in miles", "5'000 EUR in USD", "12 times 4", "20 of 50",
    "What is 17*23, and what time is it in Tokyo?", "Wie spät ist es?", "Hello!", "42", "weather",
    "tell me a joke", "",
    "Anna said: what time is it in Rome, and he laughed\nweather in Oslo", "17*23 " * 200,
)  # fmt: skip


async def test_anything_else_is_told_what_works() -> None:
    """In one line, with the keys to set; nothing is guessed, and no tool called that is not offered."""
    none_offered = (asking("17*23", tools=("convert",)), asking("17*23", may_call_tools=False))
    for request in (*map(asking, ANYTHING_ELSE), *none_offered):
        text = await words_for(request)
        assert text == offline.OFFLINE_WORKS.text, request.messages
        assert "ANTHROPIC_API_KEY" in text
        assert "\n" not in text


async def test_ids_are_new_in_every_round() -> None:
    """Also where an earlier turn of the history has some."""
    request = asking("17*23")
    [first] = await calls_for(request)
    answers = ToolMessage(answers=(ToolAnswer(call_id=first.id, name=first.name, content=found(CALCULATED), ok=True),))
    request = followed_by(request, AssistantMessage(parts=(first,)), answers, *asking("2*3").messages)
    [second] = await calls_for(request)
    assert first.id != second.id
    assert second.arguments == {"expression": "2*3"}


def test_only_what_people_wrote_is_read() -> None:
    """Neither the header nor a note."""
    said = "(A note from Aldis: Alice likes tea.)\n[Sat 2026-11-21 22:40 UTC] 2*3\n📎 a picture"
    assert people_words(said) == "2*3"


def test_no_text_takes_for_ever() -> None:
    """The time limit of the suite is the measure."""
    for text in ("1+" * 250, "(" * 499, "remind me in " * 38, "weather in " * 45, "sqrt(" * 99):
        assert asked_for(text, None, lambda _, __: None) is None or text.startswith("weather")
