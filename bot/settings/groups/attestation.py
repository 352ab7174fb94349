"""The settings `ATTESTATION__...`."""

from pathlib import Path

from bot.settings.groups.base import SettingsGroup


class AttestationSettings(SettingsGroup):
    """Proof of what is running, inside a trusted execution environment (docs/attestation.md)."""

    socket: Path = Path("/var/run/dstack.sock")
    """The socket of dstack's guest agent, which issues quotes; without it, `/verify` says that nothing is proved."""
