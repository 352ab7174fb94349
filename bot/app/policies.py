"""Who may write by the settings, and which of them are secrets."""

import base64
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import cast

from pydantic import BaseModel, SecretStr

from bot.access.access import EVERYBODY, AccessList
from bot.events import TERMINAL_PERSON
from bot.settings import Settings
from bot.trust.secrets import Secrets, passwords_in

_log = logging.getLogger(__name__)


def access_list(settings: Settings, realm: str) -> AccessList:
    """Who may write: the allowed and the admins; in the terminal, the person sitting there."""
    access = settings.access
    persons = frozenset({*access.allowed, *access.admins})
    if realm == "terminal":
        return AccessList(persons=frozenset({EVERYBODY}), groups=frozenset(), admins=frozenset({TERMINAL_PERSON}))
    if settings.signal.note_to_self:
        return AccessList(persons=frozenset(), groups=frozenset(), note_to_self=True)
    if not persons and not access.groups:
        _log.warning("nobody may write to Aldis yet: set ACCESS__ALLOWED to your number (and ACCESS__GROUPS)")
    return AccessList(
        persons=persons,
        groups=frozenset(access.groups),
        admins=frozenset(access.admins),
        group_members_may_write=access.group_members_may_write,
    )


def secrets(settings: Settings) -> Secrets:
    """The operator's secrets: every key, token and password in the settings, and the master key."""
    return Secrets([*_secrets(settings), *_master_key(settings)])


def _master_key(settings: Settings) -> Iterator[str]:
    """The key in both spellings, whether it is configured or in the file beside the store."""
    with suppress(OSError, ValueError):
        key = settings.store.master_key or bytes.fromhex(settings.store.key_path.read_text("ascii"))
        yield key.hex()
        yield base64.b64encode(key).decode()


def _secrets(value: object) -> Iterator[str]:
    match value:
        case SecretStr():
            yield value.get_secret_value()
        case str():
            yield from passwords_in(value)
        case BaseModel():
            for _, item in value:
                yield from _secrets(item)
        case Mapping():
            for item in cast("Mapping[object, object]", value).values():
                yield from _secrets(item)
        case list() | tuple() | set() | frozenset():
            for item in cast("Iterable[object]", value):
                yield from _secrets(item)
        case _ if is_dataclass(value) and not isinstance(value, type):
            yield from _secrets([getattr(value, field.name) for field in fields(value)])
        case _:
            return
