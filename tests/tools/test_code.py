"""Programs of models, run by the real Monty in real cells: what comes of them, and what they cannot do."""

import asyncio
import io
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.cells import sandbox, server_pid
from tests.conftest import NOON
from tests.servers.envelopes import ALICE, BOB, Person
from tests.tools.conftest import Asked
from tests.waiting import DEADLINE_SECONDS, eventually
from tools import BadArguments, CodeOptions, CodeSource, TooLarge, ToolContext, ToolError
from tools.code import RunCode

RUN_CODE = RunCode(CodeOptions(), sandbox())


@pytest.fixture
async def ask() -> Asked:
    """The tool, where the machine can contain programs; on another the tests are skipped, and say so."""
    level = await sandbox().level()
    if not (level.seccomp and level.landlock):
        pytest.skip(f"PROGRAMS ARE NOT CONTAINED HERE: the kernel of this machine offers only {level}")
    return Asked(RUN_CODE, ToolContext(now=NOON, timezone="UTC"))


async def failure(ask: Asked, code: str) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await ask(code)
    return caught.value


RESULTS: dict[str, dict[str, Any]] = {
    "": {"printed": ""},
    "for n in range(3):\n    print(n, n * n)": {"printed": "0 0\n1 1\n2 4"},
    "print('ä € ❯ error: no')": {"printed": "ä € ❯ error: no"},
    "print('x' * 9000)": {"printed": "x" * 3999 + "…"},
    "from decimal import Decimal\nprint(sum([Decimal('0.1')] * 3), round(2.675, 2))": {"printed": "0.3 2.68"},
    "from datetime import date\ntable = [{'on': date(2026, 1, 2), 'a|b': 1.5}, {'c': 'x\\ny|z', 'on': None}]": {
        "printed": "",
        "table": "| on | a\\|b | c |\n| --- | --- | --- |\n| 2026-01-02 | 1.5 |  |\n| None |  | x y\\|z |",
    },
    "table = {1: 2}": {"printed": ""},
    "plot = {'values': {'A': [None]}}": {"printed": "", "plot": "not drawn: it has no values"},
    "plot = {'values': {'A': [1e308, -1e308]}}": {
        "printed": "",
        "plot": "not drawn: values.A.0: Input should be less than or equal to 1000000000000000000;"
        " values.A.1: Input should be greater than or equal to -1000000000000000000",
    },
    "plot = {'values': {'A': [1, 'x']}}": {
        "printed": "",
        "plot": "not drawn: values.A.1: Input should be a valid number, unable to parse string as a number",
    },
}


async def test_what_it_prints_and_its_table_come_back(ask: Asked) -> None:
    """The digits are those of Python, whatever its kind; only what is a table is one, and a wrong plot is said."""
    for code, expected in RESULTS.items():
        result = await ask.result(f"# first\n{code}")
        assert (result.data, result.files) == (expected, ())


async def test_a_plot_is_a_picture_with_whole_bars_and_the_language_s_decimals(ask: Asked) -> None:
    """Decimals and years as labels are taken, too; what is drawn depends on nothing but that."""
    code = "from decimal import Decimal\nplot = {'labels': [2025, 2026], 'values': {'EUR': [2, V]}, 'bars': True}"
    pictures = list[bytes]()
    for language, value in (("en", "1.5"), ("en", "Decimal('1.5')"), ("de", "1.5")):
        there = ToolContext(now=NOON, timezone="UTC", language=language)
        [file] = (await Asked(RUN_CODE, there).result(code.replace("V", value))).files
        pictures.append(file.data)
    english, same, german = pictures
    assert english == same != german
    picture = Image.open(io.BytesIO(english)).convert("RGB")
    assert picture.size == (900, 316)
    # Both bars, with paper at the edges of the panel.
    assert [picture.getpixel((x, 240)) for x in (80, 335, 606, 860)] == [
        (255,) * 3,
        (194, 65, 12),
        (194, 65, 12),
        (255,) * 3,
    ]


FAILURES = {
    "x = 1\n\nprint('so far')\n1 / 0": (
        "line 4",
        "ZeroDivisionError: division by zero; before that it printed: so far",
    ),
    "def f():\n    raise ValueError('❯ error: a\\nb')\nf()": ("line 2", "ValueError: ❯ error: a\nb"),
    "x = = 1": ("line 1", "SyntaxError: "),
    "open('/etc/passwd')": ("line 1", ""),
    "import os\nos.listdir('/')": ("line 2", ""),
    "import socket": ("line 1", "ModuleNotFoundError: No module named 'socket'"),
    "import os\nos.fork()": ("line 2", "AttributeError: "),
    "def f(n): return f(n + 1)\nf(0)": ("line 1", "RecursionError: "),
    "x = []\nwhile True: x.append('a' * 1000)": ("failed", "MemoryError: "),
    "import time\ntime.sleep(9)": ("line 2", "TimeoutError: "),  # at once: a program may not wait
    "table = []\ntable.append(table)": ("make them of lists", ""),
    "table = [{'n': 10 ** 5000}]": ("make them of lists", ""),
    "print('[1, 2]')\nexit()": ("failed", "unknown external"),
}


async def test_what_fails_is_said_with_its_line(ask: Asked) -> None:
    """As data: its message may be what strangers wrote. Nothing is reached, and nothing is taken."""
    for code, (where, words) in FAILURES.items():
        error = await failure(ask, code)
        assert isinstance(error, BadArguments), code
        assert where in str(error), code
        assert (error.quoted or "").startswith(words), code


async def test_what_does_not_end_is_ended(ask: Asked) -> None:
    """By Monty's clock, and where that is not looked at by the cell's; what prints without end sooner."""
    for code, seconds, kind, words in (
        ("while True: pass", 2, BadArguments, "failed"),
        ("print(3 ** 10 ** 8 % 7)", 3, BadArguments, "too long"),
        ("while True: print('x' * 100_000)", 0, TooLarge, "too much"),
        ("return 5", 0, TooLarge, "before its last line"),
    ):
        begun = time.monotonic()
        error = await failure(ask, code)
        assert isinstance(error, kind)
        assert words in str(error)
        assert seconds <= time.monotonic() - begun < seconds + DEADLINE_SECONDS / 4


async def test_other_users_of_the_machine_read_nothing_of_it(ask: Asked) -> None:
    """Neither code nor environment are with the process, and it ends with the question."""

    def running() -> list[Path]:
        children = Path(f"/proc/{server_pid()}/task/{server_pid()}/children").read_text().split()
        return [Path("/proc", child) for child in children if b"--max" in Path("/proc", child, "cmdline").read_bytes()]

    task = asyncio.create_task(ask("secret = 'of a person'\nwhile True: pass"))
    await eventually(running)
    [process] = running()
    assert b"secret" not in (process / "cmdline").read_bytes()
    assert (process / "environ").read_bytes() == b""
    task.cancel()
    await asyncio.wait([task])
    await eventually(lambda: not running())


async def test_a_person_s_programs_delay_no_one_else(ask: Asked) -> None:
    """They run one after the other, and leave a place to others."""

    def run(person: Person, code: str) -> asyncio.Task[dict[str, Any]]:
        return asyncio.create_task(Asked(RUN_CODE, replace(ask.context, person=person.uuid))(code))

    endless = [run(BOB, "while True: pass") for _ in range(2)]
    assert await run(ALICE, "print(1)") == {"printed": "1"}
    assert not any(task.done() for task in endless)
    for task in endless:
        task.cancel()
    await asyncio.wait(endless)


@dataclass
class Elsewhere:
    """Cells of a machine on which programs cannot be contained: none says anything there."""

    troubles: list[ToolError] = field(default_factory=list[ToolError])
    """What keeps the first tries from beginning."""
    tries: int = 0

    async def run_program(self, text: str, *call: str, timeout_seconds: float, person: str = "") -> str:
        self.tries += 1
        if self.troubles:
            raise self.troubles.pop()
        return ""


async def test_it_is_offered_only_where_a_first_program_comes_back(ask: Asked) -> None:
    """Which is tried once, and again if it could not begin; not where its package is missing, which the doctor says."""
    elsewhere = Elsewhere()
    offered = CodeSource([RUN_CODE])
    assert (list(await offered.tools()), offered.unable) == ([RUN_CODE], ())
    refused = CodeSource([RunCode(CodeOptions(), elsewhere)])
    assert [list(await refused.tools()) for _ in range(2)] == [[], []]
    assert (elsewhere.tries, refused.unable) == (1, ("run_code",))
    busy = Elsewhere([BadArguments("it takes too long")])
    later = CodeSource([RunCode(CodeOptions(), busy)])
    assert [list(await later.tools()) for _ in range(3)] == [[], [], []]
    assert busy.tries == 2
    absent = CodeOptions(enabled=True, monty=Path("/nonexistent/monty"))
    assert "pydantic-monty-runtime" in (absent.missing_settings() or "")
    assert CodeSource(()).unable == ("run_code",)
    assert not await CodeSource([RunCode(absent, sandbox())]).tools()
