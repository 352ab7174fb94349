"""Safety numbers: whose has changed, who hears it, and what waits until the new one is trusted.

    a send fails because of it, or a message cannot be decrypted --> notice
    look: the bridge's keys --> a key that is not trusted --> recorded; the admins hear it, once per key
                            |                             '-- `accepts`: trusted at once, as Signal's own apps do
                            '-- trusted by now, wherever --> what was held is sent
    trust: an admin vouches for it --> the bridge --> what was held is sent, and what they wrote arrives

signal-cli trusts a person's first key and no other: after a change it neither sends to them nor passes on what they
write. A new key means a new phone, or a person who has taken over the number; no program can tell the two apart.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta
from functools import partial

from bot.chat.intents import plain_name
from bot.chat.notices import Admins
from bot.clock import is_set_within
from bot.commands import phrases as command_phrases
from bot.commands.base import Answer, Call, CommandGroup, WrongForm, command
from bot.errors import CallRefused, Disconnected
from bot.events import ChatId, PersonId
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import moment
from bot.logs import describe_error
from bot.signal.protocol import Contact, Identity, Outside, SignalTransport
from store import Repositories

ABOUT_TRUST = Sentence("ABOUT_TRUST", "shows whose safety number has changed, or trusts the new one.")
NO_SUSPECTS = Sentence("NO_SUSPECTS", "All safety numbers are trusted.")
NOT_SUSPECT = Sentence("NOT_SUSPECT", "Nobody with that label has a new safety number; `/trust` shows who does.")
TRUST_CHANGED_AGAIN = Sentence(
    "TRUST_CHANGED_AGAIN", "The safety number has changed again since I told you. `/trust` shows the newest one."
)
TRUST_REFUSED = Sentence("TRUST_REFUSED", "The bridge to Signal refused.")
_IDENTITY_CHANGED = Sentence(
    "IDENTITY_CHANGED",
    "{name} has a new safety number. Usually that's a new phone; it can also be somebody who has taken "
    "over their phone number. Until it is trusted I can't read or answer them, and my answers wait. "
    "Check with them some other way, then write `/trust {label}`. `/trust` alone shows the new number, "
    "to compare.",
)
_SUSPECT = Sentence("SUSPECT", "{name}, since {when}: {number}")
TRUSTED = Sentence("TRUSTED", "The new safety number of {name} is trusted now. What was waiting is on its way.")


_log = logging.getLogger(__name__)

_MAX_LOOKS = 10
"""How often the bridge is asked for a key that it should know: signal-cli fetches a key only after it was missing."""
_MIN_HELD = timedelta(minutes=5)
"""The shortest time before a retry if a send failed because of a key that the bridge calls trusted."""
_SOON_SECONDS = 15.0
"""The interval while the bridge does not know yet what was noticed."""
_AGAIN_SECONDS = 300.0
"""Listing all keys costs the bridge some seconds of work if there are hundreds."""
_PAUSE_SECONDS = 2.0
"""The shortest time between two looks, however much is noticed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspect:
    """A person whose safety number has changed, and is not trusted yet."""

    person: PersonId
    label: str
    name: str | None
    """The name that they chose; None if the bridge does not tell."""
    since: datetime
    safety_number: str
    """The new one, in groups of digits; can be empty."""

    @property
    def called(self) -> str:
        """What people read: the name with the label."""
        return f"{plain_name(self.name)} ({self.label})" if self.name else self.label


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    """The bridge's knowledge."""

    keys: Mapping[PersonId, Identity]
    contacts: Mapping[PersonId, Contact]
    members: Mapping[ChatId, frozenset[PersonId]]
    """The members of each group."""

    @property
    def untrusted(self) -> frozenset[PersonId]:
        """The people whose keys are not trusted."""
        return frozenset(person for person, identity in self.keys.items() if not identity.is_trusted)


@dataclass
class SafetyNumbers(Outside):
    """The safety numbers of one account's people. `accepts`: new ones are trusted without a question."""

    _: KW_ONLY
    may_write: Callable[[Repositories, Contact], bool]
    admins: Admins
    accepts: bool

    def __post_init__(self) -> None:
        self._account = self.transport.account
        self._signal = self.transport if isinstance(self.transport, SignalTransport) else None
        self._noticed: dict[PersonId, int] = {}
        """The people who were noticed, and how often the bridge has been asked since."""

    def notice(self, person: PersonId) -> None:
        """Reports that something failed because of this person's safety number: look soon."""
        if person not in self._noticed:
            self._noticed[person] = 0
            self.store.wakeups["identities"].set()

    async def run(self) -> None:
        """Looks at the start, after a notice, and while something is held; ends only by cancellation."""
        wakeup = self.store.wakeups["identities"]
        while True:
            wakeup.clear()
            seconds: float | None = _AGAIN_SECONDS
            try:
                suspects = await self.look()
                if self._noticed:
                    seconds = _SOON_SECONDS
                elif not suspects and not await self.store.read(lambda repos: repos.outbox.holds()):
                    seconds = None
            except Disconnected as error:
                _log.info("safety numbers are unknown: %s", error)
            except Exception as error:  # noqa: BLE001  (a bug while watching must not end the watching)
                _log.error("checking safety numbers failed: %s", describe_error(error))
            await asyncio.sleep(_PAUSE_SECONDS)
            await is_set_within(wakeup, seconds)

    async def look(self) -> tuple[Suspect, ...]:
        """Learns from the bridge whose safety number has changed, and acts on it; returns who is not trusted.

        Raises:
            Disconnected: the bridge cannot be asked; look again later.
            StoreError: nothing was done; look again later.
        """
        signal = self._signal
        if signal is None:
            return ()
        noticed = frozenset(self._noticed)
        known = _Known(
            keys={one.person: one for one in await signal.identities()},
            contacts={contact.person: contact for contact in await signal.contacts()},
            members={ChatId.group(group.id): group.members for group in await signal.groups()},
        )
        ours = await self.store.read(lambda repos: self._ours(repos, known, noticed))
        accepted = set[PersonId]()
        for person in sorted(ours if self.accepts else ()):
            try:
                await signal.trust(person)
            except CallRefused:
                _log.error("a new safety number was not accepted: the bridge refuses it")
            else:
                accepted.add(person)
                self.counts.add("safety_numbers_accepted")
                _log.warning("a new safety number was accepted, as SIGNAL__NEW_SAFETY_NUMBERS says")
        suspects = await self.store.transaction(lambda repos: self._write(repos, known, ours - accepted, accepted))
        for person in noticed & frozenset(self._noticed):  # it is known by now, or was asked for often enough
            self._noticed[person] += 1
            if person in known.untrusted or self._noticed[person] >= _MAX_LOOKS:
                del self._noticed[person]
        return suspects

    async def trust(self, name: str) -> tuple[Sentence, Suspect | None]:
        """Trusts the new safety number of the person with this label or UUID, if it is still the one that was reported;
        returns what came of it, and whose number it is.

        Raises:
            Disconnected: the bridge cannot be asked; try again.
            CallRefused: it refuses, in its own words.
        """
        before = await self.store.read(lambda repos: repos.people.new_identities())
        suspect = next((one for one in await self.look() if name.lower() in {one.label, one.person}), None)
        if suspect is None or self._signal is None:
            return NOT_SUSPECT, None
        if (suspect.label, suspect.since) not in before.items():
            return TRUST_CHANGED_AGAIN, suspect
        await self._signal.trust(suspect.person)
        self._noticed.pop(suspect.person, None)
        self.store.wakeups["identities"].set()  # the next look sends what was held
        self.counts.add("safety_numbers_trusted")
        _log.warning("the new safety number of %s is trusted; what was held is sent", suspect.label)
        return TRUSTED, suspect

    def _ours(self, repos: Repositories, known: _Known, noticed: Collection[PersonId]) -> frozenset[PersonId]:
        """The untrusted people who matter: something is held for them, or they write to Aldis."""
        held = repos.outbox.holds()
        ours = set(noticed)
        for chat, members in known.members.items():
            ours |= members if repos.conversations.at(chat) in held else set()

        def writes(person: PersonId) -> bool:
            conversation = repos.conversations.at(ChatId.direct(person))
            contact = known.contacts.get(person) or Contact(person=person, number=None, name=None)
            return conversation is not None and (conversation in held or self.may_write(repos, contact))

        return frozenset(one for one in known.untrusted if one in ours or writes(one))

    def _write(
        self, repos: Repositories, known: _Known, people: Collection[PersonId], accepted: set[PersonId]
    ) -> tuple[Suspect, ...]:
        """Records who is not trusted, tells other admins about new ones, and releases what need not be held."""
        account, untrusted = self._account, known.untrusted - accepted
        for person in people:
            repos.people.suspect(person, known.keys[person].key, account=account, now=self.clock.now())
        by_label = {repos.people.label(person, account=account): person for person in known.keys}
        suspects: list[Suspect] = []
        is_any_trusted = bool(accepted)
        for label, since in repos.people.new_identities().items():
            person = by_label.get(label)
            if person is not None and person in untrusted:
                name = known.contacts[person].name if person in known.contacts else None
                number = known.keys[person].safety_number
                suspects.append(Suspect(person=person, label=label, name=name, since=since, safety_number=number))
            else:
                repos.people.trust(label)
                is_any_trusted = is_any_trusted or person is not None
                _log.info("the new safety number of %s is already trusted", label)
        for one in suspects:
            text = partial(say, _IDENTITY_CHANGED, name=one.called, label=one.label)
            news = f"{one.person} {known.keys[one.person].key}"
            if not repos.notices.is_told(news) and self.admins.tell(
                repos, text, known.contacts.values(), besides={one.person}
            ):
                repos.notices.note(news, now=self.clock.now())
        self._let_go(repos, known, untrusted, at_once=is_any_trusted)
        return tuple(suspects)

    def _let_go(self, repos: Repositories, known: _Known, untrusted: frozenset[PersonId], *, at_once: bool) -> None:
        """Releases what is held for no one who is untrusted: keys can be trusted elsewhere, and groups change."""
        chats = [ChatId.direct(person) for person in untrusted]
        # The account itself is a member as well, and never a suspect.
        chats += [chat for chat, members in known.members.items() if len(members - untrusted) <= 1]
        rightly = {repos.conversations.at(chat) for chat in chats}
        for conversation, held_at in repos.outbox.holds().items():
            if conversation not in rightly and (at_once or self.clock.now() - held_at >= _MIN_HELD):
                repos.outbox.release(conversation)


_BRIDGE_SECONDS = 20.0
"""The bridge computes a safety number for everybody that it knows."""


@dataclass
class TrustCommands(CommandGroup):
    """The one command about safety numbers."""

    identities: SafetyNumbers

    @command("/trust [LABEL]", ABOUT_TRUST, for_admins=True, section="admins", directly_only=True)
    async def _trust(self, call: Call) -> Answer:
        """Shows whose safety number has changed, with the new one; trusts it, and sends what was waiting."""
        name = call.command.rest
        if " " in name:  # such as the number, which is compared before by the admin
            raise WrongForm
        try:
            async with asyncio.timeout(_BRIDGE_SECONDS):
                if not name:
                    suspects = await self.identities.look()
                    return "\n".join(map(_line, suspects)) or say(NO_SUSPECTS)
                outcome, suspect = await self.identities.trust(name)
                return say(outcome, name=suspect.called if suspect else "")
        except (Disconnected, TimeoutError):
            return command_phrases.BRIDGE_SILENT
        except CallRefused:
            return TRUST_REFUSED


def _line(suspect: Suspect) -> str:
    return say(_SUSPECT, name=suspect.called, when=moment(suspect.since), number=suspect.safety_number or "?")
