"""Signal and its people: keeps what is written until Aldis has taken it, carries what Aldis sends, brings receipts.

It goes on while Aldis is dead: what was handed over arrives, phones confirm, people write. An envelope is taken when
the reader asks for the next one; until then it is delivered again, to the next stream or the next life. (The real
bridge would lose the one that was in the hands of the process when it died.)
"""

import asyncio
import json
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

from bot.chat import phrases
from bot.errors import Disconnected, NotSent, SendUnknown, Undeliverable
from bot.events import (
    ChatId,
    Deleted,
    Envelope,
    Event,
    Incoming,
    Kind,
    PersonId,
    Reacted,
    Receipt,
    Removal,
    Reply,
    SentId,
)
from bot.signal.protocol import Group, StreamState
from tests.bot.loops.fake_transport import ACCOUNT, FakeTransport
from tests.campaigns.simulation.crashes import Life, Steps
from tests.campaigns.simulation.disk import Disk
from tests.campaigns.simulation.record import Attempt, Confirmation, Record, SendFate, Utterance, Visible
from tests.campaigns.simulation.scenario import Chat, Said, Scenario, Word, may_enter
from tests.campaigns.simulation.timeline import millis_now, set_clock

NAME = "Aldis"
SEND_SECONDS = 60.0

_SKEW_SECONDS = 5.0
"""By how much the bridge's clock may go before that of Aldis."""
_UNFOLLOWED_SECONDS = 6.0
"""Aldis has seen by then that the clock was set; receipts before that prove nothing."""
_AHEAD_MS = 60_000
"""How far ahead of the clock of Aldis a name may be."""
_USUAL_SECONDS = 0.05
_STATUSES = {phrases.under_way(None), phrases.under_way("any tool")}
_AFTER_THE_RECEIPT_SECONDS = 3.0
_WRITTEN_SECONDS = 0.2
"""More than the intake waits for others before it writes down what has come."""


class Network:
    def __init__(self, scenario: Scenario, steps: Steps, record: Record, disk: Disk) -> None:
        self.scenario = scenario
        self.record = record
        self.disk = disk
        self._steps = steps
        self._queue: deque[Envelope] = deque()
        self._recent: list[tuple[float, Envelope]] = []
        """What was read within the last second, and when: it may not be written down yet."""
        self._arrived = asyncio.Event()
        self._events = 0
        self._stamps: set[int] = set()
        self._confirmations: dict[int, tuple[Confirmation, Visible]] = {}
        self._times: Counter[object] = Counter()
        record.said += scenario.said
        for said in scenario.said:
            self._later(said.at_seconds, lambda said=said: self._written(said))
        for at_seconds, seconds in scenario.clock_steps:
            self._later(at_seconds, lambda seconds=seconds: self._set_clock(seconds))

    @property
    def is_quiet(self) -> bool:
        life = len(self.record.lives)
        is_sending = any(one.ended_at_seconds is None and one.life == life for one in self.record.attempts)
        is_reading = any(_now() - at < 1 for at, _ in self._recent)
        return not (self._events or self._queue or is_sending or is_reading)

    def number(self, sent_at: int) -> int:
        return self.record.numbers[sent_at]

    def nth(self, *what: object) -> int:
        self._times[what] += 1
        return self._times[what]

    async def next(self, is_over: Callable[[], bool]) -> Envelope | None:
        """The oldest envelope that was not taken, as soon as there is one; None when the reader stops."""
        while not (self._queue or is_over()):
            self._arrived.clear()
            await self._arrived.wait()
        return None if is_over() else self._queue[0]

    def look_again(self) -> None:
        """Let whoever waits for an envelope see whether it is over."""
        self._arrived.set()

    def hand_over(self, envelope: Envelope) -> None:
        """From now on the reader knows it, whether it comes back for more or not."""
        if envelope.kind is Kind.RECEIPT:
            confirmation, visible = self._confirmations[envelope.sent_at]
            confirmation.is_clear = self._is_clear(envelope.author, visible)
            return
        said = self.record.said[self.number(envelope.sent_at)]
        if said.reaction is not None and said.reaction.is_yes:
            self.record.agreed.append((said, _now()))

    def give_back(self, died_at_seconds: float) -> None:
        """Lets what a killed Aldis had read and not written down wait again; the real bridge would lose it."""
        left = [*self._recent]
        self._recent.clear()
        for at, envelope in reversed(left):
            if envelope.kind is Kind.RECEIPT:
                confirmation, _ = self._confirmations[envelope.sent_at]
                if died_at_seconds - at > _WRITTEN_SECONDS:
                    continue
                confirmation.read_at_seconds, confirmation.is_clear = None, False
            else:
                number = self.number(envelope.sent_at)
                if not may_enter(self.record.said[number]) or self.disk.has(envelope.sent_at):
                    continue
                del self.record.taken[len(self.record.taken) - 1 - self.record.taken[::-1].index(number)]
            self._queue.appendleft(envelope)

    def taken(self) -> None:
        """The reader came back for more: it has the oldest envelope, whatever happens to it now."""
        envelope = self._queue.popleft()
        self._recent = [one for one in self._recent if _now() - one[0] < 1] + [(_now(), envelope)]
        if envelope.kind is not Kind.RECEIPT:
            self.record.taken.append(self.number(envelope.sent_at))
            return
        confirmation, visible = self._confirmations[envelope.sent_at]
        confirmation.is_clear = confirmation.is_clear and self._is_clear(envelope.author, visible)
        confirmation.read_at_seconds = _now()

    def _is_clear(self, author: PersonId | None, visible: Visible) -> bool:
        could_be = {
            attempt.said
            for attempt in self.record.attempts
            if attempt.is_doubtful
            and attempt.began_at_seconds <= visible.at_seconds + _SKEW_SECONDS
            and author in self.scenario.chats[attempt.said.chat].people
        }
        # What was begun and then killed was never handed over: only the store knows of it.
        was_set = any(0 <= _now() - at < _UNFOLLOWED_SECONDS for at in self.record.clock_steps)
        # A name that lies far ahead of the clock, because that was set back, proves nothing to Aldis.
        is_ahead = visible.stamp > millis_now() + _AHEAD_MS
        is_one = len(could_be) <= 1 and self.disk.open_sends(f"direct:{author}", visible.stamp) <= 1
        return is_one and not was_set and not is_ahead

    def handed_over(self, reply: Reply, life: int) -> Attempt:
        """A send, which the bridge carries on with whatever becomes of Aldis."""
        said = Utterance(
            chat=self._chat(reply.chat).number,
            answers=tuple(map(self.number, reply.answers)),
            text=reply.content.text,
            ok=reply.ok,
            last=reply.last,
            status=self.nth("status") if reply.content.text in _STATUSES else 0,
            notice=reply.notice_of or 0,
        )
        attempt = Attempt(said=said, life=life, fate=self._fate(said), began_at_seconds=_now(), edits=reply.edits)
        self.record.attempts.append(attempt)
        self._steps.note(f"the bridge has {said}: {attempt.fate}")
        return attempt

    def take_away(self, stamp: int, heir: Utterance) -> None:
        """Something else stands in place of this message. Phones drop an edit that aims at an older revision."""
        [old] = [visible for visible in self.record.visible if visible.stamp == stamp]
        if old.is_gone and old.heir != heir:
            self.record.troubles.append("an edit of what is not there any more")
        old.is_gone, old.heir = True, heir

    def _drops(self, stamp: int, heir: Utterance) -> bool:
        """Whether phones show nothing of an edit: it comes late, and what it edits is removed."""
        [old] = [visible for visible in self.record.visible if visible.stamp == stamp]
        is_taken_back = any(self.record.said[number].deletes in heir.answers for number in self.record.taken)
        return old.is_gone and old.heir is None and (heir.role == "status" or is_taken_back)

    def removed(self, removal: Removal) -> SentId:
        """A removal that people see at once; phones pass over one of what is not in that chat."""
        [old] = [visible for visible in self.record.visible if visible.stamp == removal.target]
        stamp, chat = self.stamp(), self._chat(removal.chat)
        self.record.removals[stamp] = chat.number
        if old.said.chat == chat.number:
            self._steps.note(f"removed: {old.said}")
            old.is_gone = True
        return stamp

    def carry(self, attempt: Attempt) -> asyncio.Event | None:
        if attempt.fate not in {"sent", "unknown but sent"}:
            return None
        arrived = asyncio.Event()
        self._later(self._seconds(attempt.said, len(self.record.attempts)), lambda: self._arrive(attempt, arrived))
        return arrived

    def answer_seconds(self, attempt: Attempt) -> float:
        scenario, times = self.scenario, len(self.record.attempts)
        if attempt.fate.startswith("unknown"):
            return scenario.chance("answer", attempt.said, times).uniform(1, SEND_SECONDS / 2)
        if scenario.happens(scenario.odds.receipt_first, "receipt first", attempt.said, times):
            return _AFTER_THE_RECEIPT_SECONDS
        return _USUAL_SECONDS

    def breaks(self, envelope: Envelope) -> str | None:
        """Whether the connection breaks at this envelope, and when: `before`, `after`, or `unnoticed` by the server."""
        what = ("break", envelope.sent_at, self.nth("handed", envelope.sent_at))
        if not self.scenario.happens(self.scenario.odds.stream_breaks, *what):
            return None
        return self.scenario.chance(*what, "how").choice(("before", "after", "unnoticed"))

    def _fate(self, said: Utterance) -> SendFate:
        odds = self.scenario.odds
        drawn = self.scenario.chance("fate", said, self.nth("sent", said)).random()
        fates: tuple[tuple[SendFate, float], ...] = (
            ("unknown but sent", odds.unknown_but_sent),
            ("unknown and lost", odds.unknown_and_lost),
            ("not sent", odds.not_sent),
            ("undeliverable", odds.undeliverable),
        )
        for fate, likely in fates:
            drawn -= likely
            if drawn < 0:
                return fate
        return "sent"

    def _arrive(self, attempt: Attempt, arrived: asyncio.Event) -> None:
        visible = Visible(said=attempt.said, stamp=self.stamp(), at_seconds=_now())
        attempt.visible = visible
        if attempt.edits is not None and self._drops(attempt.edits, attempt.said):
            visible.is_gone = True
        elif attempt.edits is not None:
            self.take_away(attempt.edits, attempt.said)
        self.record.visible.append(visible)
        self._steps.note(f"people see {visible.said}")
        for person in self.scenario.chats[visible.said.chat].people:
            self._confirm(person, visible)
        if visible.said.role == "question":
            self._decide(visible)
        arrived.set()

    def _decide(self, visible: Visible) -> None:
        """Somebody says yes or no to what Aldis wants to do; or nobody does."""
        odds, chat = self.scenario.odds, self.scenario.chats[visible.said.chat]
        chance = self.scenario.chance("decide", visible.said, self.nth("asked whether", visible.said))
        asker = self.record.said[visible.said.answers[-1]].author
        for other in chat.people:
            if other != asker and chance.random() < odds.meddles:
                self._react(chat, other, visible, is_yes=True, seconds=0.5)
        drawn = chance.random()
        if drawn < odds.says_yes + odds.says_no:
            self._react(chat, asker, visible, is_yes=drawn < odds.says_yes, seconds=chance.uniform(1, 20))

    def _react(self, chat: Chat, author: PersonId, visible: Visible, *, is_yes: bool, seconds: float) -> None:
        said = Said(
            number=len(self.record.said),
            chat=chat,
            author=author,
            at_seconds=_now() + seconds,
            kind=Kind.REACTION,
            reaction=Word(target=visible.stamp, is_yes=is_yes),
        )
        self.record.said.append(said)
        self._later(seconds, lambda: self._written(said))

    def _confirm(self, person: PersonId, visible: Visible) -> None:
        odds, what = self.scenario.odds, (person, visible.said, self.nth("seen", person, visible.said))
        chance = self.scenario.chance("receipt", *what)
        drawn = chance.random()
        if drawn < odds.receipt_never:
            return
        late = drawn < odds.receipt_never + odds.receipt_late
        seconds = chance.uniform(95, 300) if late else chance.uniform(0.2, 2.0)
        self._later(seconds, lambda: self._confirmed(person, visible))

    def _confirmed(self, person: PersonId, visible: Visible) -> None:
        frame: dict[str, object] = {"targets": [visible.stamp]}
        envelope = self._envelope(person, ChatId(f"direct:{person}"), Kind.RECEIPT, frame)
        confirmation = Confirmation(sent_at_seconds=_now())
        self._confirmations[envelope.sent_at] = confirmation, visible
        visible.confirmations.append(confirmation)
        self._post(envelope)

    def _written(self, said: Said) -> None:
        envelope = self._envelope(said.author, said.chat.address, said.kind, {"number": said.number})
        self.record.numbers[envelope.sent_at] = said.number
        self._post(envelope)
        if said.deleted_after_seconds is not None:
            deletion = replace(
                said, number=len(self.record.said), kind=Kind.DELETE, deletes=said.number, deleted_after_seconds=None
            )
            deletion = replace(deletion, at_seconds=_now() + said.deleted_after_seconds, again_after_seconds=None)
            self.record.said.append(deletion)
            self._later(said.deleted_after_seconds, lambda: self._written(deletion))
        if said.again_after_seconds is not None:
            self._later(said.again_after_seconds, lambda: self._post(envelope))

    def _envelope(self, author: PersonId, chat: ChatId, kind: Kind, frame: dict[str, object]) -> Envelope:
        return Envelope(
            account=ACCOUNT,
            author=author,
            number=None,
            device=1,
            sent_at=self.stamp(),
            kind=kind,
            chat=chat,
            raw=json.dumps(frame),
        )

    def _post(self, envelope: Envelope) -> None:
        self._queue.append(envelope)
        self._arrived.set()

    def _set_clock(self, seconds: float) -> None:
        set_clock(seconds)
        self.record.clock_steps.append(_now())
        self._steps.note(f"the clock is set {seconds:+.0f} s")

    def stamp(self) -> SentId:
        """A timestamp that no other message has, by the clock on the wall."""
        stamp = millis_now()
        while stamp in self._stamps:
            stamp += 1
        self._stamps.add(stamp)
        return SentId(stamp)

    def _seconds(self, *what: object) -> float:
        if self.scenario.happens(self.scenario.odds.slow, "slow", *what):
            return self.scenario.chance("seconds", *what).uniform(2, SEND_SECONDS / 2)
        return _USUAL_SECONDS

    def _later(self, seconds: float, event: Callable[[], None]) -> None:
        self._events += 1
        asyncio.get_running_loop().call_later(seconds, self._happen, event)

    def _happen(self, event: Callable[[], None]) -> None:
        self._events -= 1
        event()

    def _chat(self, address: ChatId) -> Chat:
        return next(chat for chat in self.scenario.chats if chat.address == address)


class Line(FakeTransport):
    def __init__(self, network: Network, life: Life) -> None:
        groups = [
            Group(id=chat.address.removeprefix("group:"), name="", members=frozenset(chat.people))
            for chat in network.scenario.chats
            if chat.is_group
        ]
        super().__init__(stream=StreamState(), known_groups=tuple(groups))
        self._network = network
        self._life = life

    async def envelopes(self) -> AsyncGenerator[Envelope]:
        network = self._network
        self.stream.is_open = True
        try:
            while (envelope := await network.next(self.stopping.is_set)) is not None:
                await self._life.alive()
                if envelope.kind is Kind.RECEIPT:
                    await self._life.step("receipt")
                breaks = network.breaks(envelope)
                if breaks == "before":
                    raise Disconnected("the connection broke")
                network.hand_over(envelope)
                yield envelope
                await self._life.alive()
                if breaks != "unnoticed":
                    network.taken()
                if breaks:
                    raise Disconnected("the connection broke")
        finally:
            self.stream.is_open = False

    def stop_receiving(self) -> None:
        super().stop_receiving()
        self._network.look_again()

    def event(self, envelope: Envelope) -> Event | None:
        frame = json.loads(envelope.raw)
        author, chat = envelope.author, envelope.chat
        if author is None or chat is None or envelope.kind is Kind.OTHER:
            return None
        if envelope.kind is Kind.RECEIPT:
            return Receipt(author=author, targets=tuple(map(SentId, frame["targets"])))
        said = self._network.record.said[frame["number"]]
        if said.deletes is not None:
            names = self._network.record.numbers
            target = next(sent_at for sent_at, number in names.items() if number == said.deletes)
            return Deleted(author=author, chat=chat, target=SentId(target))
        if envelope.kind is Kind.REACTION:
            word = said.reaction or Word(target=1, is_yes=True)
            emoji, target = "👍" if word.is_yes else "👎", SentId(word.target)
            return Reacted(
                author=author, chat=chat, emoji=emoji, target_author=None, target=target, removed=False, is_on_mine=True
            )
        return Incoming(
            author=author,
            name=author,
            chat=chat,
            sent_at=envelope.sent_at,
            text=f"Tell me about {said.word}",
            mentions_me=said.is_addressed,
        )

    async def send(self, reply: Reply) -> SentId:
        await self._life.step(f"send to {reply.chat.partition(':')[0]}")
        attempt = self._network.handed_over(reply, self._life.number)
        arrived = self._network.carry(attempt)
        await self._life.step("handed over")
        if arrived is not None:
            await arrived.wait()
            await self._life.step("Signal has it")
        await asyncio.sleep(self._network.answer_seconds(attempt))
        await self._life.alive()
        attempt.ended_at_seconds = _now()
        return _answered(attempt)

    async def remove(self, removal: Removal) -> SentId:
        await self._life.step("removal")
        stamp = self._network.removed(removal)
        await self._life.step("removed")
        return stamp

    async def react(
        self, chat: ChatId, author: PersonId, sent_at: SentId, emoji: str, *, removed: bool
    ) -> SentId | None:
        await self._life.alive()
        return self._network.stamp()

    async def receipt(self, *envelopes: Envelope) -> None:
        await self._life.step("read receipt")
        for envelope in envelopes:
            number = self._network.number(envelope.sent_at)
            self._network.record.read.append((number, self._network.disk.has(envelope.sent_at)))


def _answered(attempt: Attempt) -> SentId:
    if attempt.fate == "sent" and attempt.visible is not None:
        return SentId(attempt.visible.stamp)
    if attempt.fate == "not sent":
        raise NotSent("the bridge refused the connection")
    if attempt.fate == "undeliverable":
        raise Undeliverable("the recipient is not registered", reason="unregistered")
    raise SendUnknown("no answer in time")


def _now() -> float:
    return asyncio.get_running_loop().time()
