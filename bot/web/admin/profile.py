"""The profile: name, about text and picture of the account, and the user name by which others find it without its
number.

Aldis asks the bridge for it and keeps nothing but the link of the user name, which is reported only when the name is
taken: if it was taken elsewhere, taking it again shows the link.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from bot.errors import ConfigError, Disconnected, UsernameRefused
from bot.events import Account, PersonId
from bot.media.attachments import open_lone_picture
from bot.media.cell import FileRefused
from bot.signal.profiles import (
    MAX_ABOUT_BYTES,
    MAX_NAME_BYTES,
    USERNAME,
    AccountProfile,
    ProfileChange,
    ProfileClient,
    ProfilePicture,
    is_line,
)
from bot.web.admin.account import bridge_of
from bot.web.admin.forms import AdminPage, Ask, NotDone

_ANSWER_SECONDS = 10.0


async def _values(ask: Ask) -> dict[str, object]:
    profile: AccountProfile | None = None
    if ask.world.running is not None:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS), _client(ask) as client:
                profile = await client.profile()
        except (Disconnected, ConfigError, TimeoutError):
            profile = None
    is_listed = profile is not None and not ask.world.is_username_known
    return {
        "profile": profile,
        "listed": (profile.username if profile and is_listed else None) or "",
        "max_name": MAX_NAME_BYTES,
        "max_about": MAX_ABOUT_BYTES,
    }


@asynccontextmanager
async def _client(ask: Ask) -> AsyncGenerator[ProfileClient]:
    """The way to the profile of Aldis's own account.

    Raises:
        NotDone: Aldis does not run.
        Disconnected, ConfigError: no bridge answers.
    """
    transport = ask.running().transport
    person = None if transport.account == transport.number else PersonId(transport.account)
    account = Account(id=person, number=transport.number)
    client = ask.deps.profile(await bridge_of(ask.settings), account)
    try:
        yield client
    finally:
        await client.aclose()


async def _change(ask: Ask) -> str:
    name, about = " ".join(ask.entry("name").split()), ask.entry("about")
    if not name or not is_line(name, max_bytes=MAX_NAME_BYTES):
        raise NotDone("The name is missing or too long.")
    if not is_line(about, max_bytes=MAX_ABOUT_BYTES):
        raise NotDone("The words below the name are too long.")
    try:
        made = await open_lone_picture(data) if (data := ask.files.get("picture")) else None
    except FileRefused as error:
        why = "This file cannot be used as a picture. Choose a JPEG, PNG, WebP or GIF of up to 20 MB."
        raise NotDone(why) from error
    change = ProfileChange(
        name=name,
        about=about,
        picture=ProfilePicture(data=made.data, content_type=made.content_type) if made else None,
        removes_picture=ask.entry("remove_picture") == "yes",
    )
    async with _client(ask) as client:
        await client.change(change)
    ask.write_down("profile.changed")
    return "Saved. People will see it soon after the next message."


async def _take(ask: Ask) -> str:
    wanted = ask.entry("username").removeprefix("@")
    if not USERNAME.fullmatch(wanted):
        raise NotDone(
            "That cannot be a user name. It has 3 to 32 characters, a to z, digits and _, and "
            "does not start with a digit; a dot and two to nine digits may follow."
        )
    async with _client(ask) as client:
        try:
            username = await client.take_username(wanted)
        except UsernameRefused as error:
            raise NotDone(f"The user name {wanted} is taken, or Signal does not allow it. Try another one.") from error
    ask.write_down("username.taken")
    await ask.world.remember_username(username)
    return f"People can now find the account as {username.name}."


async def _drop(ask: Ask) -> str:
    async with _client(ask) as client:
        await client.drop_username()
    ask.write_down("username.dropped")
    await ask.world.remember_username(None)
    return "The account no longer has a user name, and its link no longer works."


PAGE = AdminPage(
    path="/setup/profile",
    template="profile",
    values=_values,
    actions={"profile": _change, "username": _take, "drop": _drop},
)
