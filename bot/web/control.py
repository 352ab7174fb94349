"""The control socket: the command line asks the running Aldis, because only one process can have the store open.

    POST /backup      {"folder": "/srv/backups"}  --> {"file": "/srv/backups/aldis-20261121T120000Z.db"}
    POST /export      {"person": "Alice"}         --> {"json": "{...}"}; by uuid, number, name or label
    POST /captcha     {"captcha": "signalcaptcha://..."}  --> {}
    POST /restart                                 --> {}
    GET  /state                                   --> whatever the running Aldis reports about itself

On a socket of its own, which is there from the first second if the administration pages are on (`bot.web.admin`):

    POST /admin-link                              --> {"url": "http://127.0.0.1:8789/enter/..."}

A refusal is {"error": a sentence} with another status than 200. The socket lies beside the store and is only for its
owner (mode 0600): permission to read the store is permission to ask.
"""

import asyncio
import errno
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import aiohttp
from aiohttp import web

from bot.chat.captchas import Captchas
from bot.errors import CallRefused, ConfigError, Disconnected
from bot.events import ChatId, PersonId
from bot.features.export import gather_export
from bot.settings.values import person_of
from bot.signal.protocol import Identities, Outside
from bot.web.listening import serving
from store import Repositories, StoreError

Verb = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Does what it is asked with what was sent along, both as in the table above."""

ANSWER_SECONDS = 600.0
"""How many seconds a verb waits for the running Aldis: as long as the backup of a very large store can take."""


@dataclass
class Control(Outside):
    """The verbs of the socket."""

    captchas: Captchas
    state: Callable[[], Awaitable[Mapping[str, Any]]]
    restart: Callable[[], Awaitable[None]] | None
    """Restarts Aldis from within; None: that is impossible."""

    @property
    def app(self) -> web.Application:
        """All paths."""
        app = web.Application()
        verbs: Mapping[str, Verb] = {
            "/backup": self._backup,
            "/export": self._export,
            "/captcha": self._solve,
            "/restart": self._restart,
            "/state": lambda _: self.state(),
        }
        for path, verb in verbs.items():
            app.router.add_route("*", path, partial(_answer, verb))
        return app

    async def _backup(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        # The folder is a whole path, because the running Aldis can have another working directory than the caller.
        copy = await self.store.backup(Path(given["folder"]), now=self.clock.now())
        return {"file": str(copy)}

    async def _export(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        person = uuid_of(given["person"]) or await self._find_person(given["person"])
        found = await gather_export(self.store, person, ChatId.direct(person), now=self.clock.now())
        return {"json": await asyncio.to_thread(found.as_json)}

    async def _find_person(self, wanted: str) -> PersonId:
        """The one contact of the account with this number, name or label."""
        contacts = await self.transport.contacts() if isinstance(self.transport, Identities) else ()
        name, account = (person_of(wanted) or wanted.strip()).casefold(), self.transport.account

        def matches(repos: Repositories) -> list[PersonId]:
            labels = {one.person: repos.people.label(one.person, account=account) for one in contacts}
            known = {one.person: {one.number, (one.name or "").casefold(), labels[one.person]} for one in contacts}
            return [person for person, names in known.items() if name in names]

        found = await self.store.read(matches)
        if len(found) != 1:
            known = ", ".join(found) or "none"
            raise CallRefused(f"export: several or no contacts are called that: {known}; name the person by UUID")
        return found[0]

    async def _solve(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        await self.captchas.solve(given["captcha"])
        return {}

    async def _restart(self, _: Mapping[str, Any]) -> Mapping[str, Any]:
        if self.restart is None:
            raise ConfigError("what runs here is no Aldis that can be restarted")
        await self.restart()
        return {}


async def _answer(verb: Verb, request: web.Request) -> web.Response:
    """What a verb answers, or a sentence if it is refused."""
    try:
        return web.json_response(await verb(await request.json() if request.can_read_body else {}))
    except (StoreError, CallRefused, Disconnected, ConfigError) as error:
        return web.json_response({"error": str(error)}, status=409)


def uuid_of(text: str) -> PersonId | None:
    """Returns the UUID that a person is named by; None if they are named otherwise."""
    person = person_of(text.strip())
    return None if person is None or person.startswith("+") else PersonId(person)


@asynccontextmanager
async def answering(app: web.Application, path: Path) -> AsyncGenerator[None]:
    """Answers on a socket at this path while the block runs; raises ConfigError if none can be made there."""
    endpoint = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # Only the process that has the store open is entitled to a socket here, so this one is left over.
        path.unlink(missing_ok=True)  # noqa: ASYNC240 - a name in a folder
        former = os.umask(0o177)  # for its owner alone from the first moment; a chmod would be a moment too late
        try:
            endpoint.bind(str(path))
        finally:
            os.umask(former)
    except OSError as error:
        endpoint.close()
        raise ConfigError(f"STORE__PATH: the control socket {path} cannot be made ({error})") from error
    try:
        async with serving(app, partial(asyncio.get_running_loop().create_unix_server, sock=endpoint)):
            yield
    finally:
        path.unlink(missing_ok=True)  # noqa: ASYNC240 - a name in a folder, and the loop is about to end


async def ask_running(
    store_path: Path, verb: str, body: Mapping[str, object] | None = None, *, within_seconds: float = ANSWER_SECONDS
) -> dict[str, Any] | None:
    """Returns the answer of the Aldis running on this store to a verb (`backup`, `state`, ...); None if none runs.

    After None the caller opens the store itself.

    Raises:
        StoreError: it refused, with its message; or it did not answer in time, or not intelligibly.
    """
    path = socket_path(store_path, "admin" if verb == "admin-link" else "control")
    method = "GET" if verb == "state" else "POST"  # an earlier version, as `upgrade-check` meets it, takes no other
    try:
        async with (
            asyncio.timeout(within_seconds),
            aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(path)), timeout=aiohttp.ClientTimeout()) as http,
            http.request(method, f"http://aldis/{verb}", json=body or {}) as response,
        ):
            answer: dict[str, Any] = await response.json()
    except TimeoutError as error:
        raise StoreError(f"the running Aldis has not answered within {within_seconds:.0f} s") from error
    except FileNotFoundError:
        return None  # not even the folder exists
    except aiohttp.ClientConnectorError as error:
        # There is no socket, or only the one left behind by a killed process; or its path is too long for one.
        if error.os_error.errno in {errno.ENOENT, errno.ECONNREFUSED, None}:
            return None
        raise StoreError(f"the running Aldis cannot be asked ({error.os_error.strerror})") from error
    except (aiohttp.ClientError, ValueError) as error:
        raise StoreError(f"the running Aldis gave no answer that can be understood ({type(error).__name__})") from error
    if response.status != web.HTTPOk.status_code:
        raise StoreError(str(answer.get("error", f"the running Aldis refused ({response.status})")))
    return answer


def socket_path(store_path: Path, use: Literal["control", "admin"] = "control") -> Path:
    """Returns the path of a socket of the Aldis on this store: the one for its verbs, or for links to its pages."""
    return store_path.with_name(f"{store_path.name}-{use}")
