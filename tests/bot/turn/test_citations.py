"""The sources that an answer names: those that a search gave, and no others."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.clock import SetClock
from bot.messages import AssistantMessage, CallId, Message, Text, ToolAnswer, ToolCall, ToolMessage, UserMessage
from bot.turn.citations import cited
from store import Store
from tests.bot.turn.test_sources import GOOD, Search
from tests.bot.turn.turn_helpers import Desk, Scripted, calls, says

LAMPS, FLAGS = "https://www.lamps.example/signals?a=1", "https://flags.example/wiki/Flag_(signal)"


def tools_said(data: object, name: str = "web_search") -> tuple[Message, Message]:
    content = json.dumps({"ok": True, "untrusted_data": data}, ensure_ascii=False)
    call = ToolCall(id=CallId("call_1"), name=name, arguments={})
    answer = ToolAnswer(call_id=CallId("call_1"), name=name, content=content, ok=True)
    return AssistantMessage(parts=(call,)), ToolMessage(answers=(answer,))


def question(text: str = "[Sat] What of lamps?") -> UserMessage:
    return UserMessage(text=text)


SEARCHED: tuple[Message, ...] = (
    question("[Fri] Read https://old.example/asked"),
    AssistantMessage(parts=(Text(text="I did."),)),
    question("[Sat] See HTTPS://Person.example/page, too"),
    *tools_said(
        {
            "results": [
                {"number": 7, "title": "Lamps", "url": LAMPS, "snippet": "see https://snippet.example/x"},
                {"number": 8, "title": "Flags", "url": FLAGS, "snippet": "x"},
            ]
        }
    ),
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Lamps flash [7].", f"Lamps flash [1].\n\n[1] {LAMPS}"),
        ("Flags[8], lamps [7][8].", f"Flags[1], lamps [2][1].\n\n[1] {FLAGS}\n[2] {LAMPS}"),
        ("Both [7, 8].", f"Both [1][2].\n\n[1] {LAMPS}\n[2] {FLAGS}"),
        ("Both [7, 9].", "Both [7, 9]."),
        ("Nothing [9] of that, nor a[7](x).", "Nothing [9] of that, nor a[7](x)."),
        ("`row[7]` and\n```\nx[8] https://made.example\n```", "`row[7]` and\n```\nx[8] https://made.example\n```"),
        (f"Lamps [7].\n\n[7] Lamps: {LAMPS}", f"Lamps [1].\n\n[1] Lamps: {LAMPS}"),
        ("Nothing was found.", "Nothing was found."),
    ],
)
def test_citations_lead_to_what_was_found(text: str, shown: str) -> None:
    """Numbered in the order in which they come, each address once; what is no citation stays."""
    assert cited(text, SEARCHED) == shown


def test_a_page_that_two_searches_found_is_one_source() -> None:
    """It bears a number of each of them; in the answer it has one."""
    again = tools_said({"results": [{"number": 14, "url": LAMPS}]}, "verify_news")
    shown = cited("Lamps [14], lamps [7] and flags [8]; both [7, 14].", (*SEARCHED, *again))
    assert shown == f"Lamps [1], lamps [1] and flags [2]; both [1].\n\n[1] {LAMPS}\n[2] {FLAGS}"


def test_a_number_of_two_pages_leads_to_neither() -> None:
    """After a crash between two searches of a turn the numbers begin anew: a wrong source is worse than none."""
    again = tools_said({"results": [{"number": 7, "url": "https://other.example/"}]})
    assert cited("Lamps [7], flags [8].", (*SEARCHED, *again)) == f"Lamps [7], flags [1].\n\n[1] {FLAGS}"
    more = tools_said({"results": [{"number": 8, "url": "https://other.example/"}]})
    assert cited("See [7] https://made.example/x", (*SEARCHED, *again, *more)) == "See [7] made[.]example"


@pytest.mark.parametrize(
    "text",
    [
        f"See {LAMPS}.",
        f"See [lamps]({LAMPS}) and ({FLAGS}).",
        "See http://lamps.example/signals?a=1#part",
        "See https://lamps.example/ itself",
        "See https://person.example/page and https://old.example/asked, https://snippet.example/x!",
        "**https://flags.example**",
        "See https://flags.example/wiki or https://flags.example/wiki/Flag_%28signal%29",
    ],
)
def test_an_address_that_was_given_stays(text: str) -> None:
    """By a search, in a snippet, by the person, earlier; in another spelling, and the front page of its site."""
    assert cited(text, SEARCHED) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See [the page](https://made.example/up).", "See the page."),
        ('See [the page](https://made.example/a_(b) "title"), too.', "See the page, too."),
        ("More at https://made.example/up.", "More at made[.]example."),
        ("Run `x` https://made.example/up\n`y` https://made.example/up", "Run `x`\n`y`"),
        ("See https://amps.example/ or https://lamps.exam.", "See amps[.]example or lamps[.]exam."),
        ("See https://lamps.example/sig.", "See lamps[.]example."),
        ("See https://lamps.example.evil.example/", "See lamps[.]example[.]evil[.]example"),
        ("Lamps (https://made.example/up) flash.", "Lamps (made[.]example) flash."),
        ("Lamps <https://made.example/up> flash.", "Lamps made[.]example flash."),
        ("One.\n- https://made.example/up\n- https://lamps.example/\nTwo.", "One.\n- https://lamps.example/\nTwo."),
        ("One.\nSource: https://made.example/up\n\nTwo.", "One.\n\nTwo."),
        ("Lamps [7].\n[9] https://made.example/up", f"Lamps [1].\n\n[1] {LAMPS}"),
        (f"See {LAMPS}&q=secret", "See www[.]lamps[.]example"),
        ("![](https://made.example/pixel?q=secret)Done.", "Done."),
    ],
)
def test_an_address_that_nobody_gave_is_taken_out(text: str, shown: str) -> None:
    """The words of a link stay; a line that held nothing else goes."""
    assert cited(text, SEARCHED) == shown


@pytest.mark.parametrize(
    "read",
    [
        (question(),),
        (*SEARCHED, AssistantMessage(parts=(Text(text="Found."),)), question()),
        (question(), *tools_said({"results": []})),
        (question(), *tools_said({"results": "none"})),
        (question(), *tools_said(["x"])),
        (question(), *tools_said({"temperature": "3"}, name="get_weather")),
    ],
)
def test_without_a_search_nothing_is_changed(read: tuple[Message, ...]) -> None:
    """What a model knows itself it may name; the numbers of an earlier turn are not this one's."""
    text = "See [the manual](https://docs.example/manual) or https://docs.example [7]."
    assert cited(text, read) == text


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["[", "]", "(", ")", "7", "https://made.example/x", "`", "\n", " ", "<", ">", "."])))
def test_whatever_is_answered_no_invented_address_is_left(parts: list[str]) -> None:
    """Outside of code."""
    answer = "".join(parts).replace("`", "")
    assert "made.example/x" not in cited(answer, SEARCHED)


async def test_people_see_the_sources_and_the_history_holds_them(store: Store, clock: SetClock) -> None:
    """What was shown is what is remembered."""
    search = calls(("web_search", {"query": "lamps"}))
    answer = says("Lamps flash [1], says [a page](https://made.example/up).")
    desk = Desk(store, clock, Scripted([search, answer, says("You are welcome.")]), tools=(Search(),))
    shown = f"Lamps flash [1], says a page.\n\n[1] {GOOD}"
    assert (await desk.kept("What of lamps?")).text == shown
    await desk.kept("Thank you")
    assert [message.text for message in desk.provider.requests[-1].messages if message.role == "assistant"][-1] == shown
