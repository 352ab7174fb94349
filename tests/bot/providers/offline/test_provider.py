"""The provider without a model: what it reads out of a sentence, and how it words what the tools answered."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.i18n.language import LANGUAGES, Language, use_language
from bot.messages import (
    AssistantMessage,
    CallId,
    Message,
    Text,
    ToolAnswer,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from bot.providers.base import Provider, Request, Stop, ToolOffer, Usage
from bot.providers.offline import phrases
from bot.providers.offline.intents import MAX_INTENTS, intents, people_words
from bot.providers.offline.provider import Offline
from tests.invariants import is_sendable
from tests.tools.conftest import USER_AGENT
from tools import ToolError, errors
from tools.base import Tool, ToolContext
from tools.calculator.tool import Calculator
from tools.clock import CurrentTime, CurrentTimeArguments
from tools.conversion.options import ConvertOptions
from tools.conversion.tool import Convert
from tools.http import Http

KINDS_OF_FAILURE = sorted(
    {kind.code for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ToolError)}
)
CONVERT = Convert(ConvertOptions(), Http(USER_AGENT))
TOOLS = ("calculate", "convert", "get_weather", "current_time", "web_search")
CALCULATED = {"expression": "17*23", "result": "391"}
TOKYO = {
    "timezone": "Asia/Tokyo",
    "local_time": "2026-11-22T07:40:00+09:00",
    "date": "2026-11-22",
    "time": "07:40",
    "weekday": "Sunday",
    "utc_offset": "+09:00",
}
PARIS = {
    "place": {
        "name": "Paris",
        "region": "Île-de-France",
        "country": "France",
        "latitude": 48.85,
        "longitude": 2.35,
    },
    "timezone": "Europe/Paris (GMT+1)",
    "current": {
        "local_time": "2026-11-21T23:30",
        "weather": "slight rain",
        "temperature": "8.1 °C",
        "feels_like": "6 °C",
        "humidity": "81%",
        "precipitation": "0.2 mm",
        "wind": "12 km/h",
    },
    "days": [
        {
            "date": "Saturday 2026-11-21",
            "weather": "overcast",
            "temperature_min": "5 °C",
            "temperature_max": "9 °C",
            "precipitation": "1.2 mm",
            "precipitation_probability": "70%",
        },
        {"date": "Sunday 2026-11-22", "weather": "clear sky", "temperature_max": "11 °C"},
    ],
    "attribution": "Weather data by Open-Meteo.com (https://open-meteo.com/)",
}
LIGHTHOUSES = {
    "query": "lighthouses",
    "source": "Wikipedia",
    "results": [
        {"number": 1, "title": "Lighthouse", "url": "https://a.example/1", "site": "a.example", "snippet": "A tower."},
        {
            "number": 2,
            "title": "Keeper",
            "url": "https://a.example/2",
            "site": "a.example",
            "age": "2 days",
            "snippet": "",
        },
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


async def calls_for(request: Request) -> Sequence[ToolCall]:
    completion = await Offline().complete(request)
    assert completion.message is not None
    assert (completion.stop is Stop.TOOLS) == bool(completion.message.calls)
    return completion.message.calls


async def words_for(request: Request) -> str:
    completion = await Offline().complete(request)
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


def convert(amount: float, unit: str, to: str) -> tuple[str, dict[str, object]]:
    return "convert", {"amount": amount, "unit": unit, "to": to}


def calculate(expression: str) -> tuple[str, dict[str, object]]:
    return "calculate", {"expression": expression}


def weather(place: str, **more: object) -> tuple[str, dict[str, object]]:
    return "get_weather", {"place": place, **more}


def time(zone: str) -> tuple[str, dict[str, object]]:
    return "current_time", {"timezone": zone}


def search(query: str) -> tuple[str, dict[str, object]]:
    return "web_search", {"query": query}


HERE = ("current_time", dict[str, object]())

SENTENCES = [
    ("What is 17*23", calculate("17*23")),
    ("17*23", calculate("17*23")),
    ("2^10", calculate("2^10")),
    ("10 / 4 =", calculate("10 / 4")),
    ("sqrt(2)*3", calculate("sqrt(2)*3")),
    ("max(100,200)", calculate("max(100,200)")),
    ("-3 + 5", calculate("-3 + 5")),
    ("2π", None),
    ("2*π", calculate("2*π")),
    ("17 times 23", calculate("17 * 23")),
    ("3 x 4", calculate("3*4")),
    ("What's 10 divided by 4?", calculate("10 / 4")),
    ("twenty-one plus four", calculate("21 + 4")),
    ("two million divided by 7", calculate("2000000 / 7")),
    ("a thousand minus one", calculate("1000 - 1")),
    ("17 modulo 5", calculate("17 % 5")),
    ("square root of 2", calculate("sqrt(2)")),
    ("What is the square root of two?", calculate("sqrt(2)")),
    ("the cube root of 27", calculate("cbrt(27)")),
    ("3 squared plus 4 cubed", calculate("3^2 + 4^3")),
    ("2 to the power of 8", calculate("2^8")),
    ("2 to the 8th power", calculate("2^8")),
    ("what's 15% of 80?", calculate("15/100*80")),
    ("how much is 12 percent of 250", calculate("12/100*250")),
    ("sum of 3 and 4", calculate("3 + 4")),
    ("The product of 3, 4 and 5", calculate("3 * 4 * 5")),
    ("difference between 10 and 4", calculate("10 - 4")),
    ("quotient of 10 and 4", calculate("10 / 4")),
    ("average of 3, 4, and 8", calculate("mean(3, 4, 8)")),
    ("add 3 to 4", calculate("3 + 4")),
    ("subtract 3 from 10", calculate("10 - 3")),
    ("multiply 12 by 12", calculate("12 * 12")),
    ("divide 10 by 4", calculate("10 / 4")),
    ("half of 7", calculate("7/2")),
    ("twice 21", calculate("2*21")),
    ("what is 5!", calculate("factorial(5)")),
    ("80 plus 15%", calculate("80*(1+15/100)")),
    ("100 - 20 percent", calculate("100*(1-20/100)")),
    ("what is 20% off 80?", calculate("80*(1-20/100)")),
    ("I paid 3*4 + 15% of it", None),
    ("factorial of 20", calculate("factorial(20)")),
    ("1,234.5 * 2", calculate("1234.5 * 2")),
    ("$20 * 3", calculate("20 * 3")),
    ("Please calculate (3+4)*2 for me", calculate("(3+4)*2")),
    ("What does 17*23 make, roughly?", calculate("17*23")),
    ("2026-11-21", None),
    ("call +49 170 1234567", None),
    ("what is 7", search("7")),
    ("(2+3", None),
    ("weather in Paris", weather("Paris")),
    ("Weather in Paris tomorrow", weather("Paris", days=2)),
    ("What's the weather like in Paris today?", weather("Paris", days=1)),
    ("Paris weather", weather("Paris")),
    ("weather New York", weather("New York")),
    ("will it rain in Berlin", weather("Berlin")),
    ("Will it snow in Oslo on Monday?", weather("Oslo", days=7)),
    ("how warm is it in Lisbon right now?", weather("Lisbon", days=1)),
    ("Do I need an umbrella in London this weekend?", weather("London", days=7)),
    ("5 day forecast for Oslo", weather("Oslo", days=5)),
    ("forecast for Oslo for the next 9 days", weather("Oslo", days=7)),
    ("weather in Paris, Texas next week", weather("Paris, Texas", days=7)),
    ("What’s the temperature in New York in fahrenheit?", weather("New York", units="imperial")),
    ("temperature in Rome in degrees celsius", weather("Rome", units="metric")),
    ("weather in St. Petersburg", weather("St. Petersburg")),
    ("how hot is a volcano?", search("how hot is a volcano")),
    ("What is rain?", search("rain")),
    ("what time is it in Tokyo", time("Tokyo")),
    ("What's the time in New York right now?", time("New York")),
    ("tell me the time in São Paulo", time("São Paulo")),
    ("current time in UTC+5:30", time("UTC+5:30")),
    ("what time is it?", HERE),
    ("time", HERE),
    ("what's the date", HERE),
    ("What day is it today?", HERE),
    ("how late is it in Sydney", time("Sydney")),
    ("What time does the shop open?", search("What time does the shop open")),
    ("search for lighthouses", search("lighthouses")),
    ("Can you please search the web for weather in space?", search("weather in space")),
    ("look up Aldis lamps", search("Aldis lamps")),
    ("look Aldis lamps up", search("Aldis lamps")),
    ("google python 3.14 release date", search("python 3.14 release date")),
    ("who is Ada Lovelace?", search("Ada Lovelace")),
    ("what is a lighthouse?", search("lighthouse")),
    ("3 miles in km", convert(3, "miles", "km")),
    ("How many km are 26.2 miles?", convert(26.2, "miles", "km")),
    ("convert -40 degrees celsius to °F", convert(-40, "celsius", "°F")),
    ("What is 1,200.50 USD in EUR?", convert(1200.5, "USD", "EUR")),
    ("how much is €20 in dollars", convert(20, "EUR", "USD")),
    ("100 km/h in mph please", convert(100, "km/h", "mph")),
    ("2 tickets to Paris", None),
    ("5 days in Rome", None),
    ("Tell me about the Eiffel Tower.", search("Eiffel Tower")),
    ("When was Rome founded?", search("When was Rome founded")),
    ("hello", None),
    ("Hi, who are you?", None),
    ("how are you", None),
    ("what can you do?", None),
    ("I like trains", None),
    ("?!", None),
]


@pytest.mark.parametrize(("sentence", "call"), SENTENCES)
async def test_what_a_sentence_asks_for(sentence: str, call: tuple[str, dict[str, object]] | None) -> None:
    """Each sentence leads to exactly this call, or to none and an answer in words."""
    assert [(made.name, made.arguments) for made in await calls_for(asking(sentence))] == ([call] if call else [])


@pytest.mark.parametrize(
    ("sentence", "calls"),
    [
        ("What is 17*23, and what time is it in Tokyo?", [calculate("17*23"), time("Tokyo")]),
        ("What is 17*23? What time is it in Tokyo?", [calculate("17*23"), time("Tokyo")]),
        ("the sum of 3, 4 and 5 and then 2*2", [calculate("3 + 4 + 5"), calculate("2*2")]),
        ("What's the weather in Paris and what time is it there?", [weather("Paris"), time("Paris")]),
        ("What time is it in Oslo, and will it rain there?", [time("Oslo"), weather("Oslo")]),
        ("What's the weather and the time in Rome?", [weather("Rome"), time("Rome")]),
        ("Weather in Paris, Rome and Oslo", [weather("Paris"), weather("Rome"), weather("Oslo")]),
        ("what time is it in Tokyo and New York?", [time("Tokyo"), time("New York")]),
        ("time in New York and in Sydney", [time("New York"), time("Sydney")]),
        ("time in Tokyo and search for sushi", [time("Tokyo"), search("sushi")]),
        ("Good morning! What's the temperature in Rome? Thanks!", [weather("Rome")]),
        ("was ist 3*7 und wie spät ist es in Lima?", [calculate("3*7"), time("Lima")]),
        ("wie spät ist es in Lima und dann was ist 3*7?", [time("Lima"), calculate("3*7")]),
        ("quelle heure est-il à Lima et combien font 3*7 ?", [time("Lima"), calculate("3*7")]),
        ("¿qué hora es en Lima y cuánto es 3*7?", [time("Lima"), calculate("3*7")]),
        ("What is 3*7 and wie spät ist es in Lima?", [calculate("3*7"), time("Lima")]),
        ("What is 2+2, and welche Farbe hat der Himmel?", [calculate("2+2"), search("welche Farbe hat der Himmel")]),
        ("was ist 3*7, und what time is it in Lima?", [calculate("3*7"), time("Lima")]),
        ("2+2\n2+2\n3+3", [calculate("2+2"), calculate("3+3")]),
        ("wie spät ist es in Lima und Wetter in Rom", [time("Lima"), weather("Rom")]),
        ("Wetter in Rom und 3 plus 4", [weather("Rom"), calculate("3 + 4")]),
        ("quelle heure est-il à Lima et 5 km en miles", [time("Lima"), convert(5, "km", "miles")]),
        ("15% of 80 and 20% of 50", [calculate("15/100*80"), calculate("20/100*50")]),
        ("5!, 6! und 7!", [calculate(f"factorial({n})") for n in (5, 6, 7)]),
        ("5! Wie spät ist es in Lima?", [calculate("factorial(5)"), time("Lima")]),
        (
            "what is 2+2, wie spät ist es in Lima, quel temps fait-il à Lyon",
            [calculate("2+2"), time("Lima"), weather("Lyon")],
        ),
        (
            "what time is it in Tokyo, please, and also in Lima & what's 2+2?",
            [time("Tokyo"), time("Lima"), calculate("2+2")],
        ),
        ("Wie ist das Wetter in Rom und wie spät ist es dort?", [weather("Rom"), time("Rom")]),
        ("who is Ada Lovelace and what's the time there?", [search("Ada Lovelace"), time("there")]),
        ("Wetter in Köln oder Frankfurt an der Oder", [weather("Köln"), weather("Frankfurt an der Oder")]),
        ("Wetter in Köln und in Bonn heute und morgen", [weather("Köln", days=2), weather("Bonn", days=2)]),
        ("météo à Lyon et à Paris", [weather("Lyon"), weather("Paris")]),
        ("weather in Washington, D.C. and Boston", [weather("Washington"), weather("D.C."), weather("Boston")]),
        ("search for cats and tell me the weather in Rome", [search("cats"), weather("Rome")]),
        (
            "wer ist Ada Lovelace und welche Farbe hat der Mond",
            [search("Ada Lovelace"), search("welche Farbe hat der Mond")],
        ),
        ("Wo ist das Haus, wo Goethe wohnte?", [search("Wo ist das Haus, wo Goethe wohnte")]),
        ("who wrote Pride and Prejudice", [search("who wrote Pride and Prejudice")]),
        ("Who is Ada Lovelace, who was Alan Turing?", [search("Ada Lovelace"), search("Alan Turing")]),
        ("max(2*3, 4*5, 1)", [calculate("max(2*3, 4*5, 1)")]),
        ("1+1; 1+2; 1+3; 1+4; 1+5; 1+6; 1+7; 1+8; 1+9", [calculate(f"1+{n}") for n in range(1, MAX_INTENTS + 1)]),
    ],
)
async def test_several_requests_in_one_message(sentence: str, calls: list[tuple[str, dict[str, object]]]) -> None:
    """All calls stand in one completion, in order, nothing twice, and not without end."""
    made = await calls_for(asking(sentence))
    assert [(call.name, call.arguments) for call in made] == calls
    assert len({call.id for call in made}) == len(calls)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[Sat 2026-11-21 22:40 UTC] hello", "hello"),
        ("[Sat 2026-11-21 22:40 Europe/Berlin · Alice] hello\n[Sat 2026-11-21 22:41 UTC · Bob] you", "hello\nyou"),
        ("[Sat 2026-11-21 22:40 UTC] two\nlines", "two\nlines"),
        ("(in answer to: 'What is 1+1?')\n[Sat 2026-11-21 22:40 UTC] and 2+2?", "and 2+2?"),
        ("[Sat 2026-11-21 22:40 UTC]\n📎 a file of type image/png, which cannot be read here", ""),
        ("[Sat 2026-11-21 22:40 UTC] see\n📎 a text file, its text:\n> What is 1+1?", "see"),
        ("(A note from Aldis: what to remember.)\n1. What is 1+1?\n\n[Sat 2026-11-21 22:40 UTC] and 2+2?", "and 2+2?"),
        ("(A note from Aldis: this is what I write myself", "(A note from Aldis: this is what I write myself"),
        ("no header", "no header"),
        ("[1, 2] is a list", "[1, 2] is a list"),
        ("[Sat 2026-11-21 22:40 UTC] [2026-01-01] is a date", "[2026-01-01] is a date"),
    ],
)
def test_only_what_people_wrote_is_read(text: str, words: str) -> None:
    """The headers and notes that stand around a person's words are none of them."""
    assert people_words(text) == words


@given(st.text(max_size=300) | st.text("0123456789+-*/(),.!^%xe of and is in the what", max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read(text: str) -> None:
    """Whatever is written, it is understood or not: never a crash, never a tool unknown or without its words."""
    for intent in intents(people_words(text)):
        assert intent.tool in TOOLS
        assert all(str(value).strip() for value in intent.arguments.values())


@pytest.mark.parametrize(
    "text",
    ["1" * 1900 + "q", "1 " * 2500, "(" * 5000, "1, " * 1600 + "!", "weather in " * 500, "please " * 700, "=" * 5000],
)
def test_no_text_takes_for_ever(text: str) -> None:
    """Texts on which a careless pattern would hang are read at once: this test would not end."""
    for lead in ("", "sum of ", "what is ", "weather "):
        intents(lead + text)


async def test_both_results_in_one_answer() -> None:
    """The issue's own example: two tools asked together, one answer that says both."""
    text = await answer("What is 17*23, and what time is it in Tokyo?", found(CALCULATED), found(TOKYO))
    assert text == ("`17*23` = **391**\n\nIt's **07:40** in Tokyo (Sunday, 22 November 2026, Asia/Tokyo, UTC+09:00).")


async def test_the_time_here() -> None:
    """Without a place the zone that the tool took is named."""
    text = await answer("what time is it", found({"timezone": "UTC", "date": "2026-11-21", "time": "22:40"}))
    assert text == "It's **22:40** (21 November 2026, UTC)."


async def test_weather_in_words() -> None:
    """Now, a line for each day, what is unknown left out, and the attribution that the licence wants."""
    assert await answer("weather in Paris", found(PARIS)) == (
        "**Paris, Île-de-France, France** now: slight rain, 8.1 °C (feels like 6 °C), humidity 81%, wind 12 km/h\n"
        "- Saturday, 21 November 2026: overcast, 5 °C to 9 °C, 1.2 mm of rain or snow, 70% likely\n"
        "- Sunday, 22 November 2026: clear sky, 11 °C\n"
        "Weather data by Open-Meteo.com (https://open-meteo.com/)"
    )


async def test_weather_that_was_cut_or_says_little() -> None:
    """A result that was cut to size, or lacks most of it, is still worded; other places of the name are named."""
    data = {
        "place": {"latitude": 48.85, "longitude": 2.35},
        "days": [{"temperature_min": "5 °C"}, "… [left out: 5 items more]"],
        "other_places": [{"name": "Paris", "region": "Texas", "country": "United States"}],
    }
    assert await answer("weather in Paris", found(data)) == (
        "**48.85, 2.35** now: unknown\n"
        "- ?: unknown, 5 °C\n"
        "- … [left out: 5 items more]\n"
        "Other places of that name: Paris, Texas, United States."
    )


async def test_an_ambiguous_place_is_asked_back() -> None:
    """The tool's question and the places come through, with what to do."""
    data = {
        "ambiguous": True,
        "message": "Several places are named 'Springfield': which one is meant?",
        "candidates": [{"name": "Springfield", "region": "Illinois"}, {"name": "Springfield", "region": "Ohio"}],
    }
    assert await answer("weather in Springfield", found(data)) == (
        "There are several places called “Springfield”:\n"
        "- Springfield, Illinois\n- Springfield, Ohio\n"
        "Ask again with the region or the country behind the name."
    )


async def test_search_results_in_words() -> None:
    """Numbered, with title, age, snippet and address, at most three; who answered is said."""
    assert await answer("search for lighthouses", found(LIGHTHOUSES)) == (
        "Wikipedia on “lighthouses”:\n"
        "1. **Lighthouse**: A tower. https://a.example/1\n"
        "2. **Keeper** (2 days) https://a.example/2"
    )
    many = LIGHTHOUSES | {"results": [*LIGHTHOUSES["results"], *LIGHTHOUSES["results"], "… [left out]"], "source": ""}
    text = await answer("search for lighthouses", found(many))
    assert text.startswith("The search on “lighthouses”:")
    assert "\n3. " in text
    assert "\n4. " not in text


async def test_a_search_without_results() -> None:
    """Nothing found is said plainly."""
    text = await answer("search for xyzzy", found({"query": "xyzzy", "results": [], "message": "Nothing was found."}))
    assert text == "I found nothing about “xyzzy”; try other words."


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("2/0", "I can't calculate `2/0`."),
        ("3 miles in kg", "I can't convert miles."),
        ("weather in Nowhere", "I have no weather for Nowhere."),
        ("what time is it in Nowhere", "I can't tell the time in Nowhere."),
        ("what time is it", "`current_time` failed."),
        ("search for x", "The search for “x” failed."),
    ],
)
async def test_failures_in_words(sentence: str, words: str) -> None:
    """A tool's failure is told with what was asked for, and why; what it says to models is not."""
    assert await answer(sentence, failed("No.")) == f"{words} {NOTHING}"


@pytest.mark.parametrize("error", KINDS_OF_FAILURE)
@pytest.mark.parametrize("language", LANGUAGES)
async def test_why_is_told_in_the_language_of_whoever_asks(error: str, language: Language) -> None:
    """Whatever kind of failure it is, and nothing of what the tool says to models; in a sentence of that language."""
    with use_language(language):
        text = await answer("2*3", failed("calculate was called too often", error))
        assert text.endswith(f" {say(common_phrases.TOOL_FAILURES[error])}")
    assert "called" not in text
    assert language == "en" or common_phrases.TOOL_FAILURES[error].text not in text


async def test_one_failure_beside_one_result() -> None:
    """What worked is said although something else did not."""
    text = await answer("2*3 and weather in Nowhere", found({"expression": "2*3", "result": 6}), failed("Not known."))
    assert text == f"`2*3` = **6**\n\nI have no weather for Nowhere. {NOTHING}"


@pytest.mark.parametrize("content", ["garbage", "[]", '{"ok": true}', '{"ok": true, "untrusted_data": 5}'])
async def test_an_answer_of_another_shape_is_shown_as_it_is(content: str) -> None:
    """Nothing is swallowed and nothing crashes."""
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


async def test_it_says_plainly_what_it_is() -> None:
    """No model, what it can do with examples, and how to get a model."""
    text = await words_for(asking("Hello there"))
    assert text.startswith("Hello! No language model is set up")
    for part in (
        "What is 17*23?",
        "Paris",
        "Tokyo",
        "Search for",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "/help",
    ):
        assert part in text
    assert (await words_for(asking("?"))).startswith("No language model is set up")


async def test_it_offers_only_what_it_has() -> None:
    """A tool that is not offered is no ability of it; without any it says so."""
    text = await words_for(asking("hello", tools=["calculate"]))
    assert "17*23" in text
    assert "Tokyo" not in text
    for request in (asking("hello", tools=[]), asking("hello", may_call_tools=False)):
        assert "all my tools are switched off" in await words_for(request)


async def test_its_examples_are_understood() -> None:
    """Each sentence that it suggests leads to a call."""
    text = await words_for(asking("hello"))
    examples = [line.partition("“")[2].rstrip("”") for line in text.splitlines() if line.startswith("- ")]
    assert [(await calls_for(asking(example)))[0].name for example in examples] == list(TOOLS)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_speaks_and_understands_every_language(language: Language) -> None:
    """Each sentence that it suggests there leads to a call; answers, skies and failures are in that language."""
    with use_language(language):
        text = await words_for(asking("hello"))
        examples = [say(common_phrases.EXAMPLES[name]) for name in phrases.OFFLINE_TOPICS if name in TOOLS]
        assert all(example in text for example in examples)
        called = {(await calls_for(asking(example)))[0].name for example in examples}
        assert called == set(TOOLS)
        weather = await answer("weather in Paris", found(PARIS))
        sky = {"en": "slight rain", "de": "leichter Regen", "fr": "pluie faible", "es": "lluvia ligera"}[language]
        assert sky in weather
        assert ("feels like" in weather) is (language == "en")
        assert (await answer("2/0", failed("No."))).replace("\u00a0", " ").isprintable()


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_city_of_its_example_is_known(language: Language) -> None:
    """By what it is called in that language."""
    with use_language(language):
        [call] = await calls_for(asking(say(common_phrases.EXAMPLES["current_time"])))
    context = ToolContext(now=datetime(2026, 11, 21, 22, 40, tzinfo=UTC), timezone="UTC")
    told = await CurrentTime().run(CurrentTimeArguments.model_validate(call.arguments), context)
    assert told.data["timezone"] != "UTC"


async def test_a_moment_is_told_as_people_there_write_it() -> None:
    """Not as the tool tells models."""
    planned = {"number": 1, "when": "Monday 2026-11-23 08:00 Europe/Madrid", "text": "té"}
    with use_language("es"):
        told = await answer("Recuérdame en 10 minutos apagar el horno", found(planned), tools=("remind",))
        assert "lun, 23 nov 2026, 08:00 Europe/Madrid: té" in told


ABOUT = {
    "en": ("What can you do?", "how do I delete my data?", "Thanks!"),
    "de": ("Was kannst du?", "Wie lösche ich meine Daten?", "danke"),
    "fr": ("Que sais-tu faire ?", "Comment effacer mes données ?", "Merci beaucoup !"),
    "es": ("¿Qué puedes hacer?", "¿cómo borro mis datos?", "gracias"),
}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_it_can_do_and_how_data_are_deleted_is_answered_truly(language: Language) -> None:
    """Also both in one message; whatever it has no answer to is one line with the way out."""
    abilities, privacy, thanks = ABOUT[language]
    with use_language(language):
        assert "17*23" in await words_for(asking(abilities))
        told = await words_for(asking(privacy))
        assert "`/forget everything`" in told
        assert "\n" not in told
        both = await words_for(asking(f"{abilities}\n{privacy}"))
        assert "`/export`" in both
        assert "17*23" in both
        sums = await answer(f"17*23\n{abilities}", found(CALCULATED))
        assert "**391**" in sums
        assert abilities.strip("¿ ?") not in sums
        assert len(await words_for(asking(thanks))) < 20
        lost = await words_for(asking("zxq vbn wqp"))
        assert "\n" not in lost
        assert "zxq vbn wqp" in lost
        assert say(phrases.OFFLINE_WAY_OUT) in lost


@pytest.mark.parametrize(
    "text",
    [
        *("What do you remember about me?", "forget that I like tea", "Was hast du dir gemerkt?", "Vergiss das"),
        *("Que sais-tu de moi ?", "oublie que j'aime le thé", "¿Qué sabes de mí?", "olvida que me gusta el té"),
    ],
)
async def test_whoever_asks_for_what_is_remembered_hears_where_it_stands(text: str) -> None:
    """And how it is forgotten."""
    assert "`/memory forget 2`" in await words_for(asking(text))


@pytest.mark.parametrize("text", ["ok", "Alles klar!", "d'accord", "vale", "👍", "😀😀"])
async def test_a_nod_is_answered_by_one(text: str) -> None:
    """Not by everything that could be asked."""
    assert await words_for(asking(text)) == "👍"


@pytest.mark.parametrize(
    "text",
    [
        *("Wie heißt du?", "what's your name?", "Comment tu t'appelles ?", "¿Cómo te llamas?"),
        *("How are you?", "Wie geht's?", "ça va ?", "¿Qué tal?", "Are you a human?", "Bist du ein Roboter?"),
    ],
)
async def test_whoever_asks_for_its_name_or_its_health_hears_what_it_is(text: str) -> None:
    """It has understood them."""
    assert "17*23" in await words_for(asking(text))


@pytest.mark.parametrize(
    "text", ["What can you tell me about Rome?", "forget it", "que sais-tu de Rome", "was kannst du empfehlen"]
)
async def test_what_only_begins_like_it_is_something_else(text: str) -> None:
    """Neither about what it can do nor about data."""
    told = await words_for(asking(text))
    assert "`/forget`" not in told
    assert "17*23" not in told


async def test_a_tool_that_is_not_offered_is_not_called() -> None:
    """The part that has a tool is answered, the other regretted in plain words."""
    text = await answer("17*23 and weather in Paris", found(CALCULATED), tools=["calculate"])
    assert text == "`17*23` = **391**\n\nMy tool for the weather is switched off here; `/tools` shows how things stand."


async def test_with_tools_switched_off_it_does_not_call() -> None:
    """At the limit of calls it says so, and says once what several parts lack."""
    text = await words_for(asking("17*23 and 2+2", may_call_tools=False))
    assert text == "I can't use my tools for this message, so I can't answer that."


async def test_weather_nowhere_asks_for_the_place() -> None:
    """Without a place no call is made: the question goes back to the person."""
    assert "which place" in await words_for(asking("Is it raining?"))


async def test_ids_are_new_in_every_round() -> None:
    """A conversation of many turns, its history cut at the front, never holds an id twice: it stays sendable."""
    request = asking("1+1 and 2+2")
    history: tuple[Message, ...] = ()
    ids: list[list[CallId]] = []
    for _ in range(4):
        messages = (*history, *request.messages)
        calls = await calls_for(replace(request, messages=messages))
        answers = tuple(
            ToolAnswer(call_id=call.id, name=call.name, content=found(CALCULATED), ok=True) for call in calls
        )
        messages = (*messages, AssistantMessage(parts=tuple(calls)), ToolMessage(answers=answers))
        words = await words_for(replace(request, messages=messages))
        messages = (*messages, AssistantMessage(parts=(Text(text=words),)))
        assert is_sendable(messages)
        history = messages[-4:]
        ids.append([call.id for call in calls])
    assert ids == [[f"offline_{turn}_1", f"offline_{turn}_2"] for turn in range(1, 5)]


async def test_the_day_of_a_reminder_is_that_of_the_message() -> None:
    """As its header has it."""
    [call] = await calls_for(asking("Erinnere mich morgen um 9 an den Zahnarzt", tools=["remind"]))
    assert call.arguments == {"action": "set", "text": "den Zahnarzt", "local_datetime": "2026-11-22T09:00"}


@pytest.mark.parametrize(
    ("before", "then", "planned"),
    [
        ("remind me to call Mum", "Tomorrow at 9.", {"text": "call Mum", "local_datetime": "2026-11-22T09:00"}),
        ("remind me to call Mum.", "in 10 minutes, please", {"text": "call Mum", "delay_seconds": 600}),
        ("remind me tomorrow at 9", "to call Mum", {"text": "call Mum", "local_datetime": "2026-11-22T09:00"}),
        (
            "Remind me to pay",
            "at 18:00 to pay the rent",
            {"text": "pay the rent", "local_datetime": "2026-11-22T18:00"},
        ),
        ("erinnere mich an Mama", "morgen um 9", {"text": "Mama", "local_datetime": "2026-11-22T09:00"}),
        ("rappelle-moi de payer", "demain à 9 h", {"text": "payer", "local_datetime": "2026-11-22T09:00"}),
        ("recuérdame pagar", "mañana a las 9", {"text": "pagar", "local_datetime": "2026-11-22T09:00"}),
        ("remind me to call Mum", "never mind", None),
        ("remind me tomorrow at 9 to call Mum", "in 10 minutes", None),
        ("thanks", "in 10 minutes", None),
    ],
)
async def test_what_a_reminder_lacked_may_follow(before: str, then: str, planned: Mapping[str, Any] | None) -> None:
    """Its time or its text, in the next message; anything else is about something else."""
    request = asking(then, tools=["remind"])
    asked_back = AssistantMessage(parts=(Text(text="When, and of what?"),))
    messages = (*asking(before).messages, asked_back, *request.messages)
    calls = await calls_for(replace(request, messages=messages))
    assert [call.arguments for call in calls] == ([] if planned is None else [{"action": "set", **planned}])


async def test_only_the_newest_question_counts() -> None:
    """Answers to older questions are not said again."""
    older = AssistantMessage(parts=(Text(text="`1+1` = **2**"),))
    request = replace(
        asking(""), messages=(UserMessage(text="1+1"), older, UserMessage(text="[Sat 2026-11-21 22:40 UTC] 2+2"))
    )
    assert [call.arguments for call in await calls_for(request)] == [{"expression": "2+2"}]


async def test_the_same_request_gives_the_same_completion() -> None:
    """Deterministic, free, and without tokens or time: the double that tests stand on."""
    provider: Provider = Offline()
    first, second = [await provider.complete(asking("What is 17*23?")) for _ in range(2)]
    assert first == second
    assert (first.provider, first.model, provider.name) == ("offline", "offline", "offline")
    assert (first.usage, first.cost_usd, first.attempts) == (Usage(), Decimal(0), ())
    await provider.aclose()


async def test_a_request_without_a_question_is_refused() -> None:
    """It breaks the request's own rule, so it is a mistake of the caller."""
    with pytest.raises(ValueError, match="at least one user message"):
        await Offline().complete(replace(asking(""), messages=()))


@pytest.mark.parametrize(
    ("sentence", "tool", "words"),
    [
        ("What is 17*23?", Calculator(), "`17*23` = **391**"),
        ("15% of 80", Calculator(), "`15/100*80` = **12**"),
        ("the square root of 16", Calculator(), "`sqrt(16)` = **4**"),
        ("average of 3, 4 and 8", Calculator(), "`mean(3, 4, 8)` = **5**"),
        ("what is 5!", Calculator(), "`factorial(5)` = **120**"),
        ("How many km are 3 miles?", CONVERT, "3 miles = **4.828032 kilometres**"),
        (
            "What time is it in Tokyo?",
            CurrentTime(),
            "It's **07:40** in Tokyo (Sunday, 22 November 2026, Asia/Tokyo, UTC+09:00).",
        ),
    ],
)
async def test_the_real_tools_understand_it(sentence: str, tool: Tool, words: str) -> None:
    """What it asks for the real tools take, and what they answer it can word."""
    (call,) = await calls_for(asking(sentence))
    arguments = tool.spec.arguments.model_validate(call.arguments)
    context = ToolContext(now=datetime(2026, 11, 21, 22, 40, tzinfo=UTC), timezone="Europe/Berlin")
    result = await tool.run(arguments, context)
    assert await answer(sentence, found(result.data)) == words
