"""The people: who is the admin, who else can write, who waits to be let in, and which groups are answered.

Somebody becomes the admin by writing to Aldis while the page waits: it then shows their name, and none of their words.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from aiohttp import web

from bot.events import PersonId
from bot.features.reminders.zones import zones
from bot.settings import Settings
from bot.settings.values import person_of
from bot.signal.protocol import Contact
from bot.web.admin.context import AdminContext, Changes, NotDone
from bot.web.admin.guard import form_of
from store import Repositories, StoreError

_YOU, _PEOPLE = "/setup/you", "/people"
_LANGUAGES = {"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español"}
_BUDGETS = {
    "person_day_usd": "Each person, per day",
    "person_month_usd": "Each person, per month",
    "group_day_usd": "Each group, per day",
    "group_month_usd": "Each group, per month",
    "all_day_usd": "All together, per day",
    "all_month_usd": "All together, per month",
}
"""The budgets that the page sets, with their labels."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """Somebody on a list of the settings."""

    entry: str
    """As it is in the list: a UUID, a number or `*`."""
    name: str
    """The bridge's name for them; empty if it does not know them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Guest:
    """Somebody who was let in with a code."""

    label: str
    name: str


class PeoplePage:
    """The pages about people."""

    def __init__(self, context: AdminContext) -> None:
        self._context = context
        context.add_fragment("callers", self._callers)

    def routes(self) -> list[web.RouteDef]:
        """Returns the paths of the pages."""
        return [
            web.get(_YOU, self._show_you),
            web.get(_PEOPLE, self._show),
            web.post("/people/me", self._make_admin),
            web.post("/people/place", self._set_place),
            web.post("/people/add", self._add),
            web.post("/people/remove", self._remove),
            web.post("/people/strangers", self._set_strangers),
            web.post("/people/approve", self._approve),
            web.post("/people/deny", self._deny),
            web.post("/people/groups", self._set_groups),
            web.post("/people/budgets", self._set_budgets),
        ]

    async def _show_you(self, request: web.Request) -> web.Response:
        world = self._context.world
        return self._context.page(
            request,
            "you",
            live=await self._context.fragment(request, "callers"),
            admins=self._entries(world.settings.access.admins, await self._contacts()),
            number=world.running.transport.number if world.running else None,
            place=world.settings.locale,
            is_zone_known="timezone" in world.settings.locale.model_fields_set,
            languages=_LANGUAGES,
        )

    async def _callers(self) -> tuple[str, dict[str, object]]:
        contacts = {one.person: one for one in await self._contacts()} if self._context.world.callers.all() else {}
        found = [
            {"caller": caller, "name": contact.name if (contact := contacts.get(caller.person)) else None}
            for caller in self._context.world.callers.all()
        ]
        return "part_callers", {"callers": found, "has_admin": bool(self._context.world.settings.access.admins)}

    async def _show(self, request: web.Request) -> web.Response:
        running, access = self._context.world.running, self._context.world.settings.access
        contacts = await self._contacts()
        groups = await running.audience.groups() if running else None
        return self._context.page(
            request,
            "people",
            admins=self._entries(access.admins, contacts),
            allowed=self._entries(access.allowed, contacts),
            guests=await self._guests(contacts),
            groups=groups,
            listed_groups=access.groups,
            strangers=access.strangers,
            budgets=[
                (name, label, getattr(self._context.world.settings.budget, name)) for name, label in _BUDGETS.items()
            ],
        )

    async def _contacts(self) -> tuple[Contact, ...]:
        running = self._context.world.running
        return (await running.audience.contacts() or ()) if running else ()

    @staticmethod
    def _entries(entries: Iterable[str], contacts: Iterable[Contact]) -> list[Entry]:
        known = list(contacts)
        return [
            Entry(
                entry=entry,
                name=next((one.name or "" for one in known if entry in {one.person, one.number}), ""),
            )
            for entry in entries
        ]

    async def _guests(self, contacts: Iterable[Contact]) -> list[Guest]:
        running = self._context.world.running
        if running is None:
            return []

        def found(repos: Repositories) -> list[Guest]:
            names = {running.audience.label(repos, one.person): one.name or "" for one in contacts}
            return [Guest(label=one.label, name=names.get(one.label, "")) for one in repos.people.approvals()]

        try:
            return await running.store.read(found)
        except StoreError:
            return []

    async def _make_admin(self, request: web.Request) -> web.Response:
        person = form_of(request).get("person", "")
        if person not in {caller.person for caller in self._context.world.callers.all()}:
            raise NotDone(_YOU, "That person is no longer listed here. Write again.")

        def add(settings: Settings) -> Changes:
            return {"ACCESS__ADMINS": _joined((*settings.access.admins, person))}

        return await self._context.save(
            request, _YOU, add, "That’s you. Aldis answers you from now on, including what you have just written."
        )

    async def _set_place(self, request: web.Request) -> web.Response:
        """Sets the time zone of the people here, by its name or a city's, where they are, and what they speak."""
        form = form_of(request)
        found = zones(form.get("timezone", ""), datetime.now(UTC))
        if len(found) != 1:
            raise NotDone(_YOU, "There is no such time zone. Name it, or the nearest big city.")
        changes = {
            "LOCALE__TIMEZONE": found[0],
            "LOCALE__PLACE": form.get("place", "").strip() or None,
            "LOCALE__LANGUAGE": form.get("language", "en"),
        }
        return await self._context.save(request, _YOU, changes)

    async def _add(self, request: web.Request) -> web.Response:
        entry = person_of(form_of(request).get("person", "").strip())
        if entry is None:
            raise NotDone(_PEOPLE, "That is neither a phone number with its country code nor a uuid.")

        def add(settings: Settings) -> Changes:
            name, entries = _list(request, settings)
            return {name: _joined((*entries, entry))}

        return await self._context.save(request, _PEOPLE, add, "They may write from now on.")

    async def _remove(self, request: web.Request) -> web.Response:
        def remove(settings: Settings) -> Changes:
            name, entries = _list(request, settings)
            return {name: _joined(one for one in entries if one != form_of(request).get("entry", "")) or None}

        return await self._context.save(request, _PEOPLE, remove, "Removed. They are no longer answered.")

    async def _set_strangers(self, request: web.Request) -> web.Response:
        pairs = form_of(request).get("strangers") == "pair"
        return await self._context.save(request, _PEOPLE, {"ACCESS__STRANGERS": "pair" if pairs else None})

    async def _approve(self, request: web.Request) -> web.Response:
        running = self._context.running(_PEOPLE)
        person = running.pairing.approve(form_of(request).get("code", ""), running.clock.now())
        if person is None:
            raise NotDone(_PEOPLE, "That code is unknown, or has expired after an hour.")
        account = running.transport.account

        def allow(repos: Repositories, person: PersonId = person) -> str:
            repos.people.allow(person, account=account, by=account, now=running.clock.wall())
            return repos.people.label(person, account=account)

        label = await running.store.transaction(allow)
        self._context.write_down(request, "person.let_in", label)
        await running.on_allowed(person)
        return self._context.done(request, _PEOPLE, "They may write from now on.")

    async def _deny(self, request: web.Request) -> web.Response:
        running, label = self._context.running(_PEOPLE), form_of(request).get("label", "")[:40]
        account = running.transport.account
        await running.store.transaction(lambda repos: repos.people.deny(label, account=account))
        self._context.write_down(request, "person.shut_out", label)
        return self._context.done(request, _PEOPLE, "Removed. They are no longer answered.")

    async def _set_groups(self, request: web.Request) -> web.Response:
        """Applies what was ticked or unticked since the page was shown; another page may have changed the rest."""
        form = form_of(request)
        chosen = [name.removeprefix("group:") for name in form if name.startswith("group:")]
        shown = {name.removeprefix("was:group:") for name in form if name.startswith("was:group:")}

        def change(settings: Settings) -> Changes:
            kept = [group for group in settings.access.groups if group in chosen or group not in shown]
            added = [group for group in chosen if group not in shown]
            return {"ACCESS__GROUPS": _joined((*kept, *added)) or None}

        return await self._context.save(request, _PEOPLE, change)

    async def _set_budgets(self, request: web.Request) -> web.Response:
        """Saves the budgets that were changed since the page was shown, as with groups."""
        form = form_of(request)
        changed = [name for name in _BUDGETS if form.get(name, "") != form.get(f"was:{name}", "")]
        changes = {f"BUDGET__{name.upper()}": form.get(name, "").strip().replace(",", ".") or None for name in changed}
        return await self._context.save(request, _PEOPLE, changes)


def _list(request: web.Request, settings: Settings) -> tuple[str, tuple[str, ...]]:
    """The list that a form is about: its setting, and its entries."""
    access = settings.access
    is_admins = form_of(request).get("list") == "admins"
    return ("ACCESS__ADMINS", access.admins) if is_admins else ("ACCESS__ALLOWED", access.allowed)


def _joined(entries: Iterable[str]) -> str:
    return ",".join(dict.fromkeys(entries))
