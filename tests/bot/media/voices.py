"""Who understands and speaks, at a double of the service."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from decimal import Decimal

from bot.media.speech import Listening, Speaking, Speech
from tests.servers.openai_audio import KEY, OpenAIAudio
from tests.tools.conftest import USER_AGENT
from tests.waiting import DEADLINE_SECONDS
from tools import Http


@asynccontextmanager
async def speech_at(
    service: OpenAIAudio, *, minute_usd: Decimal, characters_usd: Decimal | None
) -> AsyncGenerator[Speech]:
    """What a minute of listening costs, and a million spoken characters."""
    async with Http(USER_AGENT) as http:
        yield Speech(
            http,
            base_url=f"{service.url}/v1",
            api_key=KEY,
            timeout_seconds=DEADLINE_SECONDS,
            listening=Listening(model="whisper-1", language=None, price_usd=minute_usd),
            speaking=Speaking(model="tts-1", voice="alloy", price_usd=characters_usd),
        )
