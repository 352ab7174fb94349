"""What `doctor --fix` mends: only what nobody can want otherwise, with a line for each thing.

    names in .env and settings.env that are surely slips --> corrected; the file as it was is kept beside it
    files with keys or people's words that others may read --> their owner's alone
    the folder of the store is missing ----------------------> made
    what a killed Aldis left beside its store ----------------> taken away, while nobody runs

It follows no link, leaves each file its owner, and leaves everything else to the person who runs it.
"""

import fcntl
import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from bot.errors import ConfigError
from bot.settings import ENV_FILE, known_variables, store_path
from bot.settings.env import slips
from bot.settings.env_file import entries, rename_variables
from bot.settings.file import write_atomically

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_DRAFT = ".settings.env-*"
"""What a write that was killed leaves behind: see `bot.settings.file`."""


def mend(settings_file: Path, *, socket_of: Callable[[Path], Path], env_file: Path = ENV_FILE) -> Iterator[str]:
    """Mend, and give a line for each thing that was done, or that should be done and was not.

    `socket_of` tells where the control socket of a store stands.

    Raises:
        ConfigError: `.env` cannot be read, so that nobody knows where the store is.
    """
    for file in (env_file, settings_file):
        yield from _correct_names(file)
    store = store_path(env_file=env_file)
    yield from _make_folder(store.parent)
    files = [path for path in sorted(store.parent.glob(f"{store.name}*")) if path != socket_of(store)]
    for file in (env_file, settings_file, *files):
        yield from _take_rights(file)
    yield from _clear(store, socket_of(store))


def _correct_names(file: Path) -> Iterator[str]:
    """Names that are surely slips of ours, where the right one does not stand there as well."""
    try:
        text = _text_of(file)
        found = entries(text, file.name)
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError, ConfigError) as error:
        yield f"left     {file}: its names are not looked at ({_why(error)})"
        return
    meant = slips(found, known_variables())
    doubled = {name for name in meant if meant[name] in found or list(meant.values()).count(meant[name]) > 1}
    yield from (f"left     {file}: {name} may be {meant[name]}, which stands there, too" for name in sorted(doubled))
    names = {name: right for name, right in meant.items() if name not in doubled}
    if not names:
        return
    copy = file.with_name(f"{file.name}.{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
    try:
        write_atomically(copy, text)
        write_atomically(file, rename_variables(text, names))
    except ConfigError as error:
        yield f"left     {error}"
        return
    for name, right in names.items():
        yield f"fixed    {file}: {name} is now {right}"
    yield f"         the file as it was: {copy}"


def _make_folder(folder: Path) -> Iterator[str]:
    if folder.exists():
        return
    try:
        folder.mkdir(mode=0o700, parents=True)
    except OSError as error:
        yield f"left     {folder}: cannot be made ({_why(error)})"
    else:
        yield f"fixed    {folder}: made, for its owner alone"


def _take_rights(file: Path) -> Iterator[str]:
    """Rights of others to a file that may hold keys or words are taken away, where the file is ours."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return  # it is not there, a link, or not ours: the doctor tells of what matters
    try:
        found = os.fstat(descriptor)
        if not (stat.S_ISREG(found.st_mode) and found.st_mode & _OTHERS):
            return
        if os.geteuid() not in {0, found.st_uid}:
            yield f"left     {file}: others may read it, and it belongs to user {found.st_uid}"
            return
        os.fchmod(descriptor, stat.S_IMODE(found.st_mode) & ~_OTHERS)
        yield f"fixed    {file}: was {stat.S_IMODE(found.st_mode):04o}, is its owner's alone now"
    finally:
        os.close(descriptor)


def _clear(store: Path, socket: Path) -> Iterator[str]:
    """What a killed process left, while nobody has the store open."""
    with _nobody_runs(store) as nobody_runs:
        if not nobody_runs:
            return
        drafts = [path for path in store.parent.glob(_DRAFT) if not path.is_symlink() and path.is_file()]
        left = [socket] if socket.is_socket() else []
        for path in (*left, *drafts):
            try:
                path.unlink()
            except OSError as error:
                yield f"left     {path}: cannot be taken away ({_why(error)})"
            else:
                yield f"fixed    {path}: taken away; a process that was killed had left it"


@contextmanager
def _nobody_runs(store: Path) -> Generator[bool]:
    """Whether nobody has the store open; while the block runs nobody can, where it is so."""
    try:
        lock = os.open(store.with_name(f"{store.name}-lock"), os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        yield not store.exists()
        return
    try:
        is_ours = False
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = True
        yield is_ours
    finally:
        os.close(lock)


def _text_of(file: Path) -> str:
    if file.is_symlink():
        raise ConfigError("it is a link")
    return file.read_bytes().decode()


def _why(error: Exception) -> str:
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)
