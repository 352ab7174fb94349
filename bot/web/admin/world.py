"""What the pages know of Aldis: its settings from the first second, and its parts while it runs.

World --wait_for--> what it waits for --showing--> the Aldis that runs --> it waits, or stops
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from bot.clock import Clock
from bot.doctor.deps import Deps
from bot.features.safety_numbers.service import Identities
from bot.settings import Settings
from bot.transports.base import Transport
from bot.turn.captchas import Captchas
from bot.web.health import STARTS, STOPS, HealthPage
from store import Store


@dataclass(frozen=True, kw_only=True)
class Running:
    """The parts of an Aldis that runs, as far as pages look at them."""

    store: Store
    clock: Clock
    transport: Transport
    health: HealthPage
    identities: Identities
    captchas: Captchas


class World:
    """Aldis as the pages see it. `deps` makes its parts by settings, to look at them."""

    def __init__(self, settings: Settings, deps: Callable[[Settings], Deps]) -> None:
        self.settings = settings
        self.deps = deps
        self.waits_for = STARTS
        self.running: Running | None = None

    def wait_for(self, what: str) -> None:
        """Aldis does not run yet; `what` is a sentence for the operator."""
        self.waits_for = what

    @contextmanager
    def showing(self, running: Running) -> Generator[None]:
        """Aldis runs while the block does, with these parts."""
        self.running = running
        try:
            yield
        finally:
            self.running, self.waits_for = None, STOPS
