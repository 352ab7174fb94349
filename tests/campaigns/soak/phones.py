"""Signal between Aldis and people's phones: signal-cli's double, which notes when what went out, and has slow sends."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from tests.campaigns.chaos.record import Forgetful
from tests.servers.base import Seen
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_server import Parcel, Plan, Sent


@dataclass(frozen=True, kw_only=True)
class Out:
    """People got a message."""

    sent: Sent
    at_seconds: float
    """On the monotonic clock."""


@dataclass
class Phones(Forgetful, SignalCli):
    """Signal, as the soak has it."""

    slow_seconds: dict[str, float] = field(default_factory=dict[str, float])
    """How long a send to a conversation takes to be answered after it went out; no time where it is not named."""
    outs: list[Out] = field(default_factory=list[Out])
    read_seconds: dict[int, float] = field(default_factory=dict[int, float])
    """When a letter was shown as read, by the time that names it."""

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is on its way to Aldis."""
        return not self._waiting

    async def note(self, repository: list[Any], value: Any) -> None:
        if repository is self.sent:
            self.outs.append(Out(sent=value, at_seconds=time.monotonic()))
        elif repository is self.read:
            self.read_seconds.setdefault(value[1], time.monotonic())
        await super().note(repository, value)

    async def _send(self, sent: Parcel, seen: Seen, wire: asyncio.BaseTransport | None) -> Any:
        self.plans.append(Plan(delay_seconds=self.slow_seconds.get(sent.chat, 0)))
        return await super()._send(sent, seen, wire)
