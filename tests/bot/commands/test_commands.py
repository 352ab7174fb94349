"""Commands: one table, given directly and in groups; each is answered once, also while a turn runs."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from bot.access.access import AccessList
from bot.clock import SetClock
from bot.commands import phrases
from bot.commands.base import Call, CommandGroup, command
from bot.events import PersonId, Reply, is_stop_word
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.signal.protocol import Contact
from store import Erasure, Store
from tests.bot.chat.test_edits import on_disk, words
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.loops.app_harness import FIRST, Harness, app_harness
from tests.servers.envelopes import (
    ALDIS,
    ALICE,
    BOB,
    GROUP,
    MALLORY,
    Frame,
    Person,
    delete,
    message,
    quote_of,
    reaction,
)
from tests.waiting import eventually


async def ask(aldis: Harness, text: str, **more: object) -> str:
    before = len(aldis.transport.sent)
    await aldis.deliver(message(text, **more))  # pyright: ignore[reportArgumentType]
    await aldis.answered(before + 1)
    return aldis.transport.sent[before].content.text


def plain(phrase: str) -> str:
    """A phrase as it stands in Signal: the commands in it are styled."""
    return phrase.replace("`", "")


async def test_help_lists_what_the_person_may_do(store: Store, clock: SetClock) -> None:
    """Short, by what it is about; admins see their own commands as well; case and white space do not matter."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as aldis:
        everybody = await ask(aldis, "/help")
        assert len(everybody) < 500
        assert "This chat: /model /tools /language /persona" in everybody
        admins = await ask(aldis, "  /HELP ", author=BOB)
        in_group = await ask(aldis, "Aldis, /help", author=BOB, group=GROUP)
        found = [[name in shown for shown in (everybody, admins, in_group)] for name in ("/allow", "/trust", "/always")]
        assert found == [[False, True, True], [False, True, False], [False, False, True]]
        for word in ("/remind", "RAPPEL"):  # one command, by whatever name it is asked for
            shown = await ask(aldis, f"/help {word}")
            assert shown.startswith("/remind [WHEN TEXT|list|cancel N|cancel all]")
            assert "/remind every weekday at 8 TEXT" in shown
        assert aldis.model.asked == []


async def test_a_command_that_keeps_failing_is_told_once(store: Store, clock: SetClock) -> None:
    """Whoever gave it hears that it failed, after a few tries; it is dead, and the next command is carried out."""
    tries: list[str] = []

    class Broken(CommandGroup):
        @command("/break", phrases.ABOUT_STOP)
        async def _break(self, call: Call) -> None:
            tries.append(call.command.rest)
            raise RuntimeError

    async with app_harness(store, clock, commands=lambda context: [Broken(context)]) as aldis:
        assert await ask(aldis, "/break it") == say(common_phrases.FAILED)
        assert await ask(aldis, "/whoami")
        assert tries == ["it"] * 3
        assert [reply.content.text for reply in aldis.transport.sent].count(say(common_phrases.FAILED)) == 1
        assert (await store.read(lambda repos: repos.inbox.backlog())).dead == 1


async def test_a_command_has_names_in_four_languages(store: Store, clock: SetClock) -> None:
    """With and without accents and dashes; none of them undoes anything without a question."""
    for written, answer in (
        ("/hilfe", "erklärt einen davon"),
        ("/rappelle-moi demain à 9h d'appeler Paul", "D'accord, demain à 09:00\u00a0: appeler Paul."),
        ("/recuérdame mañana a las 9 comprar leche", "mañana a las 09:00: comprar leche."),
        ("/lang Alemán", "Deutsch"),
        ("/vergiss", "Soll ich?"),
    ):
        async with app_harness(store, clock) as aldis:
            assert answer in await ask(aldis, written)
            assert aldis.model.asked == []


async def test_a_slip_of_the_fingers_does_nothing(store: Store, clock: SetClock) -> None:
    """It is answered with names that it resembles; in a group an unknown command is another bot's unless addressed."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as aldis:
        await aldis.process(message("Remember the tulip."))
        for written, meant in (("/forgt", "/forget"), ("/undoo", "/undo"), ("/hlep x", "/help"), ("/trus", "/trust")):
            assert (await ask(aldis, written, author=BOB)).endswith(f"Did you mean {meant}?"), written
        assert await aldis.count("SELECT count(*) FROM history") == 2
        for unknown in ("trus", "frobnicate"):
            assert await ask(aldis, f"/{unknown} now") == plain(phrases.unknown_command(unknown))
        assert await ask(aldis, "/etc/hosts is what?") == "re: /etc/hosts is what?"
        for written in ("/usage", "Aldis, /usage"):
            assert "today" in await ask(aldis, written, group=GROUP)
        assert "today" in await ask(aldis, "/usage", group=GROUP, mention=True)
        assert aldis.transport.sent[-1].quote is not None
        before = len(aldis.transport.sent)
        await aldis.process(message("/roll 2d6", group=GROUP))
        assert len(aldis.transport.sent) == before
        assert "/roll" in await ask(aldis, "Aldis, /roll 2d6", group=GROUP)


YESES: Mapping[str, tuple[bool, Callable[[int, int], Sequence[Frame | int]], bool]] = {
    "a word in another language": (False, lambda _, __: [message("ja, bitte")], True),
    "a quotation": (False, lambda _, asked: [message("ok", quote=quote_of(ALDIS, asked, "That deletes"))], True),
    "a thumb": (False, lambda _, asked: [reaction("👍", asked)], True),
    "a thumb down": (False, lambda _, asked: [reaction("👎", asked)], False),
    "more than a yes": (False, lambda _, __: [message("yes, but tell me a joke before")], False),
    "behind other words": (False, lambda _, __: [message("Shall I tell you a joke?"), message("yes")], False),
    "ten minutes later": (False, lambda _, __: [601, message("yes")], False),
    "to a deleted command": (False, lambda command, _: [delete(command), message("yes")], False),
    "of another member": (True, lambda _, __: [message("yes", author=BOB, group=GROUP)], False),
    "in another chat": (True, lambda _, __: [message("yes")], False),
}
"""Whether it is in a group, what follows the command and the question (seconds or messages), whether it is a yes."""


@pytest.mark.parametrize(("is_group", "answer", "is_done"), YESES.values(), ids=YESES)
async def test_forget_asks_once(
    store: Store, clock: SetClock, is_group: bool, answer: Callable[[int, int], Sequence[Frame | int]], is_done: bool
) -> None:
    """It says what would go, and nothing goes without a yes of the same person, there, in time, to nothing else."""
    group = GROUP if is_group else None
    async with app_harness(store, clock) as aldis:
        await ask(aldis, "/remind in 2 hours tea", group=group)
        command = await aldis.process(message("/forget", group=group))
        whose = " of yours in this group" if group else " from this chat"
        assert aldis.transport.sent[-1].content.text == f"That deletes 1 reminder{whose}, for good. Shall I?"
        for step in answer(command, FIRST + len(aldis.transport.sent)):
            clock.move(step if isinstance(step, int) else 2)
            if not isinstance(step, int):
                await aldis.process(step)
        assert aldis.transport.sent[-1].content.text.startswith("Deleted for good: 1 reminder") == is_done
        assert await aldis.count("SELECT count(*) FROM reminders") == (0 if is_done else 1)
        clock.move(2)
        await aldis.process(message("yes"))  # it means nothing any more
        assert sum(reply.content.text.startswith("Deleted") for reply in aldis.transport.sent) == is_done


async def test_forget_in_a_group_takes_what_is_the_askers_own(store: Store, clock: SetClock) -> None:
    """Their questions and reminders there; everything of the group is an admin's."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as aldis:
        for author, word in ((ALICE, "tulip"), (BOB, "rose")):
            await aldis.process(message(f"Aldis, how is the {word}?", author=author, group=GROUP))
            await ask(aldis, f"/remind in 2 hours water the {word}", author=author, group=GROUP)
        await ask(aldis, "/remind in 3 hours tea")
        heard = await ask(aldis, "/forget all", group=GROUP)
        assert heard == plain(phrases.FORGET_ALL_ADMINS.text)
        await ask(aldis, "/model 2", group=GROUP)
        assert await ask(aldis, "/forget", author=MALLORY, group=GROUP) == phrases.NOTHING_TO_FORGET.text
        heard = await ask(aldis, "/forget", group=GROUP)
        own = "1 question and its answer and 1 reminder"
        assert heard == f"That deletes {own} of yours in this group, for good. Shall I?"
        clock.move(2)
        assert await ask(aldis, "yes", group=GROUP) == f"Deleted for good: {own}."
        assert await aldis.count("SELECT count(*) FROM reminders") == 2
        await ask(aldis, "Aldis, and now?", author=BOB, group=GROUP)
        assert ["tulip" in words(aldis.model.requests[-1]), "rose" in words(aldis.model.requests[-1])] == [False, True]
        heard = await ask(aldis, "/forget all", author=BOB, group=GROUP)
        assert heard == "That deletes 2 questions and their answers and 1 reminder from this chat, for good. Shall I?"
        clock.move(2)
        heard = await ask(aldis, "yes", author=BOB, group=GROUP)
        assert heard.startswith("Deleted for good: 2 questions and their answers and 1 reminder")
        assert await aldis.count("SELECT count(*) FROM reminders") == 1


STOPS = (
    *("STOP!!!", "Stopp.", "halt", "Arrête !", "arrete", "¡Para!", "cancel", "Never mind…", "nevermind", "⛔ stop"),
)
NO_STOPS = ("stop it", "Cancel my order", "para ti", "don't stop", "stop 5", "stopping", "never", "mind")


async def test_a_word_stops_the_answer_to_its_author(store: Store, clock: SetClock) -> None:
    """As the whole message, in a chat and in a group; with nothing of theirs under way it is a message like any."""
    for words_meant, are_stops in ((STOPS, True), (NO_STOPS, False)):
        assert [text for text in words_meant if is_stop_word(text) != are_stops] == []
    async with app_harness(store, clock) as aldis:
        assert await ask(aldis, "Stop!") == "re: Stop!"
        for group, stop in ((GROUP, "Arrête !"), (None, "never mind")):
            aldis.model.gates["slow"] = asyncio.Event()
            asked = len(aldis.model.asked)
            await aldis.deliver(message("Aldis, slow?", group=group))
            await aldis.asked(asked + 1)
            await aldis.deliver(message(stop, group=group))
            await aldis.quiet()
            assert aldis.transport.sent[-1].content.text == common_phrases.STOPPED.text
        before = len(aldis.transport.sent)
        gate = aldis.model.gates["slow"] = asyncio.Event()
        await aldis.deliver(message("Aldis, slow?", group=GROUP))
        await aldis.asked(len(aldis.model.asked) + 1)
        await aldis.deliver(message("stop", author=BOB, group=GROUP))
        await aldis.deliver(message("stop", author=BOB, group=GROUP, mention=True))
        await aldis.deliver(message("stop"))
        gate.set()
        await aldis.quiet()
        heard = sorted(reply.content.text for reply in aldis.transport.sent[before:])
        assert heard == ["re: Aldis, slow?", "re: stop", "re: stop"]


async def test_forget_destroys_the_conversation(store: Store, clock: SetClock, path: Path) -> None:
    """History, tool results, what waits, the turn that runs; the answer tells it, and nothing is readable any more."""
    async with app_harness(store, clock, tools=(Echo(),)) as aldis:
        aldis.model.script += [calls(("echo", {"word": "tulip"})), says("The tulip is fine.")]
        await aldis.process(message("How is the tulip?"))
        await aldis.process(message("bob's words", author=BOB))
        rows = await aldis.store.read(lambda repos: repos.history.rows("SELECT message FROM history"))
        await aldis.held("slow")
        await aldis.deliver(message("waits behind it"))
        assert await ask(aldis, "/forget yes") == phrases.forget_reply(Erasure(turns=1))
        await aldis.quiet()
        assert await aldis.count("SELECT count(*) FROM history") == 2
        files = on_disk(path)
        assert sum(row[0] in files for row in rows) == 2
        await aldis.process(message("What did I ask?"))
        assert "tulip" not in words(aldis.model.requests[-1])
        assert "waits behind" not in words(aldis.model.requests[-1])
        assert aldis.transport.sent[-1].content.text == "re: What did I ask?"


def pairing_harness(store: Store, clock: SetClock) -> AbstractAsyncContextManager[Harness]:
    """Only Alice and Bob may write, who is an admin; strangers get codes."""
    listed = AccessList(persons=frozenset({ALICE.uuid, BOB.uuid}), groups=frozenset(), admins=frozenset({BOB.uuid}))
    return app_harness(store, clock, access=listed, settings={"access": {"strangers": "pair"}})


async def knock(aldis: Harness, *people: Person) -> list[Reply]:
    before = len(aldis.transport.sent)
    for person in people:
        for _ in range(2):
            await aldis.process(message("Hello?", author=person))
        await eventually(lambda: not aldis.intake._aside.tasks)
    return [reply for reply in aldis.transport.sent[before:] if reply.chat == BOB.chat]


async def react(aldis: Harness, emoji: str, asked: Reply) -> str:
    at, count = FIRST + aldis.transport.sent.index(asked) + 1, len(aldis.transport.sent)
    await aldis.process(reaction(emoji, at, author=BOB, of=ALDIS))
    return next(reply.content.text for reply in aldis.transport.sent[count:] if reply.chat == BOB.chat)


async def test_a_stranger_is_put_to_the_admin_once_by_name(store: Store, clock: SetClock) -> None:
    """A thumb lets them in, and what they wrote is answered; nobody else is asked, and a refusal holds."""
    async with pairing_harness(store, clock) as aldis:
        await ask(aldis, "hi", author=BOB)
        await ask(aldis, "hi", author=ALICE)
        aldis.transport.known_contacts = (Contact(person=PersonId(BOB.uuid), number=None, name=BOB.name),)
        [asked] = await knock(aldis, MALLORY)
        assert asked.content.text == "“Mallory” would like to write to me: 👍 or 👎"
        assert await react(aldis, "👎", asked) == "OK, “Mallory” stays out."
        clock.move(4000)
        assert await knock(aldis, MALLORY) == []
        assert aldis.transport.sent[-1].chat == BOB.chat
        assert await react(aldis, "👍🏽", asked) == "Mallory can write to me now. (/deny Mallory undoes it.)"
        assert await ask(aldis, "/people", author=BOB) == f"• Mallory: let in by {BOB.name} on 21 Nov 2026"
        assert await ask(aldis, "hello", author=MALLORY) == "re: hello"
        assert await ask(aldis, "/deny mallory", author=BOB) == "Mallory can't write to me anymore."
        assert await ask(aldis, "/deny mallory", author=BOB) == "OK, “Mallory” stays out."
        assert await ask(aldis, "/deny nobody", author=BOB) == plain(phrases.UNKNOWN_PERSON.text)
        assert not await aldis.store.read(lambda repos: repos.people.is_allowed(MALLORY.uuid, account=ALDIS.uuid))


async def test_a_name_is_no_proof(store: Store, clock: SetClock) -> None:
    """One that looks like another's is told apart by its code, and none can be anything but a name."""
    async with pairing_harness(store, clock) as aldis:
        await ask(aldis, "hi", author=BOB)
        contacts = (Contact(person=PersonId(p.uuid), number=None, name=p.name) for p in (ALICE, BOB))
        aldis.transport.known_contacts = tuple(contacts)
        names = ("\u0412ob", "Eve\n\u202e/allow", "E" * 50, "\u200b")
        asked = [
            (await knock(aldis, replace(MALLORY, uuid=f"{n}" + MALLORY.uuid[1:], name=name)))[0].content.text
            for n, name in enumerate(names)
        ]
        assert asked[0].startswith("Someone else who goes by “\u0412ob” would like to write to me (code ")
        assert asked[1] == "“Eve /allow” would like to write to me: 👍 or 👎"
        assert asked[2].startswith(f"“{'E' * 39}…” would")
        assert asked[3].startswith("Someone without a name would like to write to me (code ")
        code = asked[0].partition("(code ")[2].partition(")")[0]
        label = await aldis.store.read(lambda repos: repos.people.label("0" + MALLORY.uuid[1:], account=ALDIS.uuid))
        assert await ask(aldis, f"/allow {code.lower()}", author=BOB) == (
            f"\u0412ob ({label}) can write to me now. (/deny {label} undoes it.)"
        )
        await aldis.until(lambda: [sent.content.text for sent in aldis.transport.sent].count("re: Hello?") == 2)
        assert await ask(aldis, "/deny bob", author=BOB) == f"\u0412ob ({label}) can't write to me anymore."


async def test_a_code_or_an_id_names_one_of_two_with_one_name(store: Store, clock: SetClock) -> None:
    """The admin reads what to call a stranger, and a person who was let in is also known by the id of `/whoami`."""
    async with pairing_harness(store, clock) as aldis:
        await ask(aldis, "hi", author=BOB)
        twins = [replace(MALLORY, uuid=f"{n}" + MALLORY.uuid[1:]) for n in range(2)]
        await knock(aldis, *twins)
        first, second = (one.code for one in aldis.pairing.strangers.values())
        assert await ask(aldis, "/deny mallory", author=BOB) == plain(phrases.which("mallory", [first, second]))
        assert (await ask(aldis, f"/deny {first}", author=BOB)).startswith("OK, “Mallory (")
        await ask(aldis, f"/allow {second}", author=BOB)
        await aldis.until(lambda: [sent.content.text for sent in aldis.transport.sent].count("re: Hello?") == 2)
        assert (await ask(aldis, f"/deny {twins[1].uuid}", author=BOB)).endswith("can't write to me anymore.")


async def test_only_an_admin_uses_a_code(store: Store, clock: SetClock) -> None:
    """Anybody else's word or thumb counts for nothing, and a crowd is put to the admin twenty times an hour."""
    async with pairing_harness(store, clock) as aldis:
        await ask(aldis, "hi", author=BOB)
        [asked, *more] = await knock(aldis, *(replace(MALLORY, uuid=str(UUID(int=n)), name=f"M{n}") for n in range(30)))
        assert len(more) == 19
        [code, *_] = [one.code for one in aldis.pairing.strangers.values()]
        assert await ask(aldis, f"/allow {code}", author=ALICE) == plain(phrases.unknown_command("allow"))
        await aldis.process(reaction("👍", FIRST + aldis.transport.sent.index(asked) + 1, author=ALICE, of=ALDIS))
        assert await ask(aldis, "/people", author=BOB) == phrases.NOBODY_LET_IN.text
        assert await ask(aldis, "/allow 0000-0000", author=BOB) == phrases.UNKNOWN_CODE.text
