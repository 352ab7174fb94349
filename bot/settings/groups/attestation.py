"""The settings `ATTESTATION__...`."""

from pathlib import Path

from bot.settings.groups.base import SettingsGroup


class AttestationSettings(SettingsGroup):
    """What vouches for Aldis where it runs in a trusted execution environment (docs/attestation.md)."""

    socket: Path = Path("/var/run/dstack.sock")
    """The socket of dstack's guest agent, which gives quotes; where there is none, `/verify` says that nothing is
    proved."""
