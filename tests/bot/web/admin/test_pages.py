"""What the pages do to settings: all of it or nothing, never over the environment, and never a key on a page."""

import asyncio
import base64
import html
import json
import re
from pathlib import Path

from aiohttp import web

from bot.app import build_service
from bot.errors import ConfigError
from bot.events import Account, PersonId
from bot.settings.load import SettingsFile
from bot.signal.signal_cli.transport import SignalCli as SignalCliTransport
from bot.web.admin.guard import LIVE
from bot.web.admin.world import Wait
from tests.bot.loops.fake_transport import envelope
from tests.bot.web.admin.conftest import NOTHING, Visitor, settings_of, visited
from tests.conftest import NOON
from tests.servers.base import Seen, Server, hang
from tests.servers.envelopes import ACCOUNT
from tests.servers.openai import OpenAIServer
from tests.servers.signal_cli import SignalCli
from tools import CATALOG

KEY = "sk-ant-very-secret-0123456789"
DAYS = "HISTORY__RETENTION_DAYS"


def kept(visitor: Visitor) -> dict[str, str]:
    return dict(visitor.site.world.file.read())


async def test_a_change_is_kept_and_taken_up(visitor: Visitor) -> None:
    """It stands in the file and on the page."""
    page = await visitor.do("/setup/tools", "retention", **{DAYS: "77"})
    assert "Saved." in page.text
    assert 'value="77"' in page.text
    assert kept(visitor) == {DAYS: "77"}
    assert "Saved." not in (await visitor.get("/setup/tools")).text
    await visitor.post("/setup/tools", {"do": "retention", DAYS: "", f"was:{DAYS}": "77"})
    assert "Saved." not in (await visitor.get("/setup/tools", {LIVE: "yes"})).text  # a page that was left open
    assert "Saved." in (await visitor.get("/setup/tools")).text
    assert kept(visitor) == {}


async def test_every_field_is_a_setting_that_exists(visitor: Visitor) -> None:
    """The tables name no other; each form has its button, and each key a page where it comes from."""
    world = visitor.site.world
    for page in visitor.site.pages:
        for form in page.forms:
            for name in (*form.fixed, *(field.setting for field in form.fields)):
                assert world.file.winner(name) == "", name
            if form.name not in {"server", "databases"}:
                assert all(field.key_page.startswith("https://") for field in form.fields if field.kind == "secret")
            assert form.name in page.buttons


async def test_every_tool_says_what_it_does_and_who_sees_what_is_asked(tmp_path: Path) -> None:
    """Those of Aldis itself, also those that lack something, which lead to the form that sets them up."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        page = await visitor.get("/setup/tools")
    rows = page.text.split('<div class="row item tool">')[1:]
    assert len(rows) == len(CATALOG)
    assert all(re.search(r"<p>[A-Z].*\.</p>", row) for row in rows)
    lacking = rows[list(CATALOG).index("twitter")]
    assert "not set up" in lacking
    assert 'href="#x"' in lacking
    assert "free" not in lacking
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


async def test_the_first_page_says_what_aldis_waits_for(visitor: Visitor) -> None:
    """Until an account is missing: then the page leads to the account. Nothing is green meanwhile."""
    world = visitor.site.world
    for wait in (Wait("waiting for Signal: nothing answers"), Wait("several accounts", "choice")):
        world.waits = wait
        page = (await visitor.get("/")).text
        assert f"Aldis does not answer yet: {wait.words}." in page
        assert "Setup is not finished: The account." in page
        assert "badge ok" not in page
        account = (await visitor.get("/setup/account")).text
        assert ("Which account?" in account) == (wait.ends_by == "choice")
    world.waits = Wait("no account is linked yet", "link")
    assert "does not answer" not in (await visitor.get("/")).text


async def test_a_bridge_is_tried_when_its_address_is_saved(tmp_path: Path) -> None:
    """And kept only where a bridge answers, unless one is set elsewhere; a button pressed twice begins one linking."""
    async with SignalCli() as signal, visited(tmp_path) as visitor:
        await visitor.enter()
        for url, remark, file in (
            (NOTHING, '"remark wrong" role="alert">It was refused: nothing answers', {}),
            (signal.url, '"remark done" role="status">Saved: signal-cli answers there.', {"SIGNAL__URL": signal.url}),
        ):
            assert remark in (await visitor.do("/setup/account", "bridge", url=url)).text
            assert kept(visitor) == file
        await asyncio.gather(*(visitor.post("/setup/account", {"do": "link"}) for _ in range(2)))
        [linking] = [task for task in asyncio.all_tasks() if task.get_name() == "linking"]
        await signal.scan(ACCOUNT)
        await linking
        assert f"The user {ACCOUNT} already exists" in (await visitor.get("/setup/account")).text
        visitor.site.world.file = SettingsFile(environ={"SIGNAL__URL": NOTHING}, env_file=None)
        assert "is set in the environment" in (await visitor.do("/setup/account", "bridge", url=signal.url)).text


async def test_who_writes_while_the_account_is_linked_is_listed(tmp_path: Path) -> None:
    """On any page of a browser that is signed in, as long as there is no admin; a stranger begins nothing."""
    async with visited(tmp_path) as visitor:
        pairing = visitor.site.world.pairing
        await visitor.get("/setup/account")
        pairing.note(envelope("Hello?", author="alice"), NOON)
        assert pairing.callers() == ()
        await visitor.enter()
        await visitor.get("/setup/account")
        pairing.note(envelope("Hello?", author="alice"), NOON)
        assert [caller.person for caller in pairing.callers()] == ["alice"]


async def test_what_is_wrong_changes_nothing(visitor: Visitor, tmp_path: Path) -> None:
    """The page says what, once, in its title, too; the file stays as it was; only copies and the key are given out."""
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "aldis-20261121T120000Z.db").write_bytes(b"a copy")
    for path, button, form, words in [
        ("/setup/tools", "retention", {DAYS: "soon"}, "should be a valid integer"),
        ("/people", "budgets", {"BUDGET__ALL_DAY_USD": "-1"}, "BUDGET__ALL_DAY_USD"),
        ("/people", "add", {"person": "Alice"}, "neither a phone number"),
        ("/setup/you", "me", {"person": "mallory"}, "no longer listed"),
        ("/setup/you", "place", {"timezone": "Atlantis", "language": "en"}, "no such time zone"),
        ("/setup/you", "place", {"timezone": "Oslo", "language": "tlh"}, "LOCALE__LANGUAGE"),
        ("/setup/tools", "switch", {"tool": "../../etc", "to": "off"}, "no such tool"),
        ("/setup/account", "bridge", {"url": "javascript:alert(1)"}, "SIGNAL__URL"),
        ("/setup/account", "account", {"SIGNAL__ACCOUNT": "x\nACCESS__ALLOWED=*"}, "SIGNAL__ACCOUNT"),
        ("/setup/model", "anthropic", {}, "Something is missing: The key."),
        ("/setup/model", "server", {"LLM__OPENAI__BASE_URL": NOTHING}, "Nothing was saved"),
        ("/setup/model", "test", {}, "without a model"),
        ("/upkeep", "backup", {}, "does not run yet"),
        ("/upkeep", "file", {"file": "../settings.env"}, "no longer there"),
        ("/upkeep", "restore", {"file": "../aldis.db"}, "no longer there"),
    ]:
        page = html.unescape((await visitor.do(path, button, **form)).text)
        assert words in page.partition("</title>")[0], (button, page.partition("</title>")[0])
        assert kept(visitor) == {}, button
    assert (await visitor.get("/setup/model")).text.count("remark wrong") == 1  # which is hidden
    (tmp_path / "aldis.db-master-key").write_bytes(b"a key")
    for name, content in (("aldis-20261121T120000Z.db", "a copy"), ("aldis.db-master-key", "a key")):
        assert (await visitor.post("/upkeep", {"do": "file", "file": name})).text == content


async def test_where_people_are_is_asked_with_who_they_are(visitor: Visitor) -> None:
    """Time zone, place and language; an unknown zone is left to the browser to fill in."""
    assert 'id="timezone" name="timezone" type="text" value=""' in (await visitor.get("/setup/you")).text
    page = await visitor.do("/setup/you", "place", timezone="berlin", place=" Kreuzberg ", language="de")
    assert kept(visitor) == {
        "LOCALE__TIMEZONE": "Europe/Berlin",
        "LOCALE__PLACE": "Kreuzberg",
        "LOCALE__LANGUAGE": "de",
    }
    assert 'value="Europe/Berlin"' in page.text


async def test_two_pages_that_add_a_person_at_once(visitor: Visitor) -> None:
    """The second is refused until the first is kept, so no person is lost; each can be removed."""
    restart, first, second = visitor.site.world.restart, "+15550100001", "+15550100002"

    async def restart_slowly() -> None:
        await asyncio.sleep(0.01)
        await restart()

    visitor.site.world.restart = restart_slowly
    added = [visitor.post("/people", {"do": "add", "list": "allowed", "person": one}) for one in (first, second)]
    assert sorted(answer.status for answer in await asyncio.gather(*added)) == [303, 422]
    for one in (first, second):
        await visitor.do("/people", "add", list="allowed", person=one)
    assert sorted(kept(visitor)["ACCESS__ALLOWED"].split(",")) == [first, second]
    await visitor.do("/people", "remove", list="allowed", entry=first)
    assert kept(visitor)["ACCESS__ALLOWED"] == second


async def test_a_page_that_was_shown_before_takes_nothing_back(visitor: Visitor) -> None:
    """Of a form with many fields those are changed that were changed in it."""
    one, all_ = "BUDGET__PERSON_DAY_USD", "BUDGET__ALL_MONTH_USD"
    await visitor.do("/people", "budgets", **{one: "1,5", f"was:{one}": ""})
    page = await visitor.do("/people", "budgets", **{all_: "10", f"was:{all_}": "", one: "", f"was:{one}": ""})
    assert kept(visitor) == {one: "1.5", all_: "10"}
    assert f'name="was:{one}" value="1.5"' in page.text
    first, second, third = (base64.b64encode(letter * 32).decode() for letter in (b"A", b"B", b"C"))
    await visitor.do("/people", "groups", **{f"group:{first}": "on", f"group:{second}": "on"})
    await visitor.do("/people", "groups", **{f"group:{third}": "on", f"was:group:{first}": "on"})
    assert kept(visitor)["ACCESS__GROUPS"] == f"{second},{third}"


async def test_settings_that_only_a_start_refuses_are_taken_back(visitor: Visitor) -> None:
    """The file has what it had before; a value of the environment is not written over at all."""
    world = visitor.site.world
    await visitor.do("/setup/tools", "retention", **{DAYS: "5"})

    async def refuse() -> None:
        raise ConfigError("BUDGET__ALL_DAY_USD: no model has a price")

    world.restart = refuse
    assert "no model has a price" in (await visitor.do("/setup/tools", "retention", **{DAYS: "6"})).text
    assert kept(visitor) == {DAYS: "5"}
    world.file = SettingsFile(world.file.path, environ={DAYS: "3"}, env_file=None)
    page = await visitor.do("/setup/tools", "retention", **{DAYS: "6"})
    assert f"{DAYS} is set in the environment" in page.text
    assert kept(visitor) == {DAYS: "5"}


async def test_keys_are_never_shown(visitor: Visitor) -> None:
    """On no page, however often it is looked at; that they are set is, and they can be removed."""
    world = visitor.site.world
    changes = {
        "LLM__ANTHROPIC__API_KEY": KEY,
        "LLM__ANTHROPIC__BASE_URL": NOTHING,
        "TOOLS__WEB_SEARCH__API_KEY": KEY,
        "TOOLS__TWITTER__BEARER_TOKEN": KEY,
        "TOOLS__DB_QUERY__DATABASES": json.dumps({"club": {"address": f"sqlite:///{KEY}", "tables": {"a": ["b"]}}}),
    }
    await asyncio.to_thread(world.file.write, changes)
    world.settings = world.file.preview({})
    for page in visitor.site.pages:
        answer = await visitor.get(page.path)
        assert answer.status == (303 if page.path == "/code" else 200), page.path
        assert KEY not in answer.text
    assert 'value="x:remove"' in (await visitor.get("/setup/tools")).text
    await visitor.do("/setup/tools", "x:remove")
    await visitor.do("/setup/tools", "databases:remove")
    assert set(kept(visitor)) == set(list(changes)[:3])


class NoModels(Server):
    def respond(self, seen: Seen, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": []})


async def test_a_server_is_saved_only_if_a_model_is_behind_it(tmp_path: Path) -> None:
    """None at all, or not the one that is named: nothing is kept. The test question then comes with all tools."""
    async with NoModels() as empty, OpenAIServer(local=True, models=("llama",)) as server, visited(tmp_path) as visitor:
        await visitor.enter()
        address = "LLM__OPENAI__BASE_URL"
        page = await visitor.do("/setup/model", "server", **{address: f"{empty.url}/v1"})
        assert f"Nothing was saved: openai at {empty.url}/v1 answers, but has no model yet." in page.text
        given = {address: server.base_url, "LLM__OPENAI__MODEL": "lama"}
        assert "does not list the model lama" in (await visitor.do("/setup/model", "server", **given)).text
        assert kept(visitor) == {}
        given["LLM__OPENAI__MODEL"] = "llama"
        assert "Saved: the server answers" in (await visitor.do("/setup/model", "server", **given)).text
        page = html.unescape((await visitor.do("/setup/model", "test")).text)
        assert re.search(r"llama answers, offered \d\d tools: “.*” It took \d+\.\d s", page)
        sent = json.loads(server.requests[-1].body)
        assert {"get_weather", "web_search"} <= {tool["function"]["name"] for tool in sent["tools"]}


async def test_a_bridge_that_takes_calls_and_never_answers_is_a_row(tmp_path: Path) -> None:
    """The first page comes all the same, with the figures of the store, and says what does not answer."""
    account = Account(id=PersonId("alice"), number="+15550100001")
    async with SignalCli() as signal:
        signal.faults += [hang] * 20
        settings = settings_of(tmp_path, SIGNAL__URL=signal.url, LLM__PROVIDERS="offline")
        transport = SignalCliTransport(settings.signal.url, account, call_seconds=0.1)
        async with (
            visited(tmp_path, settings=settings) as visitor,
            build_service(settings, transport, realm="signal") as aldis,
        ):
            await visitor.enter()
            with visitor.site.world.showing(aldis.running):
                page = await visitor.get("/")
        assert 0 < len(signal.faults) < 20
    assert page.status == 200
    assert "Something does not answer: " in page.text
    assert 'id="today"' in page.text
