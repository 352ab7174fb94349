"""The stage: people write to Aldis, wait for what it does, and everything they see is written down.

A story decides for what it waits; at its end nothing may be left that Aldis did and nobody has seen.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bot import app, settings
from bot.app import transports
from bot.errors import Disconnected
from bot.service import Service
from tests.campaigns.transcripts.page import Done, Letter, Said, Sight, letters, said_as, short
from tests.flows.gates import Gate
from tests.servers import envelopes
from tests.servers.envelopes import ALDIS, ALICE, GROUP, GROUP_NAME, Frame, Person
from tests.servers.open_meteo import OpenMeteo
from tests.servers.openai import OpenAIServer
from tests.servers.openai_audio import KEY, OpenAIAudio
from tests.servers.openai_images import OpenAIImages
from tests.servers.script import Scripted, say
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_server import Sent
from tests.waiting import eventually, eventually_found

_STAMP = re.compile(r"^\[\w{3} [0-9-]{10} [0-9:]{5}[^\]·]*?( · |\])", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Doubles:
    signal: SignalCli = field(default_factory=SignalCli)
    model: OpenAIServer = field(default_factory=lambda: OpenAIServer(local=True, sees=True))
    weather: OpenMeteo = field(default_factory=OpenMeteo)
    audio: OpenAIAudio = field(default_factory=OpenAIAudio)
    images: OpenAIImages = field(default_factory=lambda: OpenAIImages(local=True))

    def settings(self, folder: Path) -> dict[str, str]:
        """Aldis as it is in most stories: it answers Alice, and the members of one group."""
        return {
            "SIGNAL__URL": self.signal.url,
            "SIGNAL__ACK": "none",
            "SIGNAL__LIVE": "off",
            "HISTORY__SUMMARIES": "false",
            "ACCESS__GREETING": "false",
            "ACCESS__ALLOWED": ALICE.uuid,
            "ACCESS__GROUPS": GROUP,
            "OPENAI_API_KEY": self.model.key or "",
            "OPENAI_BASE_URL": self.model.base_url,
            "LLM__OPENAI__MODEL": "llama",
            "TOOLS__WEATHER__BASE_URL": self.weather.url,
            "TOOLS__WEATHER__GEOCODING_BASE_URL": self.weather.url,
            "AUDIO__BASE_URL": f"{self.audio.url}/v1",
            "AUDIO__API_KEY": KEY,
            "TOOLS__IMAGES__BASE_URL": self.images.base_url,
            "STORE__PATH": str(folder / "aldis.db"),
        }


@asynccontextmanager
async def opened(folder: Path, more: Mapping[str, str]) -> AsyncGenerator[tuple[Doubles, Service]]:
    """The doubles and Aldis, running, the store in this folder; `more` are the story's own settings."""
    doubles, stop = Doubles(), asyncio.Event()
    async with AsyncExitStack() as stack:
        for server in (doubles.signal, doubles.model, doubles.weather, doubles.audio, doubles.images):
            await stack.enter_async_context(server)
        given = settings.load_settings({**doubles.settings(folder), **more}, None)
        transport = await transports.signal_transport(given)
        aldis = await stack.enter_async_context(app.build_service(given, transport, realm="signal"))
        group = await stack.enter_async_context(asyncio.TaskGroup())
        group.create_task(_chatting(aldis, stop))
        await doubles.signal.connected()
        yield doubles, aldis
        stop.set()


async def _chatting(aldis: Service, stop: asyncio.Event) -> None:
    """Aldis, which connects again where the machine is so busy that the bridge seems silent."""
    while not stop.is_set():
        try:
            await aldis.chat(stop, asyncio.Event())
            break
        except* Disconnected:
            await asyncio.sleep(0)


@dataclass(frozen=True, kw_only=True)
class Line:
    author: Person
    chat: Person | None
    """Whose direct chat with Aldis it is in; None: the group's."""
    name: str
    at: int
    text: str

    @property
    def group(self) -> str | None:
        return GROUP if self.chat is None else None


@dataclass
class Stage:
    doubles: Doubles
    aldis: Service
    owner: str = "Aldis"
    """Whose account it is that people write to."""
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    """What stands on the page for what differs from run to run, by its pattern."""
    sights: list[Sight] = field(default_factory=list[Sight])
    _lines: dict[int, Line] = field(default_factory=dict[int, Line])
    _sent: int = 0
    _notes: int = 0
    _reactions: int = 0
    _removed: int = 0

    # What people do

    async def says(
        self, who: Person, text: str, *, to_group: bool = False, quote: Line | None = None, **more: Any
    ) -> Line:
        given = {"quote": envelopes.quote_of(quote.author, quote.at, quote.text)} if quote else {}
        frame = envelopes.message(text, author=who, group=GROUP if to_group else None, **given, **more)
        line = self._line(who, None if to_group else who, frame["envelope"]["timestamp"], text)
        called = f"@{ALDIS.name}"
        mentioning = letters(f"{called} {text}", [f"0:{len(called)}:MENTION"])
        self._see(line, mentioning if more.get("mention") else letters(text), quote=quote)
        await self._arrives(frame)
        return line

    async def asks(
        self, who: Person, text: str, *script: Scripted, words: Mapping[str, str] | None = None, **more: Any
    ) -> Line:
        """A person writes, and reads what Aldis answers; `script` is what the model does."""
        self.doubles.model.scripted(*script)
        await self.says(who, text, **more)
        return await self.answer(words)

    async def waits(self, who: Person, text: str) -> Line:
        gate = Gate(self.doubles.model, say("Never said."))
        self.doubles.model.script.append(gate)
        line = await self.says(who, text)
        await gate.arrived()
        return line

    async def sends(self, who: Person, text: str, files: Mapping[str, Frame], **more: Any) -> Line:
        """A person sends files with a message: by what phones show of each, its frame; `more` are other parts of it."""
        attachments = [frame for frame in files.values() if frame]
        frame = envelopes.message(text or None, author=who, attachments=attachments, **more)
        line = self._line(who, who, frame["envelope"]["timestamp"], text or next(iter(files)))
        self._see(line, letters(text), files=tuple(files))
        await self._arrives(frame)
        return line

    async def notes(self, text: str) -> Line:
        frame = envelopes.note(text)
        line = self._line(ALDIS, ALDIS, frame["envelope"]["timestamp"], text)
        self.sights.append(Said(chat="Note to Self", who="You", text=letters(text)))
        await self._arrives(frame)
        return line

    async def edits(self, line: Line, text: str) -> Line:
        frame = envelopes.edit(text, line.at, author=line.author, group=line.group)
        new = self._line(line.author, line.chat, frame["envelope"]["timestamp"], text)
        self._see(new, letters(text), instead_of=line)
        await self._arrives(frame)
        return new

    async def deletes(self, line: Line) -> None:
        self._happens(line, f"{line.author.name} deletes {short(line.text)}")
        await self._arrives(envelopes.delete(line.at, author=line.author, group=line.group))

    async def reacts(self, who: Person, emoji: str, line: Line) -> None:
        self._happens(line, f"{who.name} puts {emoji} on {short(line.text)}")
        frame = envelopes.reaction(emoji, line.at, of=line.author, author=who, group=line.group)
        await self._arrives(frame)

    # What people see of Aldis

    async def answer(self, words: Mapping[str, str] | None = None) -> Line:
        """The next message of Aldis, or its next edit; `words` stand for what differs from run to run."""
        self._sent += 1
        sent = (await self.doubles.signal.sent_count(self._sent))[-1]
        chat = next((person for person in self.doubles.signal.people if person.uuid == sent.recipient), None)
        return self._answered(sent, chat, words or self.words)

    async def status(self, words: str) -> Line:
        """The next message of Aldis, when it has come to say these words: on a slow machine it says others before."""
        signal, before = self.doubles.signal, self._sent
        await signal.until(lambda: any(words in sent.text for sent in signal.sent[before:]))
        self._sent = 1 + next(place for place, sent in enumerate(signal.sent) if place >= before and words in sent.text)
        sent = replace(signal.sent[self._sent - 1], edits=None)
        chat = next((person for person in signal.people if person.uuid == sent.recipient), None)
        return self._answered(sent, chat, {})

    async def noted(self) -> Line:
        self._notes += 1
        sent = (await self.doubles.signal.first(self.doubles.signal.notes, self._notes))[-1]
        self.sights.append(Said(chat="Note to Self", who="Aldis", text=letters(sent.text, sent.styles)))
        return self._line(ALDIS, ALDIS, sent.timestamp, sent.text)

    async def reaction(self) -> None:
        self._reactions += 1
        seen = (await self.doubles.signal.first(self.doubles.signal.reactions, self._reactions))[-1]
        line = self._lines[seen.target]
        does = "takes its {} off" if seen.removed else "puts {} on"
        self._happens(line, f"Aldis {does.format(seen.emoji)} {short(line.text)}")

    async def removal(self) -> None:
        self._removed += 1
        seen = (await self.doubles.signal.first(self.doubles.signal.removed, self._removed))[-1]
        line = self._lines[seen.target]
        self._happens(line, f"Aldis deletes {short(line.text)}")

    async def summed_up(self) -> None:
        """Aldis has summed up what it will not read again; nobody sees that."""
        await eventually(lambda: self.aldis.summaries.counts.all().get("summaries"))

    # What stands beside the chat

    def reads(self, question: str | None = None) -> None:
        """What the model was asked last, as it reads it; with everything before it where a question is named, for
        others may have been asked since.
        """
        asked = [[m for m in seen.json()["messages"] if m["role"] == "user"] for seen in self.doubles.model.requests]
        if question is None:
            told = asked[-1][-1:]
        else:
            told = next(messages for messages in reversed(asked) if question in str(messages[-1]["content"]))
        self.aside("the model reads:\n" + _STAMP.sub(r"[time\1", "\n\n".join(map(_text_of, told))))

    def read(self, *words: str) -> None:
        """These words stood in what the model was asked last: what it says is the story's, and proves nothing."""
        asked = str(self.doubles.model.requests[-1].json()["messages"])
        assert [word for word in words if word not in asked] == []

    def aside(self, what: str) -> None:
        self.sights.append(Done(chat=None, what=what))

    def file(self, data: bytes, **more: object) -> Frame:
        frame = envelopes.attachment(size_bytes=len(data)) | more
        self.doubles.signal.files[str(frame["id"])] = data
        return frame

    def all_seen(self) -> None:
        """Nothing is left that Aldis did and nobody waited for, or that a service refused."""
        signal, model = self.doubles.signal, self.doubles.model
        left = (signal.sent[self._sent :], signal.notes[self._notes :], signal.reactions[self._reactions :])
        assert (*left, signal.removed[self._removed :], model.script, model.refused) == ([], [], [], [], [], [])

    async def _arrives(self, frame: Frame) -> None:
        """Hand on what somebody does: people are slower than Aldis, which knows by then what it has sent."""
        await eventually_found(self._has_sent_all)
        await self.doubles.signal.deliver(frame)

    async def _has_sent_all(self) -> bool:
        return not await self.aldis.worker.store.read(lambda repos: repos.outbox.backlog().items)

    def _answered(self, sent: Sent, chat: Person | None, words: Mapping[str, str]) -> Line:
        mentions = (f"{mention.rpartition(':')[0]}:MENTION" for mention in sent.mentions)
        text = said_as(letters(sent.text, [*sent.styles, *mentions]), words)
        plain = "".join(letter.character for letter in text)
        line = self._line(ALDIS, chat, sent.timestamp, plain)
        quoted, edited = self._lines.get(sent.quote_timestamp or 0), self._lines[sent.edits] if sent.edits else None
        files = ["voice note" if sent.is_voice_note else f"{file.content_type}: {file.name}" for file in sent.files]
        self._see(line, text, quote=quoted, instead_of=edited, files=files)
        return line

    def _line(self, author: Person, chat: Person | None, at: int, text: str) -> Line:
        name = GROUP_NAME if chat is None else f"{chat.name} and {self.owner}"
        self._lines[at] = Line(author=author, chat=chat, name=name, at=at, text=text)
        return self._lines[at]

    def _see(
        self,
        line: Line,
        text: Sequence[Letter],
        *,
        quote: Line | None = None,
        instead_of: Line | None = None,
        files: Sequence[str] = (),
    ) -> None:
        self.sights.append(
            Said(
                chat=line.name,
                who=line.author.name or "",
                text=text,
                quote=f"{quote.author.name}: {short(quote.text)[1:-1]}" if quote else None,
                instead_of=short(instead_of.text) if instead_of else None,
                files=files,
            )
        )

    def _happens(self, line: Line, what: str) -> None:
        self.sights.append(Done(chat=line.name, what=what))


Play = Callable[[Stage], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Story:
    """A section of the page: what it is about in a few sentences, and how it is played, under which settings."""

    title: str
    words: str
    play: Play
    settings: Mapping[str, str]


STORIES: list[Story] = []


def story(title: str, **settings: str) -> Callable[[Play], Play]:
    """Adds a story; the docstring of what plays it is what it is about."""

    def add(play: Play) -> Play:
        STORIES.append(Story(title=title, words=" ".join((play.__doc__ or "").split()), play=play, settings=settings))
        return play

    return add


async def played(story: Story, folder: Path) -> list[Sight]:
    async with opened(folder, story.settings) as (doubles, aldis):
        stage = Stage(doubles, aldis)
        await story.play(stage)
    stage.all_seen()
    return stage.sights


_KINDS = {"image_url": "the picture", "file": "the PDF"}


def _text_of(message: Mapping[str, Any]) -> str:
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return "\n".join(part["text"] if part["type"] == "text" else f"<{_KINDS[part['type']]}>" for part in parts)
