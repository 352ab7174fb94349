"""Who gets in: the bot as a process, people at its door, and what each of them costs it."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.flows.outside import Outside
from tests.flows.processes import Process
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import (
    ALDIS,
    ALICE,
    BOB,
    CAROL,
    GROUP,
    MALLORY,
    Frame,
    Person,
    delete,
    edit,
    message,
    reaction,
    sync_sent,
    timer,
    timestamp,
    typing,
)
from tests.servers.signal_cli import SignalCli

OTHER_GROUP = "QW5vdGhlckdyb3VwLS8rMDEyMzQ1Njc4OWFiY2RlZmc="
GREETING = "Hello! I'm Aldis, your assistant here. /help shows what I can do."
WORDS = "sesame"
"""What must not be found anywhere when whoever wrote it may not write."""


@dataclass
class World(Outside[SignalCli, AnthropicServer]):
    @property
    def settings(self) -> dict[str, str]:
        return {**super().settings, "ACCESS__ALLOWED": ALICE.uuid, "ACCESS__GROUPS": GROUP}

    @asynccontextmanager
    async def running(self, *arguments: str, module: str = "bot", **settings: str) -> AsyncGenerator[Process]:
        """As any world's; and nothing of the words stands in the log."""
        async with super().running(*arguments, module=module, **settings) as process:
            yield process
        assert WORDS not in (await process.ended()).stderr

    async def answered(self, frame: Frame) -> str:
        said = frame["envelope"]
        group = (said.get("dataMessage") or said["editMessage"]["dataMessage"]).get("groupInfo", {}).get("groupId")
        place = group or said["sourceUuid"]

        def heard() -> list[str]:
            return [sent.text for sent in self.signal.sent if place in {sent.recipient, sent.group}]

        before = len(heard())
        await self.signal.deliver(frame)
        await self.signal.until(lambda: len(heard()) > before)
        return heard()[before]

    @property
    def files(self) -> bytes:
        return b"".join(file.read_bytes() for file in self.folder.iterdir() if file.is_file())

    def assert_nothing_of(self, words: str) -> None:
        assert all(words not in seen.body.decode() for seen in self.model.requests)
        assert words.encode() not in self.files

    def counted(self, table: str) -> int:
        with closing(sqlite3.connect(self.folder / "aldis.db")) as store:
            [(count,)] = store.execute(f"SELECT count(*) FROM {table}").fetchall()
        return count


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    async with SignalCli() as signal, AnthropicServer() as model:
        yield World(signal, model, tmp_path)


def everything_by(author: Person, group: str | None = None) -> list[Frame]:
    """A frame of every kind that a person can send, with the words in those that have any."""
    target = timestamp()
    return [
        message(WORDS, author=author, group=group),
        message(f"Aldis, {WORDS}", author=author, group=group),
        message(f"/help {WORDS}", author=author, group=group),
        edit(WORDS, target, author=author, group=group),
        delete(target, author=author, group=group),
        reaction("👍", target, author=author, group=group),
        timer(60, author=author, group=group),
        typing(author=author, group=group),
    ]


async def test_who_may_not_write_costs_nothing(world: World) -> None:
    """No model call, no send, no receipt, no stored word, whatever they send.

    A stranger, directly and in both groups; a member of the listed group directly; a listed person in a group that is
    not listed; the account itself on another device. Those who may write are answered in between.
    """
    world.signal.groups[OTHER_GROUP] = (ALICE, MALLORY)
    async with world.running():
        await world.signal.deliver(
            *everything_by(MALLORY),
            *everything_by(MALLORY, OTHER_GROUP),
            *everything_by(CAROL),
            *everything_by(BOB),
            *everything_by(ALICE, OTHER_GROUP),
            *everything_by(replace(ALDIS, device=2)),
            sync_sent(WORDS),
        )
        assert (await world.answered(message("hello", author=ALICE))).endswith("hello")
        assert "hello" in await world.answered(message("Aldis, hello", author=CAROL, group=GROUP))
    assert [sent.chat for sent in world.signal.sent] == [ALICE.chat, f"group:{GROUP}"]
    assert {recipient for recipient, _ in world.signal.read} <= {ALICE.uuid, CAROL.uuid}
    assert len(world.model.requests) == 2
    assert (world.counted("inbox"), world.counted("conversations")) == (2, 2)
    world.assert_nothing_of(WORDS)


async def test_who_has_left_a_group_asks_nothing_there_any_more(world: World) -> None:
    """No new words for an old question, no question made of old talk, no place taken from others: signal-cli looks at
    messages only. Who is still in it edits as before.
    """
    async with world.running(LIMITS__CONVERSATION_MESSAGES_PER_MINUTE="4"):
        asked, talk = message("Aldis, hello", author=BOB, group=GROUP), message("so what", author=BOB, group=GROUP)
        by_carol = message("Aldis, and me", author=CAROL, group=GROUP)
        assert "hello" in await world.answered(asked)
        await world.signal.deliver(talk)
        assert "and me" in await world.answered(by_carol)
        world.signal.groups[GROUP] = (ALICE, CAROL)
        edited = [one["envelope"]["timestamp"] for one in (asked, talk, asked, asked, asked)]
        await world.signal.deliver(
            message(f"Aldis, {WORDS}", author=BOB, group=GROUP),
            *(edit(f"Aldis, {WORDS}", target, author=BOB, group=GROUP) for target in edited),
        )
        revised = edit("Aldis, only me", by_carol["envelope"]["timestamp"], author=CAROL, group=GROUP)
        assert "only me" in await world.answered(revised)
    assert len(world.model.requests) == len(world.signal.sent) == 3
    world.assert_nothing_of(WORDS)


async def test_who_is_let_in_is_greeted_and_what_they_wrote_while_they_waited_is_answered(world: World) -> None:
    """In their language, with what the tools can do; what they deleted meanwhile is not, and nothing of it is written
    down before. Other settings forget neither the code nor what waits, and a new process greets no one again.
    """
    settings = {"ACCESS__STRANGERS": "pair", "ACCESS__ADMINS": ALICE.uuid, "ACCESS__GREETING": "true"}
    settings["TOOLS__WEATHER__ENABLED"] = "true"
    async with world.running(**settings):
        asked = message("Hallo, kannst du mir bitte helfen? Was ist das?", author=MALLORY)
        invitation = await world.answered(asked)
        assert invitation.startswith("Hallo! Ich antworte nur Leuten, die ich kenne.")
        code = invitation.partition(": ")[2].partition(" (")[0]
        gone = message(WORDS, author=MALLORY)
        await world.signal.deliver(gone, delete(gone["envelope"]["timestamp"], author=MALLORY))
        await world.signal.deliver(*everything_by(BOB))  # a stranger without a word to Aldis's code
        world.assert_nothing_of("helfen")
        assert (await world.verb("restart", **settings)).status == 0
        await world.signal.deliver(message(f"/allow {code}", author=ALICE))
        await world.signal.until(lambda: sum(sent.recipient == MALLORY.uuid for sent in world.signal.sent) == 3)
        _, greeting, answer = (sent.text for sent in world.signal.sent if sent.recipient == MALLORY.uuid)
        assert greeting == "Hallo! Ich bin Aldis, dein Assistent hier. /help zeigt, was ich kann."
        assert "helfen" in answer
        assert (await world.answered(message("again", author=MALLORY))).endswith("again")
    async with world.running(**settings):
        assert (await world.answered(message("and again", author=MALLORY))).endswith("and again")
        # A person on the list is greeted before the first answer to a question, and in a group no one is.
        before = sum(sent.recipient == ALICE.uuid for sent in world.signal.sent)
        await world.signal.deliver(message("Aldis, hello", author=CAROL, group=GROUP), message("hello"))

        def new() -> list[str]:
            return [sent.text for sent in world.signal.sent if sent.recipient == ALICE.uuid][before:]

        await world.signal.until(lambda: len(new()) == 2)
        greeting, answer = new()
        assert (greeting.splitlines()[0], answer[-5:]) == (GREETING, "hello")
    assert sum("/help" in sent.text for sent in world.signal.sent) == 2
    world.assert_nothing_of(WORDS)
