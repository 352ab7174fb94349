"""Whether Aldis can work with a signal-cli-rest-api, judged by what it reports at `/v1/about`.

Source: signal-cli-rest-api, commit a08db23 (2026-11-21).
"""

import re

from bot.errors import ConfigError
from bot.signal.json import Json, text_in

MIN_VERSION = (0, 101)
"""From this version on `/v2/send` returns a result for each recipient, as signalbot expects."""


def check_about(about: Json) -> None:
    """Checks that a signal-cli-rest-api runs in the right mode and a recent enough version.

    `about` is what it reports at `/v1/about`.

    Raises:
        ConfigError: it does not; the message says what to change.
    """
    mode, version = text_in(about, "mode"), text_in(about, "version")
    if mode != "json-rpc":
        raise ConfigError(
            f"SIGNAL__URL: signal-cli-rest-api runs in mode {mode or 'unknown'}; start it with MODE=json-rpc"
        )
    numbers = re.match(r"v?(\d+)\.(\d+)", version)
    if version != "unset" and (not numbers or (int(numbers[1]), int(numbers[2])) < MIN_VERSION):
        raise ConfigError("SIGNAL__URL: signal-cli-rest-api is too old; use version 0.101 or later")
