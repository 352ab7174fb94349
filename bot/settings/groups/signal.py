"""The settings `SIGNAL__...`."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from bot.settings.groups.base import SettingsGroup
from bot.settings.values import BridgeAddress, OnePerson, WebhookSecret
from tools import Lowered


class SignalSettings(SettingsGroup):
    """The way to Signal."""

    url: BridgeAddress = "http://127.0.0.1:8080"
    """Where signal-cli's daemon (unix:///path, tcp://host:port or http://host:port) or signal-cli-rest-api listens."""
    account: OnePerson | None = None
    """The number or the uuid of the account that Aldis answers for; none means the only one that the server has."""
    transport: Annotated[Literal["auto", "signal_cli", "rest_api"], Lowered] = "auto"
    """Which of the two servers listens there; auto means that it is asked."""
    name: str = Field(default="Aldis", max_length=50)
    """How people address Aldis in groups."""
    device_name: str = Field(default="Aldis", max_length=50)
    """How the linked device is called in Signal's list of devices."""
    send_timeout_seconds: float = Field(default=60, ge=1, le=600)
    """How long one send may take; after that nobody knows whether it went out."""
    unknown_grace_seconds: float = Field(default=90, ge=1, le=3600)
    """How long to wait for the receipt of such a send before it is sent again; no shorter than a send."""
    max_parts: int = Field(default=5, ge=1, le=50)
    """Into how many messages a long answer is split where it cannot be sent as one; the rest is cut."""
    ack: Annotated[Literal["reaction", "none"], Lowered] = "reaction"
    """What shows on a message that it is being answered, where that takes more than seconds: an emoji, or nothing."""
    live: Annotated[Literal["off", "status", "stream"], Lowered] = "status"
    """What people see of an answer that takes long: nothing, what is going on, or also its words as they come."""
    delete_answers: bool = False
    """Whether Aldis deletes its answer, too, when somebody deletes the message that it answers."""
    round_trip_minutes: int = Field(default=0, ge=0, le=1440)
    """How often a note to self tests that messages still arrive; 0 means never. Needs another device of the account."""
    note_to_self: bool = False
    """Whether the account is your own: then Aldis answers your Note to Self and reads nothing else of what comes."""
    webhook_secret: WebhookSecret | None = None
    """What the posts of signal-cli-rest-api's RECEIVE_WEBHOOK_URL must show; with it Aldis listens for them."""
    webhook_host: str = "127.0.0.1"
    """The address on which it listens for them."""
    webhook_port: int = Field(default=8788, ge=1, le=65_535)
    """The port on which it listens for them."""
    new_safety_numbers: Annotated[Literal["ask", "accept"], Lowered] = "ask"
    """What a new safety number means: ask waits until somebody says `/trust`, accept trusts it as Signal's apps do."""
    attachments: Path | None = None
    """The folder in which signal-cli keeps the files that come, where Aldis may delete them; none means they stay."""
