"""Pictures of the pages for set-up and administration: `python -m tests.campaigns.pictures [FOLDER [PLACE]]`.

They go to FOLDER, docs/pages if there is none. Aldis runs as in the tests of the browser, over the doubles of Signal
and of a model, with invented people. It keeps its data at PLACE, which is made for it and removed, else in a temporary
folder; one picture shows the path, so those of the docs are taken at /srv/aldis.
"""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image, ImageChops
from playwright.async_api import ViewportSize, expect

from bot.invocation import VARIABLE
from tests.flows.test_browser import Visit, spend, visiting
from tests.servers.envelopes import ALICE, BOB, message
from tests.servers.openai import OpenAIServer
from tests.servers.signal_cli import SignalCli

FOLDER = Path(__file__).parent.parent.parent / "docs" / "pages"
DESKTOP: ViewportSize = {"width": 1080, "height": 800}
PHONE: ViewportSize = {"width": 360, "height": 720}
_MARGIN = 24
_DOWN_TO_THE_FINDINGS = 1560


async def main(folder: Path, place: Path | None) -> None:
    with _made(place) as home:
        await spend(home)
        async with (
            OpenAIServer(local=True, models=("llama-4-small", "llama-4-large")) as model,
            SignalCli(accounts=[]) as signal,
            visiting(home, signal=signal, settings={VARIABLE: "aldis"}, viewport=DESKTOP) as visit,
        ):
            await visit.enter()
            await visit.show_code()
            await _taken(visit, folder / "account.png", full=False)
            await visit.scan_code()
            await visit.go("/setup/model")
            await visit.page.get_by_text("A server of your own").click()
            await visit.page.locator("#server").get_by_label("Address").fill(model.base_url)
            await visit.push("A server of your own: Try and save")
            await expect(visit.page.get_by_text("the server answers")).to_be_visible()
            await _taken(visit, folder / "model-dark.png", dark=True)
            await visit.go("/setup/you")
            await visit.signal.deliver(message("hello", author=ALICE))
            await visit.signal.deliver(message("hello", author=BOB))
            await expect(visit.page.get_by_role("button", name="This is me")).to_have_count(2)
            await _taken(visit, folder / "you-phone.png", phone=True)
            await visit.page.get_by_role("button", name="This is me: Alice").click()
            await expect(visit.page.get_by_text("it answers you now").first).to_be_visible()
            await visit.go("/")
            await _taken(visit, folder / "overview.png")
            await visit.go("/setup/tools")
            await _taken(visit, folder / "tools-phone.png", phone=True, full=False)
            await visit.go("/setup/done")
            await visit.push("Check everything")
            await expect(visit.page.get_by_text("Checked.")).to_be_visible()
            await _taken(visit, folder / "done.png", full=False, height=_DOWN_TO_THE_FINDINGS)
            await visit.go("/people")
            await _taken(visit, folder / "people.png")
            await visit.go("/usage")
            await _taken(visit, folder / "usage-dark.png", dark=True)
            await visit.go("/upkeep")
            await _taken(visit, folder / "upkeep-phone.png", phone=True, full=False)


@contextmanager
def _made(place: Path | None) -> Generator[Path]:
    """An empty folder that is gone afterwards."""
    if place is None:
        with tempfile.TemporaryDirectory() as made:
            yield Path(made)
        return
    place.mkdir(mode=0o700)
    try:
        yield place
    finally:
        shutil.rmtree(place)


async def _taken(
    visit: Visit, path: Path, *, dark: bool = False, phone: bool = False, full: bool = True, height: int | None = None
) -> None:
    page = visit.page
    await page.emulate_media(color_scheme="dark" if dark else "light")
    size = PHONE if phone else DESKTOP
    await page.set_viewport_size({"width": size["width"], "height": height or size["height"]})
    await page.screenshot(path=path, full_page=full)
    await page.set_viewport_size(DESKTOP)


def _shrink(folder: Path) -> None:
    """A page has few colours: so a picture takes a third of its bytes; where a page ends, the picture does."""
    for path in sorted(folder.glob("*.png")):
        with Image.open(path) as picture:
            page = picture.convert("RGB")
        empty = Image.new("RGB", page.size, page.getpixel((0, page.height - 1)))
        _, _, _, end = ImageChops.difference(page, empty).getbbox() or (0, 0, 0, page.height)
        small = page.crop((0, 0, page.width, min(page.height, end + _MARGIN)))
        small = small.quantize(96, dither=Image.Dither.NONE)
        small.save(path, optimize=True)
        print(path.name, small.size, path.stat().st_size)


if __name__ == "__main__":
    TARGET = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    TARGET.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(TARGET, Path(sys.argv[2]) if len(sys.argv) > 2 else None))
    _shrink(TARGET)
