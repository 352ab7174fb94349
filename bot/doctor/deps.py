"""What `bot.app` hands to the doctor."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.events import Account
from bot.media.sandbox import Sandbox
from bot.models.base import Provider
from bot.settings import BudgetSettings, ProviderName
from bot.signal.protocol import Bridge, Linking, SignalTransport
from tools import ToolDeps


@dataclass(frozen=True, kw_only=True, slots=True)
class Deps:
    """How the parts are made that only `bot.app` names, so that the doctor can look at them."""

    linking: Callable[[Bridge], Linking]
    transport: Callable[[Bridge, Account], SignalTransport]
    provider: Callable[[ProviderName], Provider]
    """With the model that answers unless another is chosen."""
    choice: Callable[[str], Provider]
    """With a model that people may choose, by its name (`provider/model`)."""
    budgets: Callable[[], BudgetSettings]
    """Raises `ConfigError` where they cannot be kept."""
    check_approve: Callable[[], None] = lambda: None
    """Raises `ConfigError` where a tool that asks first is none."""
    tool_deps: ToolDeps
    """Of tools that are only looked at."""
    is_contained: bool = False
    """Whether Aldis runs in a container, where loopback is nobody else's."""
    sandbox: Callable[[], Sandbox]
