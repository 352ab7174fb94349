"""Set-up and administration in a real browser: the whole way from an empty folder to the first answer, and wrong turns.

Debian's chromium, driven by Playwright; where it is not there these tests are skipped, and say so.
"""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from bot.clock import Clock
from store import ConversationId, LedgerEntry, TurnId, open_store
from tests.flows.processes import Process, started
from tests.flows.test_setup import link_in
from tests.ports import free_port
from tests.servers.envelopes import ACCOUNT, ALICE, BOB, message
from tests.servers.openai import OpenAIServer
from tests.servers.script import say
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_server import SignalServer
from tests.waiting import WAIT_SECONDS, eventually

CHROMIUM = Path("/usr/bin/chromium")

pytestmark = pytest.mark.skipif(
    not CHROMIUM.exists(), reason="NO BROWSER: install Debian's chromium, or the pages are not tested in one"
)
expect.set_options(timeout=WAIT_SECONDS * 1000)


async def spend(folder: Path) -> None:
    """Some weeks in which two people asked for things."""
    async with open_store(folder / "aldis.db", realm="signal") as store:
        now = Clock().now()
        for back in range(29, -1, -1):
            at, person, model = now - timedelta(days=back), (BOB, ALICE, ALICE)[back % 3], ("haiku", "luna")[back % 2]
            cost = Decimal(2 + back * 7 % 11) / 100
            asked = LedgerEntry(kind="model", name=model, outcome="ok", input_tokens=2400, cost_usd=cost)
            entries = (asked, LedgerEntry(kind="tool", name="weather", outcome="ok"))
            await store.transaction(
                lambda repos, at=at, person=person, entries=entries: repos.ledger.add(
                    ConversationId(0), TurnId(0), person.uuid, entries, now=at
                )
            )


@asynccontextmanager
async def browser() -> AsyncGenerator[Browser]:
    async with async_playwright() as playwright:
        found = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        try:
            yield found
        finally:
            await found.close()


@dataclass
class Visit:
    page: Page
    signal: SignalServer
    console: Process
    link: str
    problems: list[str]

    @property
    def origin(self) -> str:
        return self.link.partition("/enter/")[0]

    async def enter(self) -> None:
        await self.page.goto(self.link)
        await self.page.get_by_role("button", name="Open").click()
        await expect(self.page.get_by_role("heading", name="Overview", level=1)).to_be_visible()

    async def go(self, path: str) -> None:
        await self.page.goto(self.origin + path)

    async def push(self, name: str) -> None:
        await self.page.get_by_role("button", name=name, exact=True).first.click()

    async def link_account(self) -> None:
        await self.show_code()
        await self.scan_code()

    async def show_code(self) -> None:
        await self.go("/setup/account")
        await self.push("Show the QR code")
        await expect(self.page.get_by_role("img", name="QR code for linking")).to_be_visible()
        await expect(self.page.get_by_role("button", name="Show the QR code")).to_have_count(0)

    async def scan_code(self) -> None:
        await self.signal.scan(ACCOUNT)
        await expect(self.page.get_by_text(f"Aldis answers for {ACCOUNT}")).to_be_visible()


@asynccontextmanager
async def visiting(
    folder: Path, *, signal: SignalServer | None = None, settings: dict[str, str] | None = None, **context: object
) -> AsyncGenerator[Visit]:
    """A browser at the pages of a fresh Aldis. What the browser complains of fails the test."""
    async with AsyncExitStack() as stack:
        server = signal or await stack.enter_async_context(SignalCli(accounts=[], receipts_mode="at_once"))
        given = {"SIGNAL__URL": server.url, "WEB__ADMIN_PORT": str(free_port()), **(settings or {})}
        console = await stack.enter_async_context(started("setup", settings=given, folder=folder))
        found = await stack.enter_async_context(browser())
        page = await (await found.new_context(locale="en-GB", **context)).new_page()  # pyright: ignore[reportArgumentType]
        page.set_default_timeout(WAIT_SECONDS * 1000)
        problems: list[str] = []
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda asked: problems.append(asked.url) if "//127.0.0.1:" not in asked.url else None)
        yield Visit(page, server, console, await link_in(console), problems)
        assert not [one for one in problems if "Content Security" in one or "http" in one[:4]]


async def test_from_an_empty_folder_to_the_first_answer(tmp_path: Path) -> None:
    """The account is linked, a model found, the first who writes becomes the admin, and is answered."""
    async with OpenAIServer(local=True, models=("llama-small", "llama-large")) as model, visiting(tmp_path) as visit:
        page = visit.page
        await visit.enter()
        await visit.link_account()
        await page.get_by_role("link", name="Next: The model").click()
        await page.get_by_text("A server of your own").click()
        await page.locator("#server").get_by_label("Address").fill(model.base_url)
        await visit.push("A server of your own: Try and save")
        await expect(page.get_by_text("Saved: the server answers, and takes the key.")).to_be_visible()
        await page.get_by_label("Another model on this server").select_option("llama-large")
        await visit.push("Use this")
        await expect(page.get_by_text("llama-large answers from now on")).to_be_visible()
        model.scripted(say("Yes."))
        await visit.push("Ask it something")
        await expect(page.get_by_text("llama-large answers, offered")).to_be_visible()
        model.scripted(say("I have waited for that."))
        await visit.go("/setup/you")
        await expect(visit.page.get_by_text("No one has written yet")).to_be_visible()
        await visit.signal.deliver(message("something private", author=ALICE))
        await visit.page.get_by_role("button", name="This is me: Alice").click()
        await expect(visit.page.get_by_text("it answers you now").first).to_be_visible()
        await visit.signal.until(lambda: any("I have waited for that." in sent.text for sent in visit.signal.sent))
        await page.get_by_role("link", name="Next: What it may do").click()
        await page.get_by_role("button", name="weather: Switch off").click()
        await expect(page.get_by_role("button", name="weather: Switch on")).to_be_visible()
        await page.get_by_role("link", name="Next: Finish").click()
        await expect(page.get_by_text("Aldis is set up")).to_be_visible()
        async with page.expect_download() as downloading:
            await visit.push("Download the key")
        download = await downloading.value
        assert download.suggested_filename == "aldis.db-master-key"
        model.scripted(say("Good to see you."))
        await visit.signal.deliver(message("hello", author=ALICE))
        await visit.signal.until(lambda: any("Good to see you." in sent.text for sent in visit.signal.sent))
        written = (tmp_path / "settings.env").read_text()
        assert f"ACCESS__ADMINS='{ALICE.uuid}'" in written
        assert "LLM__OPENAI__MODEL='llama-large'" in written
        assert "TOOLS__WEATHER__ENABLED='false'" in written
        assert "something private" not in (await page.content()) + visit.console.err.text + written


async def test_without_javascript_and_by_keyboard(tmp_path: Path) -> None:
    """All but the live parts work without a script; everything is reached by Tab, in an order that shows."""
    async with visiting(tmp_path, java_script_enabled=False) as visit:
        page = visit.page
        await visit.enter()
        await visit.go("/setup/model")
        await page.get_by_text("Without a model").click()
        await page.get_by_role("button", name="Without a model: Continue without one").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("Aldis answers without a model")).to_be_visible()
        await visit.go("/setup/model")
        await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement.className") == "skip"


_ACCESSIBLE = """() => {
  const wrong = [];
  for (const one of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
    if (!one.labels.length && !one.getAttribute("aria-label")) wrong.push("no label: " + one.outerHTML);
  for (const one of document.querySelectorAll("button, a, summary"))
    if (!one.textContent.trim() && !one.getAttribute("aria-label")) wrong.push("no name: " + one.outerHTML);
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of ids) if (ids.filter((other) => other === id).length > 1) wrong.push("twice: " + id);
  const levels = [...document.querySelectorAll("h1, h2, h3")].map((one) => +one.tagName[1]);
  if (levels.filter((level) => level === 1).length !== 1) wrong.push("headings: " + levels);
  levels.forEach((level, at) => { if (at && level > levels[at - 1] + 1) wrong.push("headings: " + levels); });
  if (document.querySelectorAll("main, header").length !== 2) wrong.push("landmarks");
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) wrong.push("wider than the screen");
  return wrong;
}"""


async def test_every_page_fits_a_phone_and_a_screen_reader(tmp_path: Path) -> None:
    """Labels, names, headings in order, landmarks, and nothing wider than 360 pixels."""
    await spend(tmp_path)
    async with visiting(tmp_path, viewport={"width": 360, "height": 740}) as visit:
        await visit.enter()
        await visit.link_account()
        await eventually(lambda: visit.signal.streams_open)
        steps = [f"/setup/{step}" for step in ("account", "model", "you", "tools", "done")]
        for path in ("/", *steps, "/people", "/usage", "/upkeep"):
            await visit.go(path)
            assert await visit.page.evaluate(_ACCESSIBLE) == [], path


async def test_a_page_that_stays_open_over_a_restart(tmp_path: Path) -> None:
    """It says that it may be old, a form elsewhere that it was not taken; both go on once somebody is in again."""
    async with visiting(tmp_path) as visit:
        await visit.enter()
        lost = visit.page.get_by_text("The connection to Aldis is lost")
        other = await visit.page.context.new_page()
        await other.goto(visit.link)  # used up, but who is in needs none
        await expect(other.get_by_role("heading", name="Overview", level=1)).to_be_visible()
        await other.goto(f"{visit.origin}/setup/tools")
        await other.get_by_label("days").fill("30")
        await visit.console.kill()
        await expect(lost).to_be_visible()
        settings = {"SIGNAL__URL": visit.signal.url, "WEB__ADMIN_PORT": visit.origin.rpartition(":")[2]}
        async with started("setup", settings=settings, folder=tmp_path) as console:
            link = await link_in(console)
            await other.locator("button[value='retention']").click()
            await expect(other.get_by_text("was not accepted, and nothing has changed")).to_be_visible()
            await expect(lost).to_be_visible()
            await other.goto(link)
            await other.get_by_role("button", name="Open").click()
            await expect(other.get_by_role("heading", name="Overview", level=1)).to_be_visible()
            await expect(lost).to_be_hidden()
            visit.problems.clear()
