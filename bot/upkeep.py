"""The operator's verbs for what is kept: `doctor`, `backup`, `restore`, `rotate-key`, `export`.

One process only has the store open. While Aldis runs, a verb asks it by its control socket; else it opens the store
itself. Left to others: the command line (`bot.cli`), what the doctor looks at (`bot.doctor`), the work (`store`).
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from bot import app, doctor, logs
from bot.clock import MachineClock
from bot.errors import ConfigError
from bot.events import ChatId, PersonId
from bot.examinations.findings import exit_status, printed
from bot.settings import Settings
from bot.spellings import person_of
from bot.turn.export import exported
from bot.web.control import asked
from store import NOT_INCLUDED, Store, opened, restore

REALM = "signal"


def examine(given: Settings, options: argparse.Namespace) -> int:
    """`doctor`: every finding on a line; status 1 where one is a problem."""
    logs.set_up("ERROR", given.log.format)
    found = asyncio.run(doctor.examined(given, app.means(given), MachineClock(), asks_models=options.model))
    print(printed(found))
    return exit_status(found)


def back_up(given: Settings, options: argparse.Namespace) -> int:
    """`backup FOLDER`: a copy of the store, also while Aldis runs."""
    folder = Path(options.folder).absolute()

    async def copied(store: Store) -> Mapping[str, Any]:
        return {"file": str(await store.backup(folder, now=MachineClock().now()))}

    answer = asyncio.run(_done(given, "backup", {"folder": str(folder)}, copied))
    print(answer["file"], flush=True)
    print(NOT_INCLUDED, file=sys.stderr)
    return 0


def put_back(given: Settings, options: argparse.Namespace) -> int:
    """`restore FILE`: a copy in the place of the store; the store that was there is kept beside it."""
    path, keys = given.store.path, given.store
    former = restore(
        Path(options.file).absolute(),
        path,
        now=MachineClock().now(),
        key=keys.master_key,
        old_key=keys.old_master_key,
    )
    print(f"Restored {path}." + (f" What was there before is at {former}." if former else ""), file=sys.stderr)
    return 0


def turn_key(given: Settings, _: argparse.Namespace) -> int:
    """`rotate-key`: a new master key in the place of the one in its file."""

    async def turned(store: Store) -> Mapping[str, Any]:
        return {"keys": await store.rotate_key()}

    answer = asyncio.run(_done(given, "rotate-key", None, turned))
    print(f"There is a new master key; {answer['keys']} keys were wrapped again. Back it up.", file=sys.stderr)
    return 0


def hand_over(given: Settings, options: argparse.Namespace) -> int:
    """`export PERSON`: what is kept about a person, as JSON."""
    person = person_of(options.person)
    if person is None or person.startswith("+"):
        raise ConfigError("export: name the person by uuid; `python -m bot doctor` shows that of everybody on the list")

    async def gathered(store: Store) -> Mapping[str, Any]:
        direct = ChatId(f"direct:{person}")
        found = await store.read(lambda shelves: exported(shelves, PersonId(person), direct, now=MachineClock().now()))
        return {"json": found.as_json()}

    answer = asyncio.run(_done(given, "export", {"person": person}, gathered))
    print(answer["json"])
    return 0


async def _done(
    given: Settings,
    verb: str,
    body: Mapping[str, object] | None,
    work: Callable[[Store], Awaitable[Mapping[str, Any]]],
) -> Mapping[str, Any]:
    """What the running Aldis answers, or what `work` gives over the store that nobody else has open."""
    kept = given.store
    answer = await asked(kept.path, verb, body)
    if answer is not None:
        return answer
    if not kept.path.exists():
        raise ConfigError(f"STORE__PATH: there is no store at {kept.path}")
    async with opened(kept.path, realm=REALM, key=kept.master_key, old_key=kept.old_master_key) as store:
        return await work(store)
