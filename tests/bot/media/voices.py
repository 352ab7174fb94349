"""Who understands and speaks, at a double of the service."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from decimal import Decimal

from pydantic import SecretStr

from bot.media.speech import Speech
from bot.settings.groups import AudioSettings
from tests.servers.openai_audio import KEY, OpenAIAudio
from tests.tools.conftest import USER_AGENT
from tools import Http


@asynccontextmanager
async def speech_at(
    service: OpenAIAudio, *, minute_usd: Decimal | None, characters_usd: Decimal | None, api_key: str | None = KEY
) -> AsyncGenerator[Speech]:
    async with Http(USER_AGENT) as http:
        audio = AudioSettings(
            base_url=f"{service.url}/v1",
            model="whisper-1",
            speech_model="tts-1",
            price=minute_usd,
            speech_price=characters_usd,
        )
        yield Speech(http, audio, api_key=SecretStr(api_key) if api_key else None)
