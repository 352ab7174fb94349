"""The ways to write a phone number, person, group, address, time zone or key, each with its canonical form.

Each type takes a string, and refuses it with a message that begins with "must" and never repeats the value.
"""

import base64
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, SecretStr

from tools import is_base_url

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""In lower case."""
_E164 = re.compile(r"\+[1-9]\d{6,14}", re.ASCII)
_GROUP_ID = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_WRAPPED = "group."
_MASTER_KEY_BYTES = 32


def person_of(text: str) -> str | None:
    """A UUID in lower case, or a phone number as Signal writes it; None for anything else, also for a number with
    "(0)", a digit that is dialled only without the country code.
    """
    if UUID.fullmatch(text.lower()):
        return text.lower()
    number = re.sub(r"[\s\-./()]", "", text)
    return number if _E164.fullmatch(number) and not re.search(r"\(\s*0+\s*\)", text) else None


def _group_of(text: str) -> str | None:
    """A group's id as envelopes carry it, in its exact case, or wrapped as signal-cli-rest-api has it; else None.

    Source: github.com/bbernhard/signal-cli-rest-api, src/client/client.go, 2026-08-16.
    """
    try:
        inner = base64.b64decode(text[len(_WRAPPED) :]).decode("ascii") if text.startswith(_WRAPPED) else text
    except ValueError:
        return None
    return inner if _GROUP_ID.fullmatch(inner) else None


def master_key_of(text: str) -> bytes | None:
    """The 32 bytes spelled in hex or base64 (either alphabet, padded or not); None for anything else."""
    if re.fullmatch(r"[0-9a-fA-F]{64}", text):
        return bytes.fromhex(text)
    standard = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        key = base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except ValueError:
        return None
    return key if len(key) == _MASTER_KEY_BYTES else None


def is_zone(name: str) -> bool:
    """Whether there is a time zone of that IANA name."""
    try:
        ZoneInfo(name)
    except (OSError, ValueError, LookupError, RecursionError):  # a folder of zones, a path, an unknown name
        return False
    return True


def model_price_of(value: str) -> tuple[str, Decimal, Decimal]:
    """The model, its dollars for a million tokens in and out; raises ValueError unless it is `model=input/output`."""
    found = re.fullmatch(r"(.*\S.*)=\s*(\d+\.?\d*|\.\d+)\s*/\s*(\d+\.?\d*|\.\d+)\s*", value, re.ASCII)
    if found is None:
        raise ValueError("must be a comma-separated list like model=0.25/2: dollars for a million tokens in and out")
    return found[1].strip(), Decimal(found[2]), Decimal(found[3])


def _database_path(path: Path) -> Path:
    # SQLite takes paths in UTF-8 only, and `sqlite:///data/aldis.db` would create a folder `sqlite:`.
    is_path = str(path).isprintable() and path.name and not re.match(r"\w*:", str(path))
    if not is_path or (path.exists() and not path.is_file()):
        raise ValueError("must be the path of a file, such as data/aldis.db")
    if path.parts[0].startswith("~"):  # no shell reads it: it would become a folder of that name
        raise ValueError("must name its folder without ~, such as /home/aldis/aldis.db")
    return path


def _bridge_address(value: str) -> str | None:
    try:
        parts = urlsplit(value)
        is_tcp = parts.scheme == "tcp" and bool(parts.hostname) and bool(parts.port) and parts.path in {"", "/"}
    except ValueError:
        return None
    is_socket = is_tcp or (parts.scheme == "unix" and not parts.netloc and len(parts.path) > 1)
    is_whole = is_socket and not (parts.query or parts.fragment)
    return value.rstrip("/") if is_whole else parts.geturl().rstrip("/") if is_base_url(value) else None


def _must(words: str, read: Callable[[Any], Any]) -> AfterValidator:
    """A check that keeps what `read` makes of a value, and says what it must be if that is None."""

    def check(value: Any) -> Any:
        found = read(value)
        if found is None:
            raise ValueError(f"must {words}")
        return found

    return AfterValidator(check)


def _matching(pattern: str) -> Callable[[str], str | None]:
    return lambda text: text if re.fullmatch(pattern, text, re.ASCII) else None


_CONTACT = r"[\w.+-]{1,64}@[\w-]{1,63}(\.[\w-]{1,63}){1,5}|https?://[\w.~:/?#\[\]!$&'*+,=%-]{1,180}"
_PEOPLE = "a comma-separated list of phone numbers like +12025550123 and uuids"
_GROUPS = "be * for every group, or a comma-separated list of group ids in their exact case"
_BRIDGE = "be an address like unix:///run/signal-cli/socket, tcp://host:port or http://host:port"
_PAGE = "be an e-mail address, or the address of a page like https://example.org/about"
_KEY = "be 32 bytes, written as 64 hexadecimal digits or in base64"

Contact = Annotated[str, _must(_PAGE, _matching(_CONTACT))]
"""An e-mail address or the address of a page, as a header can carry it."""
BridgeAddress = Annotated[str, _must(_BRIDGE, _bridge_address)]
"""A `BaseUrl`, its scheme in small letters, or the address of a socket: `unix:///path` or `tcp://host:port`."""
OnePerson = Annotated[str, _must("be a uuid, or a phone number with its country code, like +12025550123", person_of)]
"""A phone number or a UUID, kept as Signal writes them."""
Person = Annotated[str, _must(f"be {_PEOPLE}", person_of)]
"""Like `OnePerson`, as an item of a list."""
PersonOrAll = Annotated[
    str, _must(f"be * for everybody, or {_PEOPLE}", lambda text: text if text == "*" else person_of(text))
]
"""A person, or `*` for everybody."""
GroupOrAll = Annotated[str, _must(_GROUPS, lambda text: text if text == "*" else _group_of(text))]
"""A group's id in its exact case, or `*` for every group."""
DatabasePath = Annotated[Path, AfterValidator(_database_path)]
"""The path of a file that exists, or can be created."""
Zone = Annotated[str, _must("be a time zone like Europe/Berlin", lambda name: name if is_zone(name) else None)]
"""The name of a time zone of the IANA database."""
MasterKey = Annotated[SecretStr, _must(_KEY, lambda key: key if master_key_of(key.get_secret_value()) else None)]
"""A value that `master_key_of` reads."""
ModelPrice = Annotated[str, AfterValidator(lambda price: model_price_of(price) and price)]
"""A value that `model_price_of` reads."""
Temperature = Annotated[str, _must("be auto, or a number from 0 to 1", _matching(r"auto|0?\.\d+|[01](\.0*)?"))]
"""How freely a model chooses its words: a number from 0 to 1, or `auto`."""
_HOUR = r"([01]?\d|2[0-3])"
Hours = Annotated[str, _must("be two hours, like 22-7", _matching(f"{_HOUR}-{_HOUR}"))]
"""From one full hour to another; none where they are the same."""
_MODEL = "look like anthropic/claude-sonnet-5-5 or openai/gpt-6-luna"
ModelName = Annotated[str, _must(_MODEL, _matching("(anthropic|openai)/[!-~]{1,200}"))]
"""A model that people can choose, as `provider/model`."""
