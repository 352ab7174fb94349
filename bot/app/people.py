"""Who is told what the operator should know, and whose safety numbers are watched."""

from collections.abc import Callable

from bot.access.access import AccessList
from bot.chat import chats
from bot.chat.notices import Admins
from bot.clock import Clock
from bot.commands.admin import Audience
from bot.features.safety_numbers.service import SafetyNumbers
from bot.metrics import Counts
from bot.settings import Settings
from bot.signal.protocol import Transport
from store import Store


def identities_of(
    settings: Settings,
    transport: Transport,
    store: Store,
    clock: Clock,
    allowed: Callable[[], AccessList],
    *,
    counts: Counts,
) -> SafetyNumbers:
    """The safety numbers of people who may write."""
    audience = Audience(transport, allowed)
    return SafetyNumbers(
        transport,
        store,
        clock,
        counts,
        may_write=audience.may_write,
        admins=admins_of(settings, clock, allowed),
        accepts=settings.signal.new_safety_numbers == "accept",
    )


def admins_of(settings: Settings, clock: Clock, allowed: Callable[[], AccessList]) -> Admins:
    """The admins, each with the language of their own chat."""
    return Admins(
        clock,
        listed=lambda: allowed().admins,
        language=lambda repos, conversation: chats.language_of(
            chats.settings_of(repos, conversation, clock.now()), settings.locale.language
        ),
    )
