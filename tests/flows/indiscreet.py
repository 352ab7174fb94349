"""The outside of Aldis with a canary in every place, and the stories of a day in which everything is said and fails."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from tests.flows.canaries import Canaries
from tests.ports import free_port
from tests.servers import anthropic, openai
from tests.servers.anthropic import AnthropicServer
from tests.servers.base import Answer, answer_json
from tests.servers.envelopes import (
    ACCOUNT,
    ALDIS,
    ALICE,
    BOB,
    GROUP,
    MALLORY,
    Frame,
    Person,
    attachment,
    delete,
    edit,
    envelope,
    mention_of,
    message,
    quote_of,
    reaction,
    sync_sent,
    timer,
    typing,
    undecryptable,
)
from tests.servers.open_meteo import OpenMeteo, place
from tests.servers.openai import OpenAIServer
from tests.servers.script import call, cut_body, cut_connection, refuse, say, think
from tests.servers.searches import Brave, page
from tests.servers.signal_server import Plan, SignalServer, cut
from tests.waiting import eventually

MASTER_KEY = "c0ffee5eed0fa11ce" + "ab" * 23 + "c"
AT_ONCE = {"retry-after": "0"}


@dataclass(repr=False)
class World:
    """The outside of one test, with a canary in every place. It has no repr: a failure would show megabytes."""

    signal: SignalServer
    model: AnthropicServer
    spare: OpenAIServer
    search: Brave
    weather: OpenMeteo
    folder: Path
    canaries: Canaries = field(default_factory=Canaries)
    port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        new, keep = self.canaries.word, self.canaries.keep
        self.alice = replace(ALICE, name=new("Alice's name"))
        self.bob = replace(BOB, name=new("Bob's name"))
        self.mallory = replace(MALLORY, name=new("a stranger's name"))
        for person in (ALDIS, self.alice, self.bob, self.mallory):
            whose = f"of {person.device}/{person.uuid[:8]}"
            self.canaries.keep_uuid(f"the uuid {whose}", person.uuid)
            keep(f"the number {whose}", (person.number or "").removeprefix("+"))
        keep("the group's id", GROUP.rstrip("="))
        self.group_name = new("the group's name")
        self.model.key = f"sk-ant-{new('the key of Anthropic')}"
        self.spare.key = f"sk-{new('the key of OpenAI')}"
        keep("the key of Brave", Brave.KEY)
        keep("the master key", MASTER_KEY)
        keep("the master key, its bytes", bytes.fromhex(MASTER_KEY).decode("latin-1"))

    @property
    def settings(self) -> dict[str, str]:
        return {
            "SIGNAL__URL": self.signal.url,
            "SIGNAL__UNKNOWN_GRACE_SECONDS": "1",
            "ACCESS__ALLOWED": f"{ALICE.uuid},{BOB.number}",
            "ACCESS__GROUPS": GROUP,
            "STORE__KEY": MASTER_KEY,
            "LOG__LEVEL": "debug",
            "WEB__PORT": str(self.port),
            "TOOLS__WEATHER__BASE_URL": self.weather.url,
            "TOOLS__WEATHER__GEOCODING_BASE_URL": self.weather.url,
            "TOOLS__WEB_SEARCH__BASE_URL": f"{self.search.url}/res/v1",
            **self.keys,
        }

    @property
    def keys(self) -> dict[str, str]:
        return {
            "LLM__ANTHROPIC__BASE_URL": self.model.url,
            "OPENAI_BASE_URL": self.spare.base_url,
            "LLM__OPENAI__MODEL": "qwen4:8b",
            "ANTHROPIC_API_KEY": self.model.key or "",
            "OPENAI_API_KEY": self.spare.key or "",
            "BRAVE_API_KEY": Brave.KEY,
        }

    def said(self, what: str) -> str:
        return f"Grüße, {self.canaries.word(what)} 🌱 \n{self.canaries.word(what + ' (next line)')}"

    def message(self, what: str, author: Person | None = None, **more: Any) -> Frame:
        frame = message(self.said(what), author=author or self.alice, **more)
        if "group" in more:
            frame["envelope"]["dataMessage"]["groupInfo"]["groupName"] = self.group_name
        return frame

    async def answered(self, what: str, **more: Any) -> None:
        before = len(self.signal.sent)
        await self.signal.deliver(self.message(what, **more))
        await self.signal.sent_count(before + 1)

    def leaks(self, said: Mapping[str, str], running: Mapping[str, list[str]] | None = None) -> dict[str, list[str]]:
        """Which canaries stand where: in what was said, in the files as they were while it ran, and as they are now."""
        told = {name: self.canaries.found_in(words) for name, words in said.items()}
        then = {f"{name}, while it ran": found for name, found in (running or {}).items()}
        return {
            name: found for name, found in (told | then | self.canaries.found_beneath(self.folder)).items() if found
        }

    async def page(self, path: str) -> str:
        async with aiohttp.ClientSession() as http, http.get(f"http://127.0.0.1:{self.port}{path}") as response:
            return await response.text()


# The stories, each with words of its own


async def with_tools(world: World) -> None:
    """A turn whose every step carries words: what the model thinks, asks of tools, hears from them and answers."""
    new = world.canaries.word
    town = new("the place that the model asks for")
    world.weather.places = [place(town, new("a country"), new("a region"))]
    world.search.results = [page(new("a title"), f"https://{new('a host')}.example/", new("a snippet"))]
    world.model.scripted(
        think(world.said("a thought"))
        + say(world.said("words beside calls"))
        + call("get_weather", {"place": town})
        + call("calculate", {"expression": f"1 + {new('an expression')}"})
        + call("web_search", {"query": world.said("a query")})
        + call(new("a tool that is none"), {new("a parameter"): new("an argument")})
        + call("current_time", f'{{"timezone": "{new("half an argument")}'),
        say(world.said("the answer") + " `and` **styles**"),
    )
    await world.answered("a question for tools")
    heard = world.model.requests[-1].body.decode()
    assert {"a title", "a country", "a query", "an expression"} <= {*world.canaries.found_in(heard)}
    assert "the answer" in world.canaries.found_in(world.signal.sent[-1].text)


async def in_a_group(world: World) -> None:
    """Mentions, a quote, files: what comes with a message."""
    await world.answered(
        "a question in the group",
        author=world.bob,
        group=GROUP,
        mentions=[mention_of(ALDIS), mention_of(world.alice, 1)],
        quote=quote_of(ALDIS, world.signal.sent[-1].timestamp, world.said("a quote")),
        attachments=[attachment(world.canaries.word("a file's name") + ".jpg", "image/jpeg")],
    )
    assert "Bob's name" in world.canaries.found_in(world.model.requests[-1].body)


async def commands(world: World) -> None:
    """Words behind commands, in names that none has, and in what is set and planned."""
    new = world.canaries.word
    for text in (
        f"/persona {new('a persona')}",
        f"/persona aunt: {new('a persona with a name')}",
        f"/remind tomorrow at 8 {new('a reminder')}",
        f"/remind {new('a reminder without a time')}",
        f"/remind every day at 8 ask: {new('a planned question')}",
        f"/{new('a command that there is none of')} {new('what follows it')}",
        f"“/{new('a command in quotation marks')}”",
        f"/timezone {new('a place')}",
        f"/forget {new('a wrong form')}",
        "/persona off",
    ):
        before = len(world.signal.sent)
        await world.signal.deliver(message(text, author=world.alice))
        await world.signal.sent_count(before + 1)


async def what_is_not_answered(world: World) -> None:
    """Strangers, events without an answer, and frames that are none; a question afterwards shows that all were read."""
    new, signal = world.canaries.word, world.signal
    await signal.deliver(
        world.message("a stranger's words", world.mallory),
        world.message("a stranger's words in another group", world.mallory, group="T3RoZXI="),
        world.message("talk among others", world.bob, group=GROUP),
        edit(world.said("an edit"), 5, author=world.alice),
        reaction(new("an emoji"), 5, author=world.alice),
        timer(60, author=world.alice),
        timer(0, author=world.alice),
        delete(5, author=world.alice),
        typing(author=world.alice),
        sync_sent(world.said("the operator's own words"), world.bob),
        undecryptable(world.alice) | {"exception": {"type": new("no class "), "message": world.said("a failure")}},
        undecryptable(None) | {"exception": {"type": "X", "message": world.said("a sealed failure")}},
        envelope(world.alice, storyMessage={"textAttachment": {"text": world.said("a story")}}),
        message(world.said("for another account"), account=new("another account")),
        {"error": world.said("an error of the bridge"), "account": ACCOUNT},
        {"envelope": world.said("no envelope")},
    )
    await signal.deliver_data(f'{{"envelope": {{"{world.canaries.word("half a frame")}')
    await signal.deliver_data(world.canaries.word("a frame that is too long") * 60_000)
    await world.answered("words that may be seen once", viewOnce=True)
    await world.answered("a question after all that")


async def models_that_fail(world: World) -> None:
    """Every failure quotes the prompt and the key; the spare model answers, until it fails, too."""
    quoted = f"{world.said('an error of the model')} {world.model.key} {ALICE.uuid} {ALICE.number}"
    garbage = {"content": quoted, "choices": quoted, "type": quoted}
    faults: list[Answer] = [
        answer_json(anthropic.error_body("overloaded_error", quoted), 529, AT_ONCE),
        answer_json(anthropic.error_body("invalid_request_error", quoted, why=quoted), 400),
        answer_json(anthropic.error_body(quoted, quoted), 500, AT_ONCE),
        answer_json(garbage, 200, AT_ONCE),
        _html(quoted),
        cut_body,
        cut_connection,
    ]
    for number, fault in enumerate(faults):
        world.model.faults.append(fault)
        world.spare.scripted(say(world.said(f"the spare model's answer {number}")))
        await world.answered(f"a question to a model that fails ({number})")
    world.model.scripted(refuse(world.said("a refusal")))
    await world.answered("a question that is refused")
    for status in (401, 400):
        world.model.faults.append(answer_json(anthropic.error_body("authentication_error", quoted), status))
        world.spare.faults.append(answer_json(openai.error_body(quoted, code=quoted), status))
        await world.answered(f"a question to two models that fail with {status}")


def _html(quoted: str) -> Answer:
    return lambda _: web.Response(status=503, text=f"<html>{quoted}</html>", content_type="text/html", headers=AT_ONCE)


async def a_bridge_that_fails(world: World) -> None:
    """Sends, receipts and typing that are refused with everything in the refusal; a stream that breaks."""
    signal, canaries = world.signal, world.canaries
    quoted = f"{canaries.word('an error of the bridge')} {ALICE.uuid} {ALICE.number} {ACCOUNT}"
    error = {"message": quoted, "data": {"response": {"results": [{"type": quoted}]}}}
    refusals = [{"jsonrpc": "2.0", "error": error | {"code": code}, "id": 1} for code in (-1, -32603)]
    signal.plans.extend(
        [
            Plan(results=("UNREGISTERED_FAILURE",)),
            Plan(error=-1),
            Plan(answer=answer_json({"error": f"{quoted} not found"}, 400)),
            *(Plan(answer=answer_json(refusal)) for refusal in refusals),
            Plan(answer=answer_json({"result": quoted, "timestamp": quoted, "error": quoted}, 500)),
            Plan(answer=answer_json({"result": {"timestamp": quoted}, "timestamp": quoted})),
            Plan(answer=cut),
        ]
    )
    # A send of unknown outcome holds its conversation up for a second, so they take turns.
    chats = cycle([{}, {"author": world.bob}, {"author": world.bob, "group": GROUP, "mention": True}])
    while left := len(signal.plans):
        await signal.deliver(world.message(f"a question whose answer is refused ({left})", **next(chats)))
        await eventually(lambda left=left: len(signal.plans) < left)
    signal.plans.append(Plan(results=("SUCCESS", "NETWORK_FAILURE", "UNREGISTERED_FAILURE")))
    await world.answered("a question whose answer reaches some", group=GROUP, mention=True)
    signal.faults.extend([answer_json({"error": quoted, "result": quoted}, status) for status in (400, 500)])
    await world.answered("a question while receipts are refused")
    streams = signal.streams_opened
    await signal.end_streams("drop")
    await signal.connected(streams + 1)
    await world.answered("a question after the stream broke")


STORIES: tuple[Callable[[World], Awaitable[None]], ...] = (
    with_tools,
    in_a_group,
    commands,
    what_is_not_answered,
    models_that_fail,
    a_bridge_that_fails,
)
