"""Which of a bridge's accounts `SIGNAL__ACCOUNT` means, by UUID or by number.

Left to others: what to do if none or several match (`bot.app.transports`, the doctor).
"""

from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from bot.events import Account
from bot.invocation import command_line
from bot.signal.json import person_in
from bot.signal.protocol import Linking

NO_ACCOUNT = f"no account is linked yet; link one with: {command_line('link')}"
"""What the operator is told as long as the bridge has none."""
UNNAMED = (
    "the bridge has an account without a phone number and does not report its uuid; put "
    "the uuid there (`signal-cli -o json listAccounts` shows it), or let Aldis talk to "
    "signal-cli's own daemon"
)


def takes_numberless(uri: str) -> bool:
    """Whether a linking code can be scanned by an account without a phone number: the bridge says so in the code.

    Source: https://github.com/AsamK/signal-cli/issues/2122 (2026-09-17); other programs also write `nopni2`.
    """
    told = parse_qs(urlsplit(uri).query).get("capabilities", [""])[0]
    return "nopni" in told.split(",")


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """The accounts that a bridge has, and those of them that match."""

    all: tuple[Account, ...]
    meant: tuple[Account, ...]


async def choice_of(linking: Linking, wanted: str | None) -> Choice:
    """Returns a bridge's accounts, and those that match a number or a UUID; all of them if none is wanted.

    A bridge that lists only numbers is asked for the UUID of each. A UUID can also match the only account that the
    bridge has and cannot name.

    Raises:
        Disconnected: as `Linking.accounts`.
    """
    found = await linking.accounts()
    if wanted is None:
        return Choice(all=found, meant=found)
    uuid = person_in({"": wanted}, "")
    if uuid is not None and not any(account.is_called(wanted) for account in found):
        found = tuple([await linking.identify(account) if account.name else account for account in found])
        unnamed = [account for account in found if not account.name]
        if len(unnamed) == 1 and not any(account.is_called(wanted) for account in found):
            found = (*(account for account in found if account.name), Account(id=uuid))
    return Choice(all=found, meant=tuple(account for account in found if account.is_called(wanted)))
