"""What the settings mean for the parts: bounds, paces, who may write. Pure, but for a word to the operator."""

import base64
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import timedelta
from typing import cast

from pydantic import BaseModel, SecretStr

from bot.events import TERMINAL_PERSON
from bot.loops.intake.strangers import Admission
from bot.media.speech import Speech
from bot.policy.access import EVERYBODY, AccessList
from bot.policy.callers import Callers
from bot.policy.limits import Quota
from bot.policy.pairing import Pairing
from bot.policy.secrets import Secrets
from bot.settings import Settings
from tools import Http

_log = logging.getLogger(__name__)

_FEW_CONVERSATIONS = 100
"""So few places are soon taken by models that hang."""


def access_list(settings: Settings, realm: str) -> AccessList:
    """Who may write: those allowed and the admins; in the terminal whoever sits there."""
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


def admission(settings: Settings, pairing: Pairing, callers: Callers | None) -> Admission:
    """How much is too much, and whether strangers are given codes."""
    return Admission(
        quota=Quota(settings.limits), pairing=pairing if settings.access.strangers == "pair" else None, callers=callers
    )


def note_few_conversations(settings: Settings) -> None:
    """Tell the operator where answers that hang would soon keep everybody else waiting."""
    at_once = settings.worker.conversations_at_once
    if at_once < _FEW_CONVERSATIONS:
        _log.warning(
            "WORKER__CONVERSATIONS_AT_ONCE=%d: as many answers that hang keep everybody else waiting; leave it out, "
            "for one that waits costs next to nothing",
            at_once,
        )


def retention(settings: Settings) -> timedelta | None:
    """After how long what was said is destroyed; None: never."""
    days = settings.history.retention_days
    return None if days is None else timedelta(days=days)


def speech(settings: Settings, http: Http) -> Speech | None:
    """Who understands and speaks; None without an address."""
    audio = settings.audio
    if audio.base_url is None:
        return None
    return Speech(http, audio, api_key=settings.audio_key)


def secrets(settings: Settings) -> Secrets:
    """What the operator keeps to themselves: every key, token and password of the settings, and the master key."""
    return Secrets([*_secrets(settings), *_master_key(settings)])


def _master_key(settings: Settings) -> Iterator[str]:
    """In both spellings, whether it is given or stands in the file beside the store."""
    with suppress(OSError, ValueError):
        key = settings.store.master_key or bytes.fromhex(settings.store.key_path.read_text("ascii"))
        yield key.hex()
        yield base64.b64encode(key).decode()


def _secrets(value: object) -> Iterator[str]:
    match value:
        case SecretStr():
            yield value.get_secret_value()
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
