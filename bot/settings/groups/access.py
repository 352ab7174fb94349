"""The settings `ACCESS__...`."""

from typing import Annotated, Literal

from bot.settings.groups.base import SettingsGroup
from bot.settings.values import GroupOrAll, Person, PersonOrAll
from tools import CommaList, Lowered


class AccessSettings(SettingsGroup):
    """Who can write to Aldis: nobody unless named here."""

    allowed: Annotated[tuple[PersonOrAll, ...], CommaList] = ()
    """The people who get answers: a comma-separated list of phone numbers and UUIDs, or * for everybody."""
    groups: Annotated[tuple[GroupOrAll, ...], CommaList] = ()
    """The groups in which Aldis answers: a comma-separated list of group ids in their exact case, or * for every group.
    Invitations to these groups are accepted; with *, only if somebody in the group is listed by UUID."""
    admins: Annotated[tuple[Person, ...], CommaList] = ()
    """The people who can give the operator's commands: a comma-separated list of phone numbers and UUIDs."""
    group_members_may_write: bool = False
    """Whether members of the groups named above can also write directly."""
    strangers: Annotated[Literal["ignore", "pair"], Lowered] = "ignore"
    """What people who are not listed get: ignore means no reply; pair sends a code that an admin can use to let them
    in."""
    greeting: bool = True
    """Whether people are greeted when they first write directly: three lines with examples of what to ask."""
