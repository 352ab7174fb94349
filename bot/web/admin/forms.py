"""Pages as tables: what a page shows, the fields of its forms, and what its buttons do.

GET  a page --> its values --> its template
POST a page, do=the name of a button --> its action --done--> the page, which says how it went
                                          '--refused--> the page again, with why and what was typed
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal

from aiohttp import web
from pydantic import SecretStr

from bot.doctor.findings import Deps, Finding
from bot.errors import ConfigError
from bot.settings import Settings
from bot.web.admin.guard import FORM, SESSION
from bot.web.admin.world import RunningParts, World

_log = logging.getLogger(__name__)

SAVED = "Saved."
_BEGIN_SECONDS = 30.0
"""How many seconds a page waits for Aldis to start again; a run takes ten at most to end."""

Changes = Mapping[str, str | None]
"""New values of settings by name; None removes one."""


class NotDone(Exception):
    """Nothing was done, or not all of it; the message is a sentence for the page."""


class Ask:
    """A request of a browser that is signed in, and what pages do on its behalf."""

    def __init__(self, request: web.Request, world: World) -> None:
        self.request = request
        self.world = world
        self.session = request[SESSION]
        self.form: Mapping[str, str] = request.get(FORM, {})
        self.typed: Mapping[str, str] = {}
        """What was typed into a form that was refused; secrets are never shown again."""

    @property
    def settings(self) -> Settings:
        """The settings in use."""
        return self.world.settings

    @property
    def deps(self) -> Deps:
        """Parts to look at what is set."""
        return self.world.deps(self.settings)

    def entry(self, name: str) -> str:
        """Returns what was entered in a field, without spaces around it."""
        return self.form.get(name, "").strip()

    def value(self, setting: str) -> object:
        """Returns the value of a setting; of a secret, only whether there is one."""
        names = setting.lower().split("__")
        options = self.settings.tools.options_by_name
        start, names = (options[names[1]], names[2:]) if names[0] == "tools" else (self.settings, names)
        found = reduce(getattr, names, start)
        if isinstance(found, SecretStr):
            return True
        return ", ".join(map(str, found)) if isinstance(found, tuple) else found

    def running(self) -> RunningParts:
        """Returns the running Aldis; raises NotDone if none runs."""
        if self.world.running is None:
            raise NotDone(f"Aldis does not run yet: {self.world.waits.words}.")
        return self.world.running

    def write_down(self, what: str, about: str = "") -> None:
        """Logs what was done, by which session and from where: names of settings and labels, never a value."""
        where = self.request.remote or "-"
        _log.info("%s by session %s from %s%s", what, self.session.name, where, f": {about}" if about else "")

    async def preview(self, given: Changes) -> Settings:
        """Returns the settings with these changes; raises NotDone if one is set in the environment, which would win."""
        for name in given:
            if where := await asyncio.to_thread(self.world.file.winner, name):
                raise NotDone(f"{name} is set in {where}. That takes precedence over this page; change it there.")
        return await asyncio.to_thread(self.world.file.preview, given)

    async def save(self, given: Changes, done: str = SAVED) -> str:
        """Keeps settings, and returns what the page says; one page at a time, for what is changed was read from them.

        Raises:
            NotDone: another page changes some, Aldis does not run again, or as `preview`.
            ConfigError: they are refused, and everything is as before.
        """
        world, file = self.world, self.world.file
        if world.keeping.locked():
            raise NotDone("Another page is changing something just now. Try again in a few seconds.")
        async with world.keeping:
            await self.preview(given)
            before = await asyncio.to_thread(file.read)
            await asyncio.to_thread(file.write, given)
            run, was_running = world.runs, world.running is not None
            try:
                await world.restart()
            except ConfigError:
                await asyncio.to_thread(file.write, {name: before.get(name) for name in given})
                raise
            # Until it has started again, which takes seconds, the run that is ending still decides by the old settings:
            # a person who was just let in would be turned away.
            with suppress(TimeoutError):
                async with asyncio.timeout(_BEGIN_SECONDS):
                    while world.runs == run or (was_running and world.running is None):  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
        self.write_down("settings.changed", ", ".join(given))
        if was_running and world.running is None:
            raise NotDone(f"Saved, but Aldis is not running again yet: {world.waits.words}.")
        return f"{done} Aldis uses it now." if was_running else done


Act = Callable[[Ask], Awaitable[str | web.Response]]
"""Does something, and returns what the page then says, or a file."""


@dataclass(frozen=True, slots=True)
class Field:
    """A setting as a field of a form."""

    setting: str
    label: str
    kind: Literal["text", "secret", "url", "number", "money", "check"] = "text"
    hint: str = ""
    is_required: bool = field(default=False, kw_only=True)
    key_page: str = field(default="", kw_only=True)
    """Where a key comes from."""

    def change(self, ask: Ask) -> Changes:
        """Returns the change that was entered: what was not touched since the page was shown stays as it is."""
        text = ask.entry(self.setting)
        if self.kind == "money":
            text = text.replace(",", ".")
        if self.is_required and not text:
            raise NotDone(f"Something is missing: {self.label}.")
        is_kept = not text if self.kind == "secret" else text == ask.form.get(f"was:{self.setting}", "")
        return {} if is_kept and not self.is_required else {self.setting: text or None}


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """A form of settings; one without fields is a button."""

    name: str
    """What its button is called in the request."""
    title: str
    text: str = ""
    fields: tuple[Field, ...] = ()
    fixed: Changes = field(default_factory=dict[str, str | None])
    """What is set along with what is entered."""
    check: Callable[[Settings, Deps], Awaitable[Sequence[Finding]]] | None = None
    """Looks at the new settings before they are kept."""
    button: str = "Save"
    done: str = SAVED

    def actions(self) -> Mapping[str, Act]:
        """Returns what its buttons do, by their names."""
        return {self.name: self._save, f"{self.name}:remove": self._remove}

    def is_set(self, ask: Ask) -> bool:
        """Whether a key of it is set, and can be removed."""
        return any(one.kind == "secret" and ask.value(one.setting) is not None for one in self.fields)

    async def _save(self, ask: Ask) -> str:
        changes = {**self.fixed}
        for one in self.fields:
            changes |= one.change(ask)
        if self.check is not None:
            after = await ask.preview(changes)
            async with (deps := ask.world.deps(after)).tool_deps.http:
                found = await self.check(after, deps)
            if wrong := [one for one in found if one.level == "problem"]:
                ask.write_down("settings.refused", ", ".join(changes))
                # Without its advice, which names variables: the value has just been typed here.
                raise NotDone(f"Nothing was saved: {wrong[0].words.rstrip('.')}.")
        return await ask.save(changes, self.done)

    async def _remove(self, ask: Ask) -> str:
        return await ask.save(dict.fromkeys(one.setting for one in self.fields), "Removed.")


@dataclass(frozen=True, kw_only=True, slots=True)
class AdminPage:
    """A page at a path."""

    path: str
    template: str
    values: Callable[[Ask], Awaitable[dict[str, object]]]
    actions: Mapping[str, Act] = field(default_factory=dict[str, Act])
    """What its buttons do, by their names."""
    forms: tuple[Form, ...] = ()

    @property
    def buttons(self) -> Mapping[str, Act]:
        """What all its buttons do, by their names."""
        return dict(self.actions, **{name: act for form in self.forms for name, act in form.actions().items()})
