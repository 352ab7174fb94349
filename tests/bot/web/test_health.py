"""The health page: well while messages come in and are answered, else not, and why."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from bot.clock import SetClock
from bot.events import dump_value
from bot.loops.watchdog import CAPTCHA, CLOSED
from bot.metrics import Counts
from bot.signal.protocol import StreamState
from bot.web.health import HealthPage, serve
from store import Store, open_store
from tests import arrivals
from tests.bot.loops.fake_transport import FakeTransport, envelope, watchdog_of
from tests.conftest import NOON
from tests.ports import free_port

LOOPBACK = "127.0.0.1"
TOO_LONG = "a message has been waiting for too long"


def page_of(store: Store, clock: SetClock, counts: Counts, transport: FakeTransport | None = None) -> HealthPage:
    transport = transport or FakeTransport(stream=StreamState(is_open=False))
    return HealthPage(transport, store, clock, counts, watchdog_of(transport, seconds=lambda: 100.0))


@asynccontextmanager
async def asking(shown: HealthPage | Callable[[], HealthPage | str]) -> AsyncGenerator[aiohttp.ClientSession]:
    port = free_port()
    served = (lambda: shown) if isinstance(shown, HealthPage) else shown
    async with serve(served, LOOPBACK, port), aiohttp.ClientSession(f"http://{LOOPBACK}:{port}") as http:
        yield http


async def state_of(http: aiohttp.ClientSession) -> tuple[int, dict[str, Any]]:
    async with http.get("/healthz") as response:
        return response.status, await response.json()


async def arrive(store: Store) -> None:
    await arrivals.arrive(store, envelope=dump_value(envelope("sesame", 1)))


OURS = ("10.0.0.7", "[fd00::7]:8787", "localhost:8787", "aldis:8787", "host.docker.internal:8787", "Aldis.Home.Arpa.:1")
STRANGE = ("evil.example:8787", "127.0.0.1.evil.example", "local.evil.example.", "[::1", "")


async def test_a_name_of_a_stranger_that_leads_here_shows_nothing() -> None:
    """A page in the operator's browser could read it otherwise; machines come by addresses, private names and ours."""
    async with asking(lambda: "it waits") as http:
        for host in (*OURS, *STRANGE):
            for path, status in (("/healthz", 503), ("/metrics", 200)):  # it is only starting
                async with http.get(path, headers={"Host": host}) as answer:
                    assert answer.status == (421 if host in STRANGE else status), host
                    assert (await answer.text() == "Not a name of this server.\n") == (host in STRANGE)


async def test_what_the_page_says_of_messages_that_wait(store: Store, clock: SetClock) -> None:
    """Counted at once, a problem after a quarter of an hour; no word of them and no name."""
    counts = Counts()
    counts.add("strangers")
    async with asking(page_of(store, clock, counts)) as http:
        await arrive(store)
        clock.move(900)
        status, state = await state_of(http)
        assert state["problems"] == [str(CLOSED)]
        clock.move(1)
        status, state = await state_of(http)
        assert (status, state["ok"], state["problems"]) == (503, False, [str(CLOSED), TOO_LONG])
        assert (state["inbox"], state["outbox"]) == ({"open": 1, "dead": 0}, {"open": 0, "dead": 0})
        assert state["counts"] == {"strangers": 1}
        assert "sesame" not in str(state)
        assert "alice" not in str(state)


async def test_a_store_that_fails_is_a_problem(path: Path, clock: SetClock) -> None:
    """The page answers all the same, and says what the store says."""
    async with open_store(path, realm="signal") as store:
        page = page_of(store, clock, Counts())
    async with asking(page) as http:
        status, state = await state_of(http)
        figures = await figures_of(http)
    assert (figures["aldis_store_up"], figures["aldis_stream_open"], "aldis_inbox_open" in figures) == (0, 0, False)
    assert (status, state) == (503, {"ok": False, "problems": ["the store fails: the store is closed", str(CLOSED)]})


async def test_what_the_lookout_sees_stands_on_the_page(store: Store, clock: SetClock) -> None:
    """Its problems make Aldis ill, and the token of a captcha is there for the operator who has to hand it in."""
    transport = FakeTransport(stream=StreamState(is_open=True), challenge="token-of-the-captcha")
    async with asking(page_of(store, clock, Counts(), transport)) as http:
        status, state = await state_of(http)
        assert (status, state["problems"], state["challenge"]) == (503, [str(CAPTCHA)], "token-of-the-captcha")
        transport.challenge = None
        status, state = await state_of(http)
        assert (status, state["problems"], state["challenge"]) == (200, [], None)


async def figures_of(http: aiohttp.ClientSession) -> dict[str, float]:
    async with http.get("/metrics") as response:
        assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        lines = (await response.text()).splitlines()
    samples = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
    return {name: float(value) for name, value in samples}


async def test_figures_for_prometheus(store: Store, clock: SetClock) -> None:
    """Counts and gauges; what is not known is left out."""
    stream = StreamState(is_open=True, heard_at=88.0)
    await arrive(store)
    clock.move(30)
    async with asking(page_of(store, clock, Counts(), FakeTransport(stream=stream, challenge="token"))) as http:
        figures = await figures_of(http)
    wanted = {
        "aldis_streams_total": 0,
        "aldis_ready": 1,
        'aldis_finding{kind="key"}': 0,
        "aldis_stream_open": 1,
        "aldis_heard_seconds_ago": 12,
        "aldis_captcha_wanted": 1,
        "aldis_store_up": 1,
        "aldis_inbox_open": 1,
        "aldis_inbox_dead": 0,
        "aldis_inbox_oldest_seconds": 30,
        "aldis_outbox_open": 0,
    }
    assert figures | wanted == figures
    assert not {"aldis_linked", "aldis_cells_hold", "aldis_disk_free_bytes"} & figures.keys()


async def test_before_aldis_runs_the_page_says_what_it_waits_for(store: Store, clock: SetClock) -> None:
    """Ill, and one sentence; once it runs, its state."""
    shown: list[HealthPage | str] = ["waiting for Signal: nothing answers"]
    async with asking(lambda: shown[-1]) as http:
        assert await state_of(http) == (503, {"ok": False, "problems": ["waiting for Signal: nothing answers"]})
        assert (await figures_of(http))["aldis_ready"] == 0
        shown.append(page_of(store, clock, Counts(), FakeTransport(stream=StreamState(is_open=True))))
        assert (await state_of(http))[0] == 200


async def test_who_is_not_trusted_stands_on_the_page_by_label(store: Store, clock: SetClock) -> None:
    """With what to do, as long as it is so; what is held for nobody who is known is told, too."""
    async with asking(page_of(store, clock, Counts(), FakeTransport(stream=StreamState(is_open=True)))) as http:
        await store.transaction(lambda repos: repos.people.suspect("alice", "key-2", account="+15550100001", now=NOON))
        label = await store.read(lambda repos: repos.people.label("alice", account="+15550100001"))
        status, state = await state_of(http)
        assert (status, len(state["problems"])) == (503, 1)
        assert f"send /trust {label} in Signal" in state["problems"][0]
        assert "alice" not in str(state)
        await store.transaction(lambda repos: repos.people.trust(label))
        assert (await state_of(http))[0] == 200
        for chat, words in (("direct:alice", "held in 1 conversation,"), ("direct:bob", "held in 2 conversations,")):
            conversation = await store.conversation(chat, now=NOON)
            await store.transaction(lambda repos, it=conversation: repos.outbox.hold(it, now=NOON))
            status, state = await state_of(http)
            assert (status, words in state["problems"][0]) == (503, True)
