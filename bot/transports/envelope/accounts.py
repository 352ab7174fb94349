"""Which account of a bridge is meant by `SIGNAL__ACCOUNT`: known by its uuid, or by its number.

Left to others: what to do where none or several are meant (`bot.app.transports`, the doctor).
"""

from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from bot.events import Account
from bot.transports.base import Linking
from bot.transports.envelope.json import person_in

NO_ACCOUNT = "no account is linked yet"
"""How the sentence begins that says so to the operator."""
UNNAMED = (
    "the bridge has an account without a phone number and does not tell its uuid; put that there (`signal-cli -o json"
    " listAccounts` tells it), or let Aldis talk to signal-cli's own daemon"
)


def takes_numberless(uri: str) -> bool:
    """Whether a code for linking can be scanned by an account without a phone number: the bridge says so in it.

    Source: https://github.com/AsamK/signal-cli/issues/2122 (2026-09-17); other programs write `nopni2` besides.
    """
    told = parse_qs(urlsplit(uri).query).get("capabilities", [""])[0]
    return "nopni" in told.split(",")


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """The accounts that a bridge has, and those of them that are meant."""

    all: tuple[Account, ...]
    meant: tuple[Account, ...]


async def choice_of(linking: Linking, wanted: str | None) -> Choice:
    """Returns what a bridge has, and which of it a number or a uuid means; all, where nothing is wanted.

    A bridge that lists numbers alone is asked whose uuid it is. A uuid may also mean the one account that the bridge
    has and cannot name.

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
