"""The settings `ACCESS__...`."""

from typing import Annotated, Literal

from bot.settings.groups.base import SettingsGroup
from bot.settings.values import GroupOrAll, Person, PersonOrAll
from tools import CommaList, Lowered


class AccessSettings(SettingsGroup):
    """Who may write. Nobody, unless named here."""

    allowed: Annotated[tuple[PersonOrAll, ...], CommaList] = ()
    """Who is answered: a comma list of phone numbers and uuids, or * for everybody."""
    groups: Annotated[tuple[GroupOrAll, ...], CommaList] = ()
    """In which groups: a comma list of group ids in their exact case, or * for every group. An invitation to one of
    them is accepted; with *, if somebody is in it who is named by uuid."""
    admins: Annotated[tuple[Person, ...], CommaList] = ()
    """Who may give the operator's commands: a comma list of phone numbers and uuids."""
    group_members_may_write: bool = False
    """Whether the members of the groups named above may write directly, too."""
    strangers: Annotated[Literal["ignore", "pair"], Lowered] = "ignore"
    """What people hear who are not named: ignore means nothing; pair means a code by which an admin can let them in."""
    greeting: bool = True
    """Whether people are greeted when they first write directly: in three lines, with what they could ask."""
