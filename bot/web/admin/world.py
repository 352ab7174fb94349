"""What the pages know about Aldis: its settings from the first second, and its parts while it runs.

World --begin--> what it waits for --showing--> the running Aldis --> it stops, or starts again
"""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from bot.access.pairing import Pairing
from bot.chat.captchas import Captchas
from bot.chat.toolbox import Toolbox
from bot.commands.admin import Audience
from bot.doctor.findings import Deps, Finding
from bot.features.safety_numbers import SafetyNumbers
from bot.settings import Settings
from bot.settings.load import SettingsFile
from bot.signal.protocol import Outside
from bot.web.health import HealthPage


@dataclass(frozen=True, slots=True)
class Wait:
    """What Aldis waits for before it runs."""

    words: str
    """A sentence for the operator."""
    ends_by: Literal["time", "link", "choice"] = "time"
    """What ends it: nothing but time, an account that is linked, or the operator's choice between accounts."""


@dataclass
class RunningParts(Outside):
    """The parts of a running Aldis that pages look at."""

    health: HealthPage
    identities: SafetyNumbers
    captchas: Captchas
    audience: Audience
    toolbox: Toolbox


@dataclass(eq=False, kw_only=True)
class World:
    """Aldis as the pages see it."""

    settings: Settings
    deps: Callable[[Settings], Deps]
    """Returns the parts of Aldis for given settings, to look at them."""
    file: SettingsFile
    restart: Callable[[], Awaitable[None]]
    """Restarts Aldis with the settings of that moment."""
    keeping: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while settings are being changed, or the store is being replaced."""
    restoring: tuple[Path, asyncio.Future[None]] | None = None
    """A copy that the next run puts in the place of the store, and what came of that."""
    pairing: Pairing = field(default_factory=Pairing)
    findings: tuple[Finding, ...] | None = None
    """What the doctor found when a page last asked it; None: none has."""
    waits: Wait = Wait("Aldis is starting")
    """Why Aldis does not run yet."""
    running: RunningParts | None = None
    began_at: datetime | None = None
    """When the Aldis that runs began to."""
    runs: int = 0
    """How often Aldis has started in this process."""
    has_account: bool = False
    """Whether Aldis has run in this process: then the bridge has an account, even while Aldis starts again."""

    @property
    def steps(self) -> tuple[tuple[str, str, bool], ...]:
        """The steps of setup: path, title, and whether it is done."""
        settings, is_there = self.settings, self.has_account
        has_model = bool(settings.llm.providers) or settings.llm.providers_in_order != ("offline",)
        has_admin = bool(settings.access.admins) or settings.signal.note_to_self
        has_tools = bool(settings.tools.model_fields_set or settings.budget.model_fields_set)
        return (
            ("/setup/account", "The account", is_there),
            ("/setup/model", "The model", has_model),
            ("/setup/you", "Who you are", has_admin),
            ("/setup/tools", "What it may do", has_tools),
            ("/setup/done", "Finish", is_there and has_model and has_admin),
        )

    @property
    def health(self) -> HealthPage | str:
        """What the health page shows: the state of the Aldis that runs, or what it waits for until then."""
        return self.waits.words if self.running is None else self.running.health

    @property
    def own_account(self) -> str | None:
        """The number of Aldis's account, or its id; None while it does not run."""
        return None if self.running is None else self.running.transport.number or self.running.transport.account

    def begin(self, settings: Settings) -> None:
        """Notes that Aldis starts, or starts again, with these settings."""
        self.settings, self.waits = settings, Wait("Aldis is starting")
        self.runs += 1

    async def restore(self, copy: Path) -> None:
        """Restarts Aldis with this copy for a store; after a StoreError or ConfigError nothing has changed."""
        async with self.keeping:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.restoring = copy, done
            try:
                await self.restart()
                await asyncio.shield(done)
            finally:
                self.restoring = None

    @contextmanager
    def showing(self, running: RunningParts) -> Generator[None]:
        """Shows that Aldis runs with these parts while the block does."""
        self.running, self.has_account, self.began_at = running, True, running.clock.now()
        try:
            yield
        finally:
            self.running, self.waits = None, Wait("Aldis is stopping, or starting again")
