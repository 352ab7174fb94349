"""The settings `WEB__...`."""

from pydantic import Field, SecretStr

from bot.settings.groups.base import SettingsGroup
from tools import BaseUrl


class WebSettings(SettingsGroup):
    """The health page for monitoring, and the pages for setup and administration."""

    host: str = "127.0.0.1"
    """The address on which the health page listens."""
    port: int = Field(default=8787, ge=0, le=65_535)
    """Its port; 0 turns it off."""
    admin_host: str = "127.0.0.1"
    """The address on which the pages for setup and administration listen; a network address needs
    WEB__ADMIN_TOTP."""
    admin_port: int = Field(default=0, ge=0, le=65_535)
    """Their port, such as 8789; 0 means no pages. `aldis admin` prints a link that opens them once."""
    admin_url: BaseUrl | None = None
    """Where browsers reach them, if that is not this machine, such as https://aldis.example.org; signing in then also
    needs a code from an authenticator app."""
    admin_totp: SecretStr | None = None
    """The base32 secret of that app, 26 letters or more; `head -c 20 /dev/urandom | base32` makes one."""

    @property
    def address(self) -> str:
        """The host and port of the health page, as a URL has them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
