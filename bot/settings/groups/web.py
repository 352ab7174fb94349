"""The settings `WEB__...`."""

from pydantic import Field, SecretStr

from bot.settings.groups.base import SettingsGroup
from tools import BaseUrl


class WebSettings(SettingsGroup):
    """The health page for the machine that watches over Aldis, and the pages for set-up and administration."""

    host: str = "127.0.0.1"
    """The address on which the health page listens."""
    port: int = Field(default=8787, ge=0, le=65_535)
    """Its port; 0 switches it off."""
    admin_host: str = "127.0.0.1"
    """The address on which the pages for set-up and administration listen; one of the network wants WEB__ADMIN_TOTP."""
    admin_port: int = Field(default=0, ge=0, le=65_535)
    """Their port, such as 8789; 0 means that there are none. `aldis admin` prints a link that opens them once."""
    admin_url: BaseUrl | None = None
    """Where browsers find them, where that is not this machine, such as https://aldis.example.org; then they want a
    code of an authenticator app, too."""
    admin_totp: SecretStr | None = None
    """The secret of that app in base32, 26 letters or more; `head -c 20 /dev/urandom | base32` makes one."""

    @property
    def address(self) -> str:
        """Where the health page is, as an address has it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
