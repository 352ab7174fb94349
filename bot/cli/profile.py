"""The verb `profile`: shows the account's profile, and changes its name, about text, picture and user name."""

import argparse
import asyncio
from pathlib import Path

from bot import app, logs
from bot.cli.link import WaitNotice, show_code
from bot.errors import CallRefused, ConfigError, UsernameRefused
from bot.media.attachments import open_lone_picture
from bot.media.cell import FileRefused
from bot.media.sniff import kind_of
from bot.settings import Settings
from bot.signal.profiles import (
    MAX_ABOUT_BYTES,
    MAX_NAME_BYTES,
    USERNAME,
    ProfileChange,
    ProfileClient,
    ProfilePicture,
    Username,
    is_line,
)
from bot.signal.usernames import UsernameFile, usernames_path

_MAX_FILE_BYTES = 20 * 1024 * 1024


def profile(given: Settings, options: argparse.Namespace) -> int:
    """`profile`: shows what people see of the account, after the changes that the options ask for."""
    logs.set_up("WARNING", given.log.format)
    asyncio.run(_profile(given, options))
    return 0


async def _profile(given: Settings, options: argparse.Namespace) -> None:
    _check(options)
    picture = await _picture(options.picture)
    client = await app.profile_client(given, WaitNotice().tell)
    try:
        username = await _change(client, options, picture, UsernameFile(usernames_path(given.store.path)))
        known = await client.profile()
    finally:
        await client.aclose()
    print(f"name: {known.name or '-'}\nabout: {known.about or '-'}\npicture: {'yes' if known.has_picture else 'no'}")
    if username is not None:
        print(f"user name: {username.name}")
        show_code(username.link)
    elif options.no_username:
        print("user name: -")
    else:
        print(f"user name: {known.username or '-'}")


async def _change(
    client: ProfileClient, options: argparse.Namespace, picture: ProfilePicture | None, usernames: UsernameFile
) -> Username | None:
    """Makes the changes that the options ask for; returns the user name that was taken."""
    if picture is not None or options.no_picture or options.name is not None or options.about is not None:
        name = options.name or (await client.profile()).name
        if not name:
            raise CallRefused("the account has no name yet; give one with --name")
        await client.change(
            ProfileChange(name=name, about=options.about, picture=picture, removes_picture=options.no_picture)
        )
    if options.no_username:
        await client.drop_username()
        usernames.forget()
    if options.username is None:
        return None
    try:
        taken = await client.take_username(options.username)
    except UsernameRefused as error:
        raise CallRefused(f"somebody else has that user name, or Signal does not allow it ({error})") from error
    usernames.forget()
    return taken


def _check(options: argparse.Namespace) -> None:
    """Checks that the options are valid before the bridge is contacted.

    Raises:
        ConfigError: they are not.
    """
    for name, text, most in (("--name", options.name, MAX_NAME_BYTES), ("--about", options.about, MAX_ABOUT_BYTES)):
        if text is not None and not is_line(text, max_bytes=most):
            raise ConfigError(f"{name}: one line of at most {most} bytes, without invisible characters")
    if options.name is not None and not options.name.strip():
        raise ConfigError("--name: it cannot be empty")
    if options.username is not None and not USERNAME.fullmatch(options.username):
        raise ConfigError(
            "--username: 3 to 32 letters from a to z, digits and _, with no digit at the beginning;"
            " a dot and two to nine digits may follow"
        )


async def _picture(path: Path | None) -> ProfilePicture | None:
    """The picture in a file, re-encoded in a sandbox: small, and without the place where it was taken.

    Raises:
        ConfigError: there is none that can be used.
    """
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"--picture: {path} cannot be read: {error.strerror}") from error
    if kind_of(data).family != "picture" or len(data) > _MAX_FILE_BYTES:
        raise ConfigError("--picture: a JPEG, PNG, WebP or GIF of up to 20 MB")
    try:
        made = await open_lone_picture(data)
    except FileRefused as error:
        raise ConfigError(f"--picture: {error}") from error
    return ProfilePicture(data=made.data, content_type=made.content_type)
