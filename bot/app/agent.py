"""The agent that answers turns, as the settings want it."""

from bot.app import policies
from bot.media.attachments import AttachmentReader
from bot.media.speech import Speech
from bot.providers.base import Provider
from bot.settings import Settings
from bot.turn import prompt
from bot.turn.agent import Agent, Limits
from bot.turn.budget import Budget
from bot.turn.multimodal import MultimodalAgent, VoiceReplies
from bot.turn.room import ContextRoom
from bot.turn.toolbox import Toolbox


def multimodal_agent(
    settings: Settings,
    provider: Provider,
    tools: Toolbox,
    budget: Budget,
    *,
    room: ContextRoom,
    attachments: AttachmentReader,
    speech: Speech | None,
) -> MultimodalAgent:
    """One that reads what comes with messages, and speaks where it is spoken to; `speech` None: it is deaf and mute."""
    seconds = settings.worker.turn_timeout_seconds
    return MultimodalAgent(
        _agent(settings, provider, tools, budget, room),
        attachments,
        timezone=settings.locale.timezone,
        voice=VoiceReplies(speech=speech, turn_seconds=seconds) if speech and settings.audio.speak else None,
        budget=budget,
    )


def _agent(settings: Settings, provider: Provider, tools: Toolbox, budget: Budget, room: ContextRoom) -> Agent:
    limits = Limits(
        max_rounds=settings.tools.max_tool_calls,
        max_calls_per_round=settings.tools.max_calls_per_round,
        max_history_tokens=settings.history.max_tokens,
        max_output_tokens=settings.llm.max_output_tokens,
        timeout_seconds=settings.llm.timeout_seconds,
    )
    system = prompt.system(settings.signal.name, settings.llm.system_prompt, settings.locale.place)
    return Agent(
        provider,
        tools,
        system=system,
        limits=limits,
        budget=budget,
        secrets=policies.secrets(settings),
        room=room,
        shows_sources=settings.answers.show_sources,
    )
