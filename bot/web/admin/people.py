"""The people: who is the admin, who else can write, who waits to be let in, and which groups are answered.

The first admin writes to Aldis while the page waits: it then shows their name, and none of their words.
"""

from collections.abc import Iterable, Mapping

from bot.features.reminders.schedules import zone_meant
from bot.i18n.language import LANGUAGES
from bot.i18n.locale import language_names
from bot.settings import Settings
from bot.settings.values import person_of
from bot.signal.protocol import Contact
from bot.web.admin.forms import AdminPage, Ask, Changes, Field, Form, NotDone

_BUDGETS = {
    "PERSON_DAY": "Each person, per day",
    "PERSON_MONTH": "Each person, per month",
    "GROUP_DAY": "Each group, per day",
    "GROUP_MONTH": "Each group, per month",
    "ALL_DAY": "All together, per day",
    "ALL_MONTH": "All together, per month",
}


async def _you_values(ask: Ask) -> dict[str, object]:
    world, contacts = ask.world, await _contacts(ask)
    known = {one.person: one.name for one in contacts}
    return {
        "admins": _entries(ask.settings.access.admins, contacts),
        "callers": [(caller, known.get(caller.person)) for caller in world.pairing.callers()],
        "place": ask.settings.locale,
        "is_zone_known": "timezone" in ask.settings.locale.model_fields_set,
        "languages": {code: language_names(code)[code].capitalize() for code in LANGUAGES},
    }


async def _values(ask: Ask) -> dict[str, object]:
    running, access, contacts = ask.world.running, ask.settings.access, await _contacts(ask)
    guests: dict[str, str] = {}
    if running:
        labels, names = await running.store.read(
            lambda repos: (
                [one.label for one in repos.people.approvals()],
                {running.audience.label(repos, one.person): one.name or "" for one in contacts},
            )
        )
        # Who was let in with a code, by label.
        guests = {label: names.get(label, "") for label in labels}
    return {
        "admins": _entries(access.admins, contacts),
        "allowed": _entries(access.allowed, contacts),
        "guests": guests,
        "groups": await running.audience.groups() if running else None,
        "listed_groups": access.groups,
        "strangers": access.strangers,
    }


async def _contacts(ask: Ask) -> tuple[Contact, ...]:
    running = ask.world.running
    return (await running.audience.contacts() or ()) if running else ()


def _entries(entries: Iterable[str], contacts: Iterable[Contact]) -> Mapping[str, str]:
    """The bridge's name of each UUID, number or `*` on a list; empty if it does not know them."""
    names = {handle: one.name or "" for one in contacts for handle in (one.person, one.number)}
    return {entry: names.get(entry, "") for entry in entries}


async def _make_admin(ask: Ask) -> str:
    person = ask.entry("person")
    if person not in {caller.person for caller in ask.world.pairing.callers()}:
        raise NotDone("That person is no longer listed here. Write again.")
    done = "That’s you. Aldis answers you from now on, including what you have just written."
    return await ask.save(_listed("admins", ask.settings, add=person), done)


async def _set_place(ask: Ask) -> str:
    """Sets the time zone of the people here, by its name or a city's, where they are, and what they speak."""
    zone = zone_meant(ask.entry("timezone"))
    if zone is None:
        raise NotDone("There is no such time zone. Name it, or the nearest big city.")
    return await ask.save(
        {
            "LOCALE__TIMEZONE": zone,
            "LOCALE__PLACE": ask.entry("place") or None,
            "LOCALE__LANGUAGE": ask.entry("language") or "en",
        }
    )


async def _add(ask: Ask) -> str:
    entry, to = person_of(ask.entry("person")), ask.entry("list")
    if entry is None:
        raise NotDone("That is neither a phone number with its country code nor a uuid.")
    return await ask.save(_listed(to, ask.settings, add=entry), "They may write from now on.")


async def _remove(ask: Ask) -> str:
    changes = _listed(ask.entry("list"), ask.settings, remove=ask.entry("entry"))
    return await ask.save(changes, "Removed. They are no longer answered.")


def _listed(to: str, settings: Settings, *, add: str = "", remove: str = "") -> Changes:
    """The change to the list of the admins, or of those who may write."""
    entries = settings.access.admins if to == "admins" else settings.access.allowed
    kept = [entry for entry in entries if entry != remove]
    return {"ACCESS__ADMINS" if to == "admins" else "ACCESS__ALLOWED": _joined([*kept, *([add] if add else [])])}


async def _deny(ask: Ask) -> str:
    running, label = ask.running(), ask.entry("label")[:40]
    await running.store.transaction(lambda repos: repos.people.deny(label))
    ask.write_down("person.shut_out", label)
    return "Removed. They are no longer answered."


async def _set_groups(ask: Ask) -> str:
    """Applies what was ticked or unticked since the page was shown; another page may have changed the rest."""
    chosen = [name.removeprefix("group:") for name in ask.form if name.startswith("group:")]
    unticked = {name.removeprefix("was:group:") for name in ask.form if name.startswith("was:group:")} - set(chosen)
    added = [group for group in chosen if f"was:group:{group}" not in ask.form]
    kept = [group for group in ask.settings.access.groups if group not in unticked]
    return await ask.save({"ACCESS__GROUPS": _joined([*kept, *added])})


def _joined(entries: Iterable[str]) -> str | None:
    return ",".join(dict.fromkeys(entries)) or None


YOU = AdminPage(path="/setup/you", template="you", values=_you_values, actions={"me": _make_admin, "place": _set_place})
PAGE = AdminPage(
    path="/people",
    template="people",
    values=_values,
    actions={"add": _add, "remove": _remove, "deny": _deny, "groups": _set_groups},
    forms=(
        Form(
            name="budgets",
            title="Budgets",
            text="In US dollars, at the ledger’s prices. An empty field means no limit, 0 means no spending at all.",
            fields=tuple(Field(f"BUDGET__{name}_USD", label, "money") for name, label in _BUDGETS.items()),
        ),
        Form(name="pair", title="Codes for others", fixed={"ACCESS__STRANGERS": "pair"}, button="Switch on"),
        Form(name="ignore", title="Codes for others", fixed={"ACCESS__STRANGERS": None}, button="Switch off"),
    ),
)
