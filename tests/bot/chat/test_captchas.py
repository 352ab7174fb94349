"""Captchas: taken in whatever form people paste them; what waited for one goes out at once."""

from datetime import timedelta

import pytest

from bot.chat.captchas import Captchas, solution_in
from bot.clock import SetClock
from bot.errors import CallRefused, Disconnected
from bot.events import ChatId, Reply, Styled, dump_value
from bot.metrics import Counts
from store import Repositories, Store
from tests.bot.loops.fake_transport import FakeTransport
from tests.conftest import NOON

TOKEN = "signal-hcaptcha.5fad97ac-7d06-4e44-b18a-b950b20148ff.challenge.P1_eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.h-T_w"


def test_what_people_paste_is_understood() -> None:
    """With and without what stands around it; anything else is none, the address of the page itself included."""
    for pasted in (
        f"  signalcaptcha://{TOKEN}\n",
        f"'signalcaptcha://{TOKEN}'",
        f"<signalcaptcha://{TOKEN}>",
        f'<a href="signalcaptcha://{TOKEN}">Open Signal</a>',
        f"[Open Signal](signalcaptcha://{TOKEN})",
        f"signalcaptcha://{TOKEN[:40]}\r\n  {TOKEN[40:]}",
        f"SignalCaptcha:{TOKEN}",
        f"Open Signal: signalcaptcha://{TOKEN}.",
    ):
        assert solution_in(pasted) == TOKEN, pasted
    page = "https://signalcaptchas.org/challenge/generate.html"
    for pasted in ("", "   ", TOKEN, "signalcaptcha://", page, "hello", "a" * 10**6):
        assert solution_in(pasted) is None, pasted


async def waiting(store: Store, *, due_in: timedelta) -> None:
    conversation = await store.conversation("direct:alice", now=NOON)

    def put(repos: Repositories) -> None:
        turn = repos.turns.begin(conversation, now=NOON)
        reply = dump_value(Reply(chat=ChatId("direct:alice"), content=Styled(text="one")))
        repos.outbox.put(conversation, turn, 0, reply, in_group=False, now=NOON + due_in)

    await store.transaction(put)


async def test_what_waited_is_due_at_once(store: Store, clock: SetClock) -> None:
    """And its loop hears of it."""
    await waiting(store, due_in=timedelta(minutes=15))
    transport, counts = FakeTransport(challenge="token"), Counts()
    store.wakeups["outbox"].clear()
    await Captchas(transport, store, clock, counts).solve(f"signalcaptcha://{TOKEN}")
    assert (transport.captchas, transport.challenge, counts.all()) == ([TOKEN], None, {"captchas_solved": 1})
    assert store.wakeups["outbox"].is_set()
    assert len(await store.transaction(lambda repos: repos.outbox.begin(now=NOON, limit=5))) == 1


@pytest.mark.parametrize("error", [CallRefused("Captcha rejected"), Disconnected("down")])
async def test_a_captcha_that_is_not_taken_wakes_nothing(store: Store, clock: SetClock, error: Exception) -> None:
    """The bridge's own words are told; what waits, waits on."""
    await waiting(store, due_in=timedelta(minutes=15))
    transport = FakeTransport(challenge="token", refuses=error)
    with pytest.raises(type(error), match=str(error)):
        await Captchas(transport, store, clock, Counts()).solve(f"signalcaptcha://{TOKEN}")
    with pytest.raises(CallRefused, match="no solved captcha"):
        await Captchas(transport, store, clock, Counts()).solve("hello")
    assert await store.transaction(lambda repos: repos.outbox.begin(now=NOON, limit=5)) == ()
