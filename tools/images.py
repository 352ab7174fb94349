"""The tool `image_generate`: makes a picture from a description, by any service with OpenAI's images endpoint.

A picture may cost money, so a request is sent once, and a call with an unknown outcome is not repeated (effects
`once`). A picture that was made is charged, whether or not it can be sent.

Source: OpenAI's API reference, `/images/generations`, and the openai SDK 3.54.0 (2026-11-21). GPT image models always
answer with `b64_json` and refuse `response_format`. Other servers are asked for `b64_json`, and have to support it. A
picture takes 20 to 120 seconds.
"""

import base64
from dataclasses import replace
from decimal import Decimal
from http import HTTPStatus
from urllib.parse import urlsplit

from pydantic import Field

from tools.base import Arguments, BaseUrl, Intent, Key, Options, Result, ResultFile, ToolContext, ToolSpec
from tools.errors import (
    BadArguments,
    BrokenOff,
    Denied,
    Disabled,
    TimedOut,
    TooLarge,
    ToolError,
    Unavailable,
    UnknownOutcome,
)
from tools.http import Http, JsonAnswer, bearer
from tools.text import clean_text

OPENAI_URL = "https://api.openai.com/v1"
MAX_PROMPT_CHARS = 4_000
MAX_PICTURE_BYTES = 8_000_000
"""The limit of a message."""
MAX_ANSWER_BYTES = MAX_PICTURE_BYTES * 4 // 3 + 100_000
"""The same in base 64, plus space for what surrounds it."""
OPENAI_MODEL = "gpt-image-2.5-flare"
"""The default at OpenAI itself, which chooses none. Source: the model list of the openai SDK 3.54.0, 2026-11-21."""

_SERVICE = "The image service"
_GROUP = "TOOLS__IMAGES__"
_LOST_BEHIND_GATEWAYS = frozenset({502, 504, 520, 524})  # a gateway does not know what the servers behind it have done
_MAYBE_PAID = "The picture may have been charged all the same: do not repeat this unasked."
_FORBIDDEN = frozenset({"moderation_blocked", "content_policy_violation", "content_filter"})
_UNPAID = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_KINDS = {"png": b"\x89PNG\r\n\x1a\n", "jpeg": b"\xff\xd8\xff", "webp": b"RIFF"}
"""The formats of pictures, and how they begin."""
_TIMEOUT_SECONDS = 180.0  # WORKER__TURN_TIMEOUT_SECONDS must leave room for it


class ImagesOptions(Options):
    """The settings `TOOLS__IMAGES__<FIELD>` of image_generate, which is offered once an address or a key is set."""

    base_url: BaseUrl | None = None
    """The address of the service, with /v1; unset means OpenAI itself. A server of your own may need no key."""
    api_key: Key | None = None
    """Its key. It never gets any other key of yours."""
    model: str | None = Field(default=None, min_length=1, max_length=200)
    """The model that draws; unset means `gpt-image-2.5-flare` at OpenAI itself, and elsewhere the server's default."""
    cost_usd: Decimal = Field(default=Decimal(0), ge=0, le=100)
    """The price of one picture in US dollars; 0 means that pictures are not counted. Required if there is a budget."""

    def missing_settings(self) -> str | None:
        """See `Options`: OpenAI needs a key, another service an address."""
        return None if self.base_url or self.api_key else "API_KEY or BASE_URL"

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        return (f"{urlsplit(self.base_url or OPENAI_URL).hostname}: the description",)


class ImageArguments(Arguments):
    """The picture to make."""

    prompt: str = Field(min_length=1, max_length=MAX_PROMPT_CHARS, description="Subject and style; nothing private.")


class ImageGenerate:
    """Makes a picture."""

    def __init__(self, options: ImagesOptions, http: Http, *, timeout_seconds: float = _TIMEOUT_SECONDS) -> None:
        self._http = http
        self._url = f"{options.base_url or OPENAI_URL}/images/generations"
        self._headers = {"Accept": "application/json"} | bearer(options.api_key)
        self._timeout_seconds = timeout_seconds
        model = options.model or (OPENAI_MODEL if options.base_url in {None, OPENAI_URL} else None)
        form = None if "gpt-image" in (model or "") else "b64_json"  # such models refuse it
        wanted = {"model": model, "size": "1024x1024", "response_format": form}
        self._request_body = {"n": 1, **{name: value for name, value in wanted.items() if value is not None}}
        self.spec = ToolSpec(
            name="image_generate",
            description=(
                "Makes one picture from a description and attaches it to your answer; you do not see it yourself. Use"
                " it only when somebody asks for a picture. It can take minutes. The description goes to an image"
                " service, which refuses some subjects; it cannot change existing pictures."
            ),
            arguments=ImageArguments,
            intent=lambda given: Intent("draw", {"prompt": given.prompt}),
            effects="once",
            label="sent",
            timeout_seconds=timeout_seconds,
            cost_usd=options.cost_usd,
        )

    async def run(self, arguments: ImageArguments, context: ToolContext) -> Result:
        """Returns the picture as a file; `UnknownOutcome` without a whole answer in time, as it may have been paid."""
        del context
        prompt = clean_text(arguments.prompt).strip()
        if not prompt:
            raise BadArguments("The description is empty.")
        try:
            answer = await self._http.post(
                self._url,
                service=_SERVICE,
                json={**self._request_body, "prompt": prompt},
                timeout_seconds=self._timeout_seconds,
                max_bytes=MAX_ANSWER_BYTES,
                headers=self._headers,
            )
        except (BrokenOff, TimedOut) as error:
            raise UnknownOutcome(f"{error} {_MAYBE_PAID}") from error
        except TooLarge as error:  # only a picture is that long
            error.cost_usd = self.spec.cost_usd
            raise
        if answer.status in _LOST_BEHIND_GATEWAYS:
            raise UnknownOutcome(f"{_SERVICE} lost the request (status {answer.status}). {_MAYBE_PAID}")
        if not answer.ok:
            raise _refusal(answer.as_json(_SERVICE))
        try:
            kind, picture = _picture(answer.as_json(_SERVICE))
        except ToolError as error:
            error.cost_usd = self.spec.cost_usd
            raise
        file = ResultFile(name=f"picture.{kind}", content_type=f"image/{kind}", data=picture)
        return Result(data={"format": kind, "size_bytes": len(picture)}, files=(file,))


def _picture(answer: JsonAnswer) -> tuple[str, bytes]:
    match answer.body:
        case {"data": [{"b64_json": str(encoded)}, *_]} if encoded:
            pass
        case _:
            raise Unavailable(f"{_SERVICE} returned no picture, or only its address.")
    try:
        picture = base64.b64decode(encoded)
    except ValueError as error:
        raise Unavailable(f"{_SERVICE} returned an unreadable picture.") from error
    if len(picture) > MAX_PICTURE_BYTES:
        raise TooLarge(f"The picture is larger than {MAX_PICTURE_BYTES / 1_000_000:g} MB.")
    for kind, beginning in _KINDS.items():
        if picture.startswith(beginning):
            return kind, picture
    raise Unavailable(f"{_SERVICE} returned something other than PNG, JPEG or WebP.")


def _refusal(answer: JsonAnswer) -> ToolError:
    """Returns the error for a refusal, without any of the service's words."""
    code = param = None
    match answer.body:
        case {"error": {**error}}:
            code, param = error.get("code"), error.get("param")
        case _:
            pass
    if str(code) in _FORBIDDEN:
        return Denied("The rules of the image service forbid this picture: tell the person, or describe another one.")
    if str(code) in _UNPAID:
        answer = replace(answer, status=HTTPStatus.PAYMENT_REQUIRED)
    match answer.status:
        case HTTPStatus.BAD_REQUEST | HTTPStatus.UNPROCESSABLE_ENTITY if param == "prompt":
            return BadArguments(f"{_SERVICE} does not accept this description: make it shorter and simpler.")
        case HTTPStatus.BAD_REQUEST | HTTPStatus.UNPROCESSABLE_ENTITY | HTTPStatus.NOT_FOUND:
            return Disabled(f"{_SERVICE} refuses the request: the operator has to check {_GROUP}MODEL, BASE_URL.")
        case _:
            return answer.refusal(_SERVICE, key=f"{_GROUP}API_KEY")
