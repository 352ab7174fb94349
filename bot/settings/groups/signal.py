"""The settings `SIGNAL__...`."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from bot.settings.groups.base import SettingsGroup
from bot.settings.values import BridgeAddress, OnePerson, WebhookSecret
from tools import Lowered


class SignalSettings(SettingsGroup):
    """The connection to Signal."""

    url: BridgeAddress = "http://127.0.0.1:8080"
    """Where signal-cli's daemon (unix:///path, tcp://host:port or http://host:port) or signal-cli-rest-api listens."""
    account: OnePerson | None = None
    """The phone number or UUID of Aldis's own account; unset means the only one that the server has."""
    transport: Annotated[Literal["auto", "signal_cli", "rest_api"], Lowered] = "auto"
    """Which of the two servers listens there; auto finds out."""
    name: str = Field(default="Aldis", max_length=50)
    """The name by which people address Aldis in groups."""
    device_name: str = Field(default="Aldis", max_length=50)
    """The name of the linked device in Signal's list of devices."""
    send_timeout_seconds: float = Field(default=60, ge=1, le=600)
    """How many seconds one send can take; after that its outcome is unknown."""
    unknown_grace_seconds: float = Field(default=90, ge=1, le=3600)
    """How many seconds to wait for the receipt of such a send before sending again; no less than a send can take."""
    max_parts: int = Field(default=5, ge=1, le=50)
    """Into how many messages a long answer is split if it cannot be sent as one; the rest is cut."""
    ack: Annotated[Literal["reaction", "none"], Lowered] = "reaction"
    """How a message shows that it is being answered, if that takes more than seconds: with an emoji, or not at all."""
    live: Annotated[Literal["off", "status", "stream"], Lowered] = "status"
    """What people see of an answer that takes long: nothing, its status, or also its words as they arrive."""
    delete_answers: bool = False
    """Whether Aldis also deletes its answer when somebody deletes the message that it answers."""
    round_trip_minutes: int = Field(default=0, ge=0, le=1440)
    """How often, in minutes, a note to self tests that messages still arrive; 0 means never. Needs another device of
    the account."""
    note_to_self: bool = False
    """Whether the account is your own: Aldis then answers your Note to Self and reads nothing else that arrives."""
    webhook_secret: WebhookSecret | None = None
    """The secret that posts to signal-cli-rest-api's RECEIVE_WEBHOOK_URL must carry; setting it makes Aldis listen for
    them."""
    webhook_host: str = "127.0.0.1"
    """The address on which it listens for them."""
    webhook_port: int = Field(default=8788, ge=1, le=65_535)
    """The port on which it listens for them."""
    new_safety_numbers: Annotated[Literal["ask", "accept"], Lowered] = "ask"
    """What happens with a new safety number: ask waits until somebody says `/trust`, accept trusts it as Signal's apps
    do."""
    attachments: Path | None = None
    """The folder in which signal-cli keeps received files, so that Aldis can delete them; unset, they stay."""
