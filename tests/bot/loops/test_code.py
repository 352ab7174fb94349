"""Programs of a model in a conversation: whole stories, from the question to the table and the picture."""

import io
import json
from collections.abc import AsyncGenerator

import pytest
from PIL import Image

from bot.clock import SetClock
from bot.commands import phrases
from bot.i18n.catalogues import say
from bot.messages import ToolMessage
from store import Store
from tests.bot.chat.turn_helpers import calls, says
from tests.bot.loops.app_harness import Harness, app_harness
from tests.cells import sandbox
from tests.servers.envelopes import BOB, message
from tools import CodeOptions, CodeSource
from tools.code import RunCode

CODE = """
payments = dict(rent=900, power=61.5, food=310, phone=20, train=49, sport=25)
average = sum(payments.values()) / len(payments)
print(f"average {average:.2f}")
table = [{"what": what, "EUR": paid} for what, paid in payments.items() if paid > average]
plot = {"title": "Payments", "labels": list(payments), "values": {"EUR": list(payments.values())}, "bars": True}
"""
TABLE = "| what | EUR |\n| --- | --- |\n| rent | 900 |\n| food | 310 |"


@pytest.fixture
async def aldis(store: Store, clock: SetClock) -> AsyncGenerator[Harness]:
    level = await sandbox().level()
    if not (level.seccomp and level.landlock):
        pytest.skip(f"PROGRAMS ARE NOT CONTAINED HERE: the kernel of this machine offers only {level}")
    source = CodeSource([RunCode(CodeOptions(), sandbox())])
    async with app_harness(store, clock, sources=(source,)) as aldis:
        yield aldis


def heard(aldis: Harness) -> dict[str, object]:
    [answer] = next(
        said for said in reversed(aldis.model.requests[-1].messages) if isinstance(said, ToolMessage)
    ).answers
    return json.loads(answer.content)


async def test_payments_over_the_average_are_listed_and_drawn(aldis: Harness) -> None:
    """The model reads the table and that there is a picture; the person gets both in one message."""
    aldis.model.script = [calls(("run_code", {"code": CODE})), says(f"Two are over it:\n\n{TABLE}")]
    await aldis.process(message("Which of these payments are over the average? And draw them."))
    assert heard(aldis) == {
        "ok": True,
        "untrusted_data": {"printed": "average 227.58", "table": TABLE},
        "files": ["a file plot.png was attached for the person"],
    }
    [reply] = aldis.transport.sent
    assert "900" in reply.content.text
    assert "|" not in reply.content.text
    assert [file.name for file in reply.files] == ["plot.png"]
    assert Image.open(io.BytesIO(reply.files[0].data)).size == (900, 316)


async def test_an_endless_program_delays_no_one_and_costs_no_completion(aldis: Harness) -> None:
    """Another person is answered while it runs, and what the model has cost so far is in the journal by then."""
    aldis.model.script = [calls(("run_code", {"code": "while True: pass"}))]
    await aldis.deliver(message("Loop."))
    await aldis.asked(1)
    aldis.model.script = [says("Hello, Bob."), says("It would not end.")]
    await aldis.deliver(message("Hello", author=BOB))
    [first] = await aldis.answered(1)
    assert (first.chat, first.content.text) == (BOB.chat, "Hello, Bob.")
    assert await aldis.count("SELECT count(*) FROM journal") == 2
    await aldis.quiet()
    assert aldis.transport.sent[1].content.text == "It would not end."
    assert heard(aldis)["ok"] is False


async def test_what_the_machine_cannot_contain_is_not_offered(store: Store, clock: SetClock) -> None:
    """And `/tools` says so."""
    async with app_harness(store, clock, sources=(CodeSource(()),)) as aldis:
        await aldis.process(message("/tools"))
        await aldis.process(message("Hello"))
        line = say(phrases.LIST_UNABLE, name="Small program").removeprefix("- ")
        assert aldis.transport.sent[0].content.text == f"• {line}"
        assert aldis.model.requests[-1].tools == ()
