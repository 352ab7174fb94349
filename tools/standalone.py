"""Tools without a conversation: what surrounds them while an operator looks at them or calls one by hand.

There is no store, so nobody stands behind the ports: a tool that needs somebody there says so when it is called. How
often services are asked by hand is not counted.
"""

from collections.abc import Awaitable, Callable
from dataclasses import fields
from datetime import datetime
from typing import Any, NoReturn

from tools.building import ToolDeps
from tools.errors import Disabled
from tools.http import Http
from tools.ports import Span
from tools.web.fetch import Fetcher


class Nobody:
    """Stands behind every port at once, and refuses whatever is asked of it."""

    def __getattr__(self, name: str) -> Callable[..., Awaitable[NoReturn]]:
        """A method of whichever port.

        Raises:
            AttributeError: the name is private, which no port's is.
        """
        if name.startswith("_"):
            raise AttributeError(name)

        async def refused(*_: object, **__: object) -> NoReturn:
            raise Disabled("This works only in a conversation with Aldis.")

        return refused


class NoQuotas:
    """Stands behind `Quotas`: whatever is asked by hand may be asked."""

    async def take(self, service: str, *, most: int, amount: int = 1, per: Span = "month") -> bool:
        """Always."""
        del service, most, amount, per
        return True

    async def give_back(self, service: str, *, amount: int, taken_at: datetime, per: Span = "month") -> None:
        """Nothing was counted."""


def alone(http: Http, fetcher: Fetcher) -> ToolDeps:
    """Surroundings with a way to the outside, and nobody behind the ports."""
    everything: dict[str, Any] = {field.name: Nobody() for field in fields(ToolDeps)}
    everything |= {"http": http, "fetcher": fetcher, "quotas": NoQuotas()}
    return ToolDeps(**everything)
