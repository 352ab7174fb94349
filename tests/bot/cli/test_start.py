"""A start imports what its verb stands on, and the prompt of `chat` comes before all that answers."""

import re
import subprocess
import sys
from pathlib import Path

from bot.cli import main

ROOT = Path(main.__file__).parents[2]

OF_TOOLS = {"httpx", "httpcore", "PIL", "simpleeval", "tools.building"}
OF_MODELS = {"anthropic", "openai", "httpx2", "bot.models.base"}
OF_THE_REST = {"aiohttp", "babel", "jinja2", "markdown_it", "bot.app", "bot.loops", "store.store"}
OF_THE_STORE = {"cryptography", "aiosqlite"}
OF_THE_PROMPT = {"prompt_toolkit"}
OF_THE_PAGES = {"jinja2", "segno", "bot.web.admin.site"}


def test_what_is_not_imported_yet() -> None:
    """What takes long: a tool's options have a module of their own, for those of all tools are read at every start."""
    for module, absent in (
        ("bot.cli.main", OF_TOOLS | OF_MODELS | OF_THE_REST | OF_THE_STORE | OF_THE_PROMPT | {"pydantic", "asyncio"}),
        ("bot.settings", OF_TOOLS | OF_MODELS | OF_THE_REST | OF_THE_STORE | OF_THE_PROMPT),
        ("bot.cli.chat", OF_TOOLS | OF_MODELS | OF_THE_REST),
        ("bot.cli.run", {"anthropic", "openai", *OF_THE_PAGES}),
    ):
        script = f"import sys, {module}; print(*sys.modules)"
        ran = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd=ROOT)
        assert module in ran.stdout.split()
        assert not absent & set(ran.stdout.split()), module


def test_every_verb_is_there() -> None:
    """Its module is imported only when the verb is given, so this is where a slip shows."""
    assert all(callable(main.function_of(verb)) for verbs in main.VERBS.values() for verb in verbs)


def test_what_people_read_names_verbs_that_there_are() -> None:
    """A sentence or a page that sends them to one that is gone helps no one: alone, or in a container."""
    places = r"""command(?:_line)?\(f?["']|`aldis |-m bot |run --rm aldis |exec aldis aldis |^aldis """
    named = re.compile(rf"(?:{places})([a-z][a-z-]*)", re.MULTILINE)
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    files = [*(ROOT / "bot").rglob("*.py"), *(ROOT / "bot").rglob("*.html"), *pages]
    found = {verb for file in files for verb in named.findall(file.read_text())}
    assert found - {verb for verbs in main.VERBS.values() for verb in verbs} == set()
    assert len(found) > 10
