"""The ways to write a phone number, person, group, address, time zone or key, each with its canonical form.

Each type takes a string, and refuses it with a message that begins with "must" and never repeats the value.
"""

import base64
import re
from decimal import Decimal
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, SecretStr

from tools import is_base_url

_E164 = re.compile(r"\+[1-9]\d{6,14}", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_GROUP_ID = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_WRAPPED = "group."
_MASTER_KEY_BYTES = 32


def number_of(text: str) -> str | None:
    """A phone number as Signal writes it, without spaces, dashes, dots, slashes and brackets; None for anything else.

    Also for one with "(0)": that digit is dialled only without the country code, and the rest would be another number.
    """
    if re.search(r"\(\s*0+\s*\)", text):
        return None
    number = re.sub(r"[\s\-./()]", "", text)
    return number if _E164.fullmatch(number) else None


def person_of(text: str) -> str | None:
    """A UUID in lower case or a phone number as Signal writes it; None if it is neither."""
    return text.lower() if _UUID.fullmatch(text.lower()) else number_of(text)


def group_of(text: str) -> str | None:
    """A group's id as envelopes carry it, in its exact case; None for anything else.

    signal-cli-rest-api shows the id wrapped, as `group.` followed by its base64; that is accepted as well.
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


def zone_of(machine: str) -> str | None:
    """The zone that a machine's `TZ` gives by its name or by the path of its file; None if it gives none."""
    name = machine.removeprefix(":").rpartition("/zoneinfo/")[2]
    return name if is_zone(name) else None


def is_zone_meant(machine: str) -> bool:
    """Whether a machine's `TZ` is meant to be a zone's name, being neither a path nor a rule such as CET-1CEST."""
    return machine.removeprefix(":").replace("_", "").replace("/", "").replace("-", "").isalpha() and (
        not machine.removeprefix(":").startswith("/")
    )


def _one_person(value: str) -> str:
    person = person_of(value)
    if person is None:
        raise ValueError("must be a uuid, or a phone number with its country code, like +12025550123")
    return person


def _person(value: str) -> str:
    person = person_of(value)
    if person is None:
        raise ValueError("must be a comma-separated list of phone numbers like +12025550123 and uuids")
    return person


def _person_or_all(value: str) -> str:
    person = "*" if value == "*" else person_of(value)
    if person is None:
        raise ValueError(
            "must be * for everybody, or a comma-separated list of phone numbers like +12025550123 and uuids"
        )
    return person


def _group_or_all(value: str) -> str:
    group = "*" if value == "*" else group_of(value)
    if group is None:
        raise ValueError("must be * for every group, or a comma-separated list of group ids in their exact case")
    return group


def _bridge_address(value: str) -> str:
    if not (is_base_url(value) or _is_socket(value)):
        raise ValueError("must be an address like unix:///run/signal-cli/socket, tcp://host:port or http://host:port")
    return value.rstrip("/")


def _is_socket(value: str) -> bool:
    try:
        parts = urlsplit(value)
        is_tcp = parts.scheme == "tcp" and bool(parts.hostname) and bool(parts.port)
    except ValueError:
        return False
    is_unix = parts.scheme == "unix" and not parts.netloc and len(parts.path) > 1
    return (is_unix or (is_tcp and parts.path in {"", "/"})) and not (parts.query or parts.fragment)


def _database_path(path: Path) -> Path:
    # SQLite takes paths in UTF-8 only, and `sqlite:///data/aldis.db` would create a folder `sqlite:`.
    is_path = str(path).isprintable() and path.name and not re.match(r"\w*:", str(path))
    if not is_path or _is_no_file(path):
        raise ValueError("must be the path of a file, such as data/aldis.db")
    if path.parts[0].startswith("~"):  # no shell reads it: it would become a folder of that name
        raise ValueError("must name its folder without ~, such as /home/aldis/aldis.db")
    return path


def _is_no_file(path: Path) -> bool:
    """Whether there is something at the path that is no file: a folder, or a device; False if nobody can know."""
    try:
        return path.exists() and not path.is_file()
    except OSError:
        return False


def _zone(value: str) -> str:
    if not is_zone(value):
        raise ValueError("must be a time zone like Europe/Berlin")
    return value


def _master_key(value: SecretStr) -> SecretStr:
    if master_key_of(value.get_secret_value()) is None:
        raise ValueError("must be 32 bytes, written as 64 hexadecimal digits or in base64")
    return value


def model_price_of(value: str) -> tuple[str, Decimal, Decimal]:
    """The model, the dollars per million tokens in, and those per million out: `model=input/output`.

    Raises:
        ValueError: it is not written like that.
    """
    model, _, prices = value.rpartition("=")
    given, _, taken = prices.partition("/")
    if not model.strip():
        raise ValueError(value)
    return model.strip(), _dollars(given), _dollars(taken)


def _dollars(text: str) -> Decimal:
    try:
        amount = Decimal(text.strip())
    except ArithmeticError as error:
        raise ValueError(text) from error
    if not amount.is_finite() or amount < 0 or "_" in text:
        raise ValueError(text)
    return amount


def _model_price(value: str) -> str:
    try:
        model_price_of(value)
    except ValueError as error:
        raise ValueError(
            "must be a comma-separated list like model=0.25/2: dollars for a million tokens in and out"
        ) from error
    return value


def _model_name(value: str) -> str:
    provider, _, model = value.partition("/")
    if provider not in {"anthropic", "openai"} or not re.fullmatch(r"[!-~]{1,200}", model):
        raise ValueError("must look like anthropic/claude-sonnet-5-5 or openai/gpt-6-luna")
    return value


def _contact(value: str) -> str:
    is_mail = re.fullmatch(r"[\w.+-]{1,64}@[\w-]{1,63}(\.[\w-]{1,63}){1,5}", value, re.ASCII)
    if not is_mail and not re.fullmatch(r"https?://[\w.~:/?#\[\]!$&'*+,=%-]{1,180}", value, re.ASCII):
        raise ValueError("must be an e-mail address, or the address of a page like https://example.org/about")
    return value


Contact = Annotated[str, AfterValidator(_contact)]
"""An e-mail address or the address of a page, as a header can carry it."""

BridgeAddress = Annotated[str, AfterValidator(_bridge_address)]
"""A `BaseUrl`, or the address of a socket: `unix:///path` or `tcp://host:port`."""

OnePerson = Annotated[str, AfterValidator(_one_person)]
"""A phone number or a UUID, kept as Signal writes them."""

Person = Annotated[str, AfterValidator(_person)]
"""Like `OnePerson`, as an item of a list."""

PersonOrAll = Annotated[str, AfterValidator(_person_or_all)]
"""A person, or `*` for everybody."""

GroupOrAll = Annotated[str, AfterValidator(_group_or_all)]
"""A group's id in its exact case, or `*` for every group."""

DatabasePath = Annotated[Path, AfterValidator(_database_path)]
"""The path of a file that exists, or can be created."""

Zone = Annotated[str, AfterValidator(_zone)]
"""The name of a time zone of the IANA database."""

MasterKey = Annotated[SecretStr, AfterValidator(_master_key)]
"""A value that `master_key_of` reads."""

ModelPrice = Annotated[str, AfterValidator(_model_price)]
"""A value that `model_price_of` reads."""

ModelName = Annotated[str, AfterValidator(_model_name)]
"""A model that people can choose, as `provider/model`."""
