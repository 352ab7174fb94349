"""Pictures of descriptions, from a double of OpenAI's images endpoint and of servers that are compatible with it."""

from decimal import Decimal
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from tests.servers.base import Answer, Seen, answer_json, hang
from tests.servers.fixtures import fixture_of
from tests.servers.openai_images import JPEG, KEY, PNG, WEBP, OpenAIImages, refused
from tests.tools.conftest import Asked, Opened
from tests.tools.sites import line, says
from tests.waiting import DEADLINE_SECONDS
from tools import BadArguments, Denied, Disabled, Http, RateLimited, TooLarge, ToolContext, ToolError, Unavailable
from tools.errors import UnknownOutcome
from tools.images import MAX_ANSWER_BYTES, MAX_PICTURE_BYTES, ImageGenerate, ImagesOptions

BROKEN = answer_json({"error": {"message": "SECRET words", "type": "server_error", "param": None, "code": None}}, 500)

service = fixture_of(OpenAIImages)
local = fixture_of(lambda: OpenAIImages(local=True))


@pytest.fixture
def opened(service: OpenAIImages, http: Http, context: ToolContext) -> Opened:
    def tool(timeout_seconds: float = DEADLINE_SECONDS, **options: Any) -> Asked:
        given = {"base_url": service.base_url, "api_key": SecretStr(KEY), "model": "gpt-image-2", **options}
        return Asked(ImageGenerate(ImagesOptions(**given), http, timeout_seconds=timeout_seconds), context)

    return tool


async def test_a_picture_is_a_file_and_the_model_hears_of_it(
    ask: Asked, service: OpenAIImages, local: OpenAIImages, opened: Opened
) -> None:
    """One request, in words that the service takes; its bytes say its kind; a server of one's own needs no key."""
    result = await ask.result("a lamp\u200b in the fog ")
    [file] = result.files
    assert (file.name, file.content_type, file.data) == ("picture.png", "image/png", PNG)
    assert result.data == {"format": "png", "size_bytes": len(PNG)}
    assert service.drawn == [{"model": "gpt-image-2", "n": 1, "size": "1024x1024", "prompt": "a lamp in the fog"}]
    assert len(service.requests) == 1
    for picture, kind in ((PNG, "png"), (JPEG, "jpeg"), (WEBP, "webp")):
        service.picture = picture
        [file] = (await ask.result("a lamp")).files
        assert (file.name, file.content_type) == (f"picture.{kind}", f"image/{kind}")
    await opened(base_url=local.base_url, api_key=None, model=None)("a lamp")
    assert local.drawn == [{"n": 1, "size": "1024x1024", "response_format": "b64_json", "prompt": "a lamp"}]
    assert "authorization" not in local.requests[0].headers


async def test_a_large_picture_comes_through_one_that_is_too_large_does_not(ask: Asked, service: OpenAIImages) -> None:
    """Far more than other services may answer; never more than a message carries."""
    service.picture = PNG + b"\0" * 2_500_000
    assert len((await ask.result("a lamp")).files[0].data) == len(service.picture)
    for size in (MAX_PICTURE_BYTES + 1 - len(PNG), MAX_PICTURE_BYTES + 500_000):
        service.picture = PNG + b"\0" * size
        with pytest.raises(TooLarge):
            await ask("a lamp")


def fault(message: str, status: int, **more: Any) -> Answer:
    return lambda _: refused(message, status=status, **more)


async def test_a_refusal_is_told_by_its_kind(ask: Asked, service: OpenAIImages) -> None:
    """Who has to do what; nothing of the service's own words, nothing is asked twice, or fetched from elsewhere."""
    rows: list[tuple[Answer, type[ToolError], str]] = [
        (fault("SECRET", 400, code="moderation_blocked"), Denied, "rules"),
        (fault("SECRET", 400, param="prompt", code="string_above_max_length"), BadArguments, "shorter"),
        (fault("SECRET", 400, param="size"), Disabled, "TOOLS__IMAGES__MODEL"),
        (fault("SECRET", 401), Disabled, "TOOLS__IMAGES__API_KEY"),
        (fault("SECRET", 404, code="model_not_found"), Disabled, "TOOLS__IMAGES__MODEL"),
        (fault("SECRET", 429, code="insufficient_quota"), Disabled, "paid"),
        (answer_json({"error": {"code": "content_filter"}}, 400), Denied, "rules"),  # other servers name no `param`
        (answer_json({"error": "SECRET"}, 429, {"Retry-After": "30"}), RateLimited, "30 seconds"),
        (BROKEN, Unavailable, "status 500"),
        (answer_json({"data": [{"url": "http://127.0.0.1:9/made.png"}]}), Unavailable, "only its address"),
        (answer_json({"data": []}), Unavailable, "no picture"),
        (answer_json({"data": [{"b64_json": ""}]}), Unavailable, "picture"),
        (answer_json({"data": [{"b64_json": "Ä" * 8}]}), Unavailable, "picture"),
        # A gateway does not know what was done: its refusal is none of the service's own.
        (answer_json({}, 502), UnknownOutcome, "status 502"),
        (answer_json({}, 524), UnknownOutcome, "status 524"),
    ]
    for answer, kind, words in rows:
        service.requests.clear()
        service.faults.append(answer)
        with pytest.raises(kind, match=words) as caught:
            await ask("a lamp")
        assert "SECRET" not in str(caught.value)
        assert KEY not in str(caught.value)
        assert len(service.requests) == 1


async def test_a_connection_that_breaks_leaves_the_outcome_unknown(opened: Opened, service: OpenAIImages) -> None:
    """It may be made and paid, so it is not tried again, nor when time is up; one that never stood is none."""
    for talk in (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"):
        async with line(says(talk)) as site:
            ask = opened(base_url=f"http://127.0.0.1:{site.port}/v1")
            with pytest.raises(UnknownOutcome, match="may have been charged"):
                await ask("a lamp")
            assert site.accepted == 1
        with pytest.raises(Unavailable, match="cannot be reached"):
            await ask("a lamp")
    service.faults.append(hang)
    with pytest.raises(UnknownOutcome, match="may have been charged"):
        await opened(0.1)("a lamp")
    assert opened(0.1).tool.spec.timeout_seconds == 0.1


async def test_a_picture_that_cannot_be_sent_is_paid_all_the_same(opened: Opened, service: OpenAIImages) -> None:
    """Else a model could have one made after the other for nothing, by the ledger; a refusal costs nothing."""
    ask = opened(cost_usd=Decimal("0.04"))

    def a_page(_: Seen) -> web.StreamResponse:
        return web.Response(text="<html>")

    for answer in (answer_json({"data": [{}]}), a_page, answer_json({"data": "x" * MAX_ANSWER_BYTES})):
        service.faults.append(answer)
        with pytest.raises((Unavailable, TooLarge)) as caught:
            await ask("a lamp")
        assert caught.value.cost_usd == Decimal("0.04")
    service.faults.append(BROKEN)
    with pytest.raises(Unavailable) as caught:
        await ask("a lamp")
    assert caught.value.cost_usd == 0
