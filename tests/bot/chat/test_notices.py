"""Notices: the admins hear of what hurts, in their language, once until it is over, whatever dies in between."""

from collections.abc import AsyncGenerator, Iterable

import pytest

from bot.chat.notices import Admins, Notice, Notices
from bot.clock import SetClock
from bot.events import PersonId
from bot.i18n.language import Language
from bot.signal.protocol import Contact
from store import ConversationId, Repositories, Store
from tests.bot.loops.app_harness import Harness, app_harness
from tests.servers.envelopes import ALICE, BOB, Person, message

KEY, MODEL = Notice(kind="key", subject="Tavily"), Notice(kind="model", subject="claude-9")


def board(store: Store, clock: SetClock, *listed: str, language: Language = "en") -> Notices:
    def spoken(_: Repositories, __: ConversationId) -> Language:
        return language

    return Notices(store, clock, Admins(clock, listed=lambda: frozenset(listed), language=spoken))


@pytest.fixture
async def aldis(store: Store, clock: SetClock) -> AsyncGenerator[Harness]:
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as aldis:
        for number, person in enumerate((ALICE, BOB), start=1):
            await aldis.deliver(message("hi", author=person))
            await aldis.answered(number)
        yield aldis


async def heard(aldis: Harness, person: Person) -> list[str]:
    await aldis.quiet()
    return [reply.content.text for reply in aldis.transport.sent if reply.chat == person.chat][1:]


async def test_an_admin_hears_of_it_once_until_it_is_over(aldis: Harness, store: Store, clock: SetClock) -> None:
    """Also over a restart; when it comes again, so does the word. Nobody else is told."""
    notices = board(store, clock, BOB.uuid)
    assert await notices.settle({KEY: True}) == 1
    assert await notices.settle({KEY: True}) == 0
    assert await board(store, clock, BOB.uuid).settle({KEY: True}) == 0
    assert await heard(aldis, BOB) == [KEY.text().replace("`", "")]
    assert await notices.settle({KEY: False}) == 0
    assert await notices.settle({KEY: True}) == 1
    assert len(await heard(aldis, BOB)) == 2
    assert await heard(aldis, ALICE) == []


async def test_what_was_not_looked_at_is_neither_told_again_nor_forgotten(
    aldis: Harness, store: Store, clock: SetClock
) -> None:
    """A server that cannot be reached says nothing of its key."""
    notices = board(store, clock, BOB.uuid)
    await notices.settle({KEY: True})
    await notices.settle({MODEL: False})
    assert await notices.settle({KEY: True}) == 0
    assert len(await heard(aldis, BOB)) == 1


@pytest.mark.parametrize("is_theirs", [True, False])
async def test_an_admin_listed_by_number_is_who_has_it(
    aldis: Harness, store: Store, clock: SetClock, is_theirs: bool
) -> None:
    """And nobody to whom the number went later."""
    assert BOB.number
    person = BOB.uuid if is_theirs else "another account"
    await store.transaction(lambda repos: repos.people.pin(BOB.number or "", person, now=clock.now()))
    notices = board(store, clock, BOB.number)
    assert notices.admins.are_numbers_listed
    contacts: Iterable[Contact] = [Contact(person=PersonId(BOB.uuid), number=BOB.number, name="Bob")]
    assert await notices.settle({KEY: True}) == 0
    assert await notices.settle({KEY: True}, contacts) == int(is_theirs)
    assert len(await heard(aldis, BOB)) == int(is_theirs)
