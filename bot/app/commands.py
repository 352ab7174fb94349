"""All slash commands, put together."""

from collections.abc import Awaitable, Callable

from bot.access.pairing import Pairing
from bot.app import models
from bot.app import tools as equipment
from bot.chat.approvals import Approvals
from bot.chat.notices import Admins
from bot.commands.admin import AdminCommands, Audience, BroadcastCommands
from bot.commands.base import CommandContext, CommandGroup
from bot.commands.conversation import ConversationCommands
from bot.commands.preferences import Menu, PreferenceCommands
from bot.events import PersonId
from bot.features.attestation.commands import AttestationCommands
from bot.features.attestation.service import Attestation
from bot.features.export.commands import ExportCommands
from bot.features.feeds.commands import FeedCommands
from bot.features.memory.commands import MemoryCommands
from bot.features.memory.service import Memory
from bot.features.reminders.commands import ReminderCommands
from bot.features.reminders.service import Reminders
from bot.features.safety_numbers.commands import TrustCommands
from bot.features.safety_numbers.service import SafetyNumbers
from bot.features.usage.commands import UsageCommands
from bot.settings import Settings


def command_groups(
    settings: Settings,
    context: CommandContext,
    approvals: Approvals,
    menu: Menu,
    *,
    has_reactions: bool,
    reminders: Reminders,
    memory: Memory,
    pairing: Pairing,
    audience: Audience,
    admins: Admins,
    on_allowed: Callable[[PersonId], Awaitable[None]],
    identities: SafetyNumbers,
) -> tuple[CommandGroup, ...]:
    """The commands in the order of `/help`. `on_allowed` is called with the person an admin has let in."""
    timezone, budgets = settings.locale.timezone, models.budgets(settings)
    return (
        ConversationCommands(context, approvals),
        ExportCommands(context, name=settings.signal.name, timezone=timezone),
        UsageCommands(context, timezone=timezone, limits=budgets),
        PreferenceCommands(context, menu),
        AttestationCommands(context, Attestation(settings.attestation.socket)),
        ReminderCommands(context, reminders, has_model=models.has_model(settings), has_reactions=has_reactions),
        MemoryCommands(context, memory),
        FeedCommands(context, is_on=equipment.news_options(settings).enabled, timezone=timezone),
        AdminCommands(context, pairing, audience, budgets, admins, timezone=timezone, on_allowed=on_allowed),
        TrustCommands(context, identities),
        BroadcastCommands(context, audience),
    )
