"""What the pages do to settings: all of it or nothing, never over the environment, and never a key on a page."""

import asyncio
import base64
import html
import json
import os
import re
import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from bot.errors import ConfigError
from bot.loops.watchdog import CLOSED
from bot.settings.file import SettingsFile
from bot.signal.accounts import NO_ACCOUNT
from bot.web.admin.overview import Task, Today
from bot.web.admin.pages import PageTemplates
from bot.web.admin.plots import by_day, largest
from tests.bot.loops.fake_transport import envelope
from tests.bot.web.admin.browsers import settings_of, visited
from tests.servers.envelopes import ACCOUNT
from tests.servers.model_hosts import ModelHost, Software
from tests.servers.openai import OpenAIServer
from tests.servers.signal_cli import SignalCli
from tools import CATALOG

KEY = "sk-ant-very-secret-0123456789"


async def test_a_change_is_kept_and_taken_up(tmp_path: Path) -> None:
    """It stands in the file and on the page; the audit log names the setting and not the value."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        answer = await visitor.post("/setup/tools/retention", {"days": "77"})
        assert answer.headers["Location"] == "/setup/tools"
        page = await visitor.get("/setup/tools")
        assert "Saved." in page.text
        assert 'value="77"' in page.text
        assert dict(visitor.site.world.file.read()) == {"HISTORY__RETENTION_DAYS": "77"}
        [action] = visitor.audit.newest(1)
        assert (action.what, action.about) == ("settings.changed", "HISTORY__RETENTION_DAYS")
        await visitor.post("/setup/tools/retention", {"days": ""})
        assert dict(visitor.site.world.file.read()) == {}


async def test_a_port_that_is_taken_is_the_operators_mistake(tmp_path: Path) -> None:
    """The variable of these pages is named, not that of the health page."""
    async with visited(tmp_path) as visitor:
        with pytest.raises(
            ConfigError, match=rf"^WEB__ADMIN_PORT: \S+:{visitor.place.port} cannot be listened on \(.*\); "
        ):
            async with visitor.site.serving():
                raise AssertionError("they were served twice")


async def test_every_tool_says_what_it_does(tmp_path: Path) -> None:
    """Those of Aldis itself, also those that lack something; what such a one would cost is not shown."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        page = await visitor.get("/setup/tools")
        rows = page.text.split('action="/setup/tools/switch"')[1:]
        assert len(rows) == len(CATALOG)
        assert all(re.search(r"<p>[A-Z].*\.</p>", row) for row in rows)
        lacking = rows[list(CATALOG).index("twitter")]
        assert "not set up" in lacking
        assert "free" not in lacking


async def test_who_sees_what_is_asked(tmp_path: Path) -> None:
    """Of every tool, with everything set up."""
    databases = {"club": {"address": "postgresql://aldis@127.0.0.1:1/club", "tables": {"people": ["name"]}}}
    servers = {"lamps": {"url": "http://127.0.0.1:1/mcp"}}
    settings = settings_of(
        tmp_path,
        TOOLS__TWITTER__BEARER_TOKEN="t",
        TOOLS__IMAGES__API_KEY="k",
        TOOLS__DB_QUERY__DATABASES=json.dumps(databases),
        TOOLS__MCP__SERVERS=json.dumps(servers),
    )
    seen = {one for options in settings.tools.options_by_name.values() for one in options.seen_by() or ()}
    assert {"your own PostgreSQL servers: the question", "lamps: what it is called with"} <= seen
    async with visited(tmp_path, settings=settings) as visitor:
        await visitor.enter()
        hints = re.findall(r'<p class="hint">(.*)</p>', html.unescape((await visitor.get("/setup/tools")).text))
    assert all(any(one in hint for hint in hints) for one in seen)


async def test_what_is_refused_is_a_page(tmp_path: Path) -> None:
    """An address where there is nothing, and a form of another session."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        nothing = await visitor.get("/nowhere")
        foreign = await visitor.post("/setup/tools/retention", {"days": "5", "token": "another"})
    assert (nothing.status, foreign.status) == (404, 403)
    assert "There is nothing at this address (error 404)." in nothing.text
    assert "This form belongs to another session (error 403)" in foreign.text


async def test_the_doctor_s_findings_stand_on_the_page(tmp_path: Path) -> None:
    """With what to do about each."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        await visitor.post("/upkeep/examine")
        assert "access: nobody may write<br>set ACCESS__ALLOWED" in (await visitor.get("/upkeep")).text


def test_the_first_page_says_what_needs_doing_then_today() -> None:
    """One thing, one remedy, one button; nothing is green while something needs doing."""
    tasks = (
        Task(level="problem", what=CLOSED),
        Task(level="warning", what="disk: 12 MB are free where the store is", advice="free some space"),
        Task(level="warning", what="Setup is not finished: The model.", path="/setup/model", button="The model"),
    )
    today = Today(
        messages=12,
        people=3,
        cost_usd=Decimal("0.42"),
        model="anthropic/claude-haiku-5-5",
        reminders=(datetime(2026, 11, 27, 20, 14, tzinfo=UTC),),
        backed_up_at=None,
        running_for=timedelta(hours=3, minutes=5),
    )
    part = html.unescape(PageTemplates().html("part_state", tasks=tasks, today=today))
    assert f'<li class="problem"><strong>{CLOSED}</strong>' in part
    assert "<strong>disk: 12 MB are free where the store is</strong><br>free some space" in part
    assert '<a class="button quiet" href="/setup/model">The model</a>' in part
    assert "badge ok" not in part
    for figure in ("<dd>12</dd>", "<dd>3</dd>", "<dd>US$0.42</dd>", "<dd>3 h 5 min</dd>", "20:14", "none yet"):
        assert figure in part
    assert '<span class="badge ok">' in PageTemplates().html("part_state", tasks=(), today=today)


async def test_the_first_page_says_what_aldis_waits_for(tmp_path: Path) -> None:
    """Until an account is missing: then the page leads to the account."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        world = visitor.site.world
        world.running = None
        for words in ("waiting for Signal: nothing answers", "SIGNAL__ACCOUNT: the bridge has several accounts"):
            world.wait_for(words)
            page = (await visitor.get("/")).text
            assert f"Aldis does not answer yet: {words}." in page
            assert "Setup is not finished: The account." in page
            assert "badge ok" not in page
            assert world.is_ambiguous == words.startswith("SIGNAL__ACCOUNT")
            assert not world.is_unlinked
        world.wait_for(NO_ACCOUNT)
        assert world.is_unlinked
        assert "waiting for Signal" not in (await visitor.get("/")).text


async def test_a_bridge_is_tried_when_its_address_is_saved(tmp_path: Path) -> None:
    """The page says how it went, and is not green where nothing, or something else, answers."""
    async with SignalCli(accounts=[]) as signal, visited(tmp_path) as visitor:
        await visitor.enter()
        for url, kind, words in (
            ("http://127.0.0.1:1", "wrong", "Saved, but no bridge can be used there: nothing answers"),
            (signal.url, "done", f"Saved: signal-cli answers at {signal.url}"),
        ):
            await visitor.post("/setup/account/bridge", {"url": url})
            page = html.unescape((await visitor.get("/setup/account")).text)
            assert f'<p class="remark {kind}" role="{"alert" if kind == "wrong" else "status"}">{words}' in page
            assert dict(visitor.site.world.file.read()) == {"SIGNAL__URL": url}


async def test_who_writes_while_the_account_is_linked_is_listed(tmp_path: Path) -> None:
    """On any page of somebody who is signed in, as long as there is no admin; what a stranger opens begins nothing."""
    async with visited(tmp_path) as visitor:
        callers = visitor.site.world.callers
        await visitor.get("/setup/account")
        callers.note(envelope("Hello?", author="alice"))
        assert callers.all() == ()
        await visitor.enter()
        await visitor.get("/setup/account")
        callers.note(envelope("Hello?", author="alice"))
        assert [caller.person for caller in callers.all()] == ["alice"]


@pytest.mark.parametrize(
    ("path", "form", "words"),
    [
        ("/setup/tools/retention", {"days": "soon"}, "must be a whole number"),
        ("/people/budgets", {"all_day_usd": "-1"}, "BUDGET__ALL_DAY_USD"),
        ("/people/add", {"person": "Alice"}, "neither a phone number"),
        ("/people/me", {"person": "mallory"}, "no longer listed"),
        ("/people/place", {"timezone": "Atlantis", "language": "en"}, "no such time zone"),
        ("/people/place", {"timezone": "Oslo", "language": "tlh"}, "LOCALE__LANGUAGE"),
        ("/setup/tools/switch", {"tool": "../../etc", "to": "off"}, "no such tool"),
        ("/setup/tools/key", {"name": "STORE__KEY", "value": "x"}, "no such tool"),
        ("/setup/account/bridge", {"url": "javascript:alert(1)"}, "SIGNAL__URL"),
        ("/setup/account/choose", {"account": "x\nACCESS__ALLOWED=*"}, "SIGNAL__ACCOUNT"),
        ("/setup/model/key", {"vendor": "openai\nX", "key": "k"}, "Something is missing"),
        ("/setup/account/verify", {"code": "123456"}, "no code to check"),
    ],
)
async def test_what_is_wrong_changes_nothing(path: str, form: dict[str, str], words: str, tmp_path: Path) -> None:
    """The page says what, and the file stays as it was."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        answer = await visitor.post(path, form)
        page = await visitor.get(answer.headers["Location"])
        assert words in page.text
        assert dict(visitor.site.world.file.read()) == {}


async def test_where_people_are_is_asked_with_who_they_are(tmp_path: Path) -> None:
    """Time zone, place and language; an unknown zone is left to the browser to fill in."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        assert 'id="timezone" name="timezone" type="text" value=""' in (await visitor.get("/setup/you")).text
        await visitor.post("/people/place", {"timezone": "berlin", "place": " Kreuzberg ", "language": "de"})
        given = {"LOCALE__TIMEZONE": "Europe/Berlin", "LOCALE__PLACE": "Kreuzberg", "LOCALE__LANGUAGE": "de"}
        assert dict(visitor.site.world.file.read()) == given


async def test_a_restart_does_not_forget_the_number_that_is_being_registered(tmp_path: Path) -> None:
    """Its code, which came meanwhile, registers it; then it is forgotten, and so is one that waited for a day."""
    kept = tmp_path / "aldis.db-registering"
    async with SignalCli(accounts=[], registration_captcha=None) as signal:
        settings = settings_of(tmp_path, SIGNAL__URL=signal.url)
        for number in (ACCOUNT, "+15550100009"):
            async with visited(tmp_path, settings=settings) as visitor:
                await visitor.enter()
                await visitor.post("/setup/account/register", {"number": number})
            assert (kept.read_text(), kept.stat().st_mode & 0o777) == (number, 0o600)
            if number != ACCOUNT:
                os.utime(kept, (time.time() - 90_000, time.time() - 90_000))
            async with visited(tmp_path, settings=settings) as visitor:
                await visitor.enter()
                page = (await visitor.get("/setup/account")).text
                assert ("/setup/account/verify" in page) == (number in page) == (number == ACCOUNT)
                answer = await visitor.post("/setup/account/verify", {"code": "123 456"})
                told = "is registered" if number == ACCOUNT else "no code to check"
                assert told in (await visitor.get(answer.headers["Location"])).text
            assert not kept.exists()


async def test_a_refused_form_has_what_was_typed_once_and_no_secret(tmp_path: Path) -> None:
    """The page that refuses shows it, escaped, and no other page; a value that is refused is not said to be set."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        typed = {"url": 'ftp://somewhere/"<b>', "key": "sk-secret"}
        answer = await visitor.post("/setup/model/server", typed)
        assert "somewhere" not in (await visitor.get("/people")).text
        page = (await visitor.get(answer.headers["Location"])).text
        assert 'value="ftp://somewhere/&#34;&lt;b&gt;"' in page
        assert '<details id="other-server" open>' in page
        assert "sk-secret" not in page
        assert "somewhere" not in (await visitor.get("/setup/model")).text
        await visitor.post("/people/budgets", {"all_day_usd": "much", "person_day_usd": "2"})
        page = (await visitor.get("/people")).text
        assert page.count('value="much"') == page.count('value="2"') == 1
        assert "it is set in" not in page
        assert "<title>It was refused: BUDGET__ALL_DAY_USD" in page


@pytest.mark.parametrize("is_refused", [False, True])
async def test_two_pages_that_add_somebody_at_once_add_both(tmp_path: Path, *, is_refused: bool) -> None:
    """The second is reckoned from what the first has kept, and goes with nothing that only a start refuses of it."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        restart, begins, may_end = visitor.site.world.restart, asyncio.Event(), asyncio.Event()

        async def restart_slowly() -> None:
            is_first = not begins.is_set()
            begins.set()
            await may_end.wait()
            if is_first and is_refused:
                raise ConfigError("BUDGET__ALL_DAY_USD: no model has a price")
            await restart()

        visitor.site.world.restart = restart_slowly
        first = asyncio.create_task(visitor.post("/people/add", {"person": "+15550100001", "list": "allowed"}))
        await begins.wait()
        second = asyncio.create_task(visitor.post("/people/add", {"person": "+15550100002", "list": "allowed"}))
        await visitor.get("/people")  # by now the second has been read as well
        may_end.set()
        assert {(await first).status, (await second).status} == {303}
        kept = "+15550100002" if is_refused else "+15550100001,+15550100002"
        assert visitor.site.world.file.read() == {"ACCESS__ALLOWED": kept}


async def test_a_page_that_was_shown_before_takes_nothing_back(tmp_path: Path) -> None:
    """Of a form with many fields those are changed that somebody has changed in it."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        await visitor.post("/people/budgets", {"person_day_usd": "1", "was:person_day_usd": ""})
        await visitor.post("/people/budgets", {"all_month_usd": "10", "was:all_month_usd": "", "person_day_usd": ""})
        budgets = {"BUDGET__PERSON_DAY_USD": "1", "BUDGET__ALL_MONTH_USD": "10"}
        assert visitor.site.world.file.read() == budgets
        assert 'name="was:person_day_usd" value="1"' in (await visitor.get("/people")).text
        first, second, third = (base64.b64encode(letter * 32).decode() for letter in (b"A", b"B", b"C"))
        await visitor.post("/people/groups", {f"group:{first}": "on", f"group:{second}": "on"})
        await visitor.post("/people/groups", {f"group:{third}": "on", f"was:group:{first}": "on"})
        assert visitor.site.world.file.read() == budgets | {"ACCESS__GROUPS": f"{second},{third}"}


async def test_settings_that_only_a_start_refuses_are_taken_back(tmp_path: Path) -> None:
    """The file has what it had before."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        await visitor.post("/setup/tools/retention", {"days": "5"})

        async def refuse() -> None:
            raise ConfigError("BUDGET__ALL_DAY_USD: no model has a price")

        visitor.site.world.restart = refuse
        await visitor.post("/setup/tools/retention", {"days": "6"})
        assert "no model has a price" in (await visitor.get("/setup/tools")).text
        assert dict(visitor.site.world.file.read()) == {"HISTORY__RETENTION_DAYS": "5"}


async def test_the_environment_wins_and_the_page_says_so(tmp_path: Path) -> None:
    """Nothing is written that would have no effect."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        world = visitor.site.world
        given = {"HISTORY__RETENTION_DAYS": "3"}
        world.file = SettingsFile(world.file.path, environ=given, env_file=None)
        await visitor.post("/setup/tools/retention", {"days": "6"})
        page = await visitor.get("/setup/tools")
        assert "HISTORY__RETENTION_DAYS is set in the environment" in page.text
        assert dict(world.file.read()) == {}


async def test_keys_are_never_shown(tmp_path: Path) -> None:
    """On no page, however often it is looked at."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        world = visitor.site.world
        changes = {
            "LLM__ANTHROPIC__API_KEY": KEY,
            "LLM__ANTHROPIC__BASE_URL": "http://127.0.0.1:1",
            "TOOLS__WEB_SEARCH__API_KEY": KEY,
        }
        await asyncio.to_thread(world.file.write, changes)
        world.settings = world.file.preview({})
        for path in ("/", "/setup/model", "/setup/tools", "/setup/you", "/setup/done", "/people", "/usage", "/upkeep"):
            page = await visitor.get(path)
            assert page.status == 200
            assert KEY not in page.text


async def test_the_master_key_wants_a_form(tmp_path: Path) -> None:
    """No link and no picture of another page gets it; who has it is written down."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        (tmp_path / "aldis.db-master-key").write_text("the key")
        assert (await visitor.get("/upkeep/key")).status == 405
        assert (await visitor.post("/upkeep/key", {"token": "x"})).status == 403
        answer = await visitor.post("/upkeep/key")
        assert (answer.text, answer.headers["Cache-Control"]) == ("the key", "no-store")
        assert visitor.audit.newest(1)[0].what == "key.downloaded"


def test_plots_say_what_was_spent() -> None:
    """Bars fit their frame, the grid begins at nothing, and nothing at all is an empty plot."""
    plot = by_day({"2026-11-21": Decimal("0.30"), "2026-11-22": Decimal(0), "2026-11-23": Decimal("1.7")})
    assert [amount for _, amount in plot.grid] == [0, 1, 2]
    assert all(bar.y >= 0 and bar.y + bar.height <= plot.height for bar in plot.bars)
    assert [bar.height > 0 for bar in plot.bars] == [True, False, True]
    assert by_day({}).is_empty
    assert by_day({"2026-11-21": Decimal(0)}).is_empty
    assert largest({"a": Decimal(1), "b": Decimal(4)}) == [("b", Decimal(4), 100.0), ("a", Decimal(1), 25.0)]


@pytest.mark.parametrize("software", ["ollama", "lm_studio"])
async def test_models_at_home_are_listed_with_their_windows(software: Software, tmp_path: Path) -> None:
    """Also where the server's list does not have them, so that it is asked about each."""
    async with OpenAIServer(local=True, models=("embed-1", "home-8b"), host=ModelHost(software)) as server:
        given = {"LLM__OPENAI__BASE_URL": server.base_url, "LLM__OPENAI__MODEL": "home-8b", "LLM__PROVIDERS": "openai"}
        async with visited(tmp_path, settings=settings_of(tmp_path, **given)) as visitor:
            await visitor.enter()
            page = await visitor.get("/setup/model")
    assert re.search(r'<option value="home-8b" selected>home-8b · 8\s192\s*</option>', page.text)


async def test_the_last_step_is_marked_where_somebody_has_been(tmp_path: Path) -> None:
    """It is nothing but a look: until then it is not done, however much else is."""
    settings = settings_of(tmp_path, LLM__PROVIDERS="offline", ACCESS__ADMINS="0d6f2f4e-1111-4222-8333-444455556666")
    async with visited(tmp_path, settings=settings) as visitor:
        visitor.site.world.has_account = True
        await visitor.enter()
        assert 'href="/setup/done" class="is-done"' not in (await visitor.get("/setup/you")).text
        assert 'href="/setup/you" class="is-done"' in (await visitor.get("/setup/you")).text
        assert 'href="/setup/done" class="is-done"' in (await visitor.get("/setup/done")).text
