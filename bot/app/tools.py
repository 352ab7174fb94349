"""The tools: Aldis's own, those of other distributions, those of sources that are known only while it runs."""

import difflib
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import replace

from bot.clock import Clock, MachineClock
from bot.errors import ConfigError
from bot.invocation import command_line
from bot.media.pdf_port import Library
from bot.media.sandbox import Sandbox
from bot.settings import Settings
from bot.turn.journal import ToolRun
from bot.turn.tool_shapes import ToolShapes
from bot.turn.toolbox import ALL_TOOLS, Toolbox
from bot.version import current_version
from tools import Fetcher, Http, Tool, ToolDeps, ToolSource, alone, build, build_extensions, sources
from tools.mcp.names import prefix_of
from tools.mcp.options import McpOptions
from tools.news.options import NewsOptions
from tools.news.tool import IntelRecent, IntelSearch

_log = logging.getLogger(__name__)

PROJECT_URL: str | None = None
"""The page of the project, which every request names. None: the project has no public page; who opens one writes it
here, and nowhere else."""

_WHAT = "self-hosted assistant for Signal"


def user_agent(contact: str | None = None) -> str:
    """What Aldis calls itself where it asks. `contact` is how whoever runs it can be reached, for services that want
    to know; pages of strangers are asked without.
    """
    return f"Aldis/{current_version()} ({'; '.join(filter(None, (_WHAT, PROJECT_URL, contact)))})"


@asynccontextmanager
async def standalone_deps(contact: str | None) -> AsyncGenerator[ToolDeps]:
    """What surrounds tools that are called without a conversation: the way to the outside, and no store."""
    with closing(Sandbox()) as sandbox:
        async with Http(user_agent(contact)) as http, Fetcher(user_agent()) as fetcher:
            yield replace(alone(http, fetcher), papers=Library(sandbox))


def toolbox(
    settings: Settings,
    tools: Sequence[Tool],
    more: Sequence[ToolSource] = (),
    *,
    clock: Clock | None = None,
    on_run: Callable[[ToolRun], None] = lambda _: None,
    shapes: ToolShapes | None = None,
) -> Toolbox:
    """How these tools are run, within the bounds of the settings; `more` are those known only while Aldis runs, and
    `shapes` knows what they were before.

    `clock` None: the machine's. `on_run` is told of each run.
    """
    return Toolbox(
        tools,
        on_run=on_run,
        sources=more,
        clock=clock or MachineClock(),
        timezone=settings.locale.timezone,
        timeout_seconds=settings.tools.timeout_seconds,
        max_result_chars=settings.tools.max_result_chars,
        calls_per_minute=settings.tools.calls_per_minute,
        approve=settings.tools.approve,
        prefixes=_prefixes(settings),
        shapes=shapes,
    )


def check_approve(settings: Settings, tools: Sequence[Tool]) -> None:
    """See that `TOOLS__APPROVE` names nothing but tools: a misspelt one would run without anybody's yes.

    Raises:
        ConfigError: a name is none of a tool that is switched on, nor begins like those of an MCP server.
    """
    names = {tool.spec.name for tool in tools}
    prefixes = tuple(_prefixes(settings).values())
    for name in settings.tools.approve:
        if name not in {ALL_TOOLS, *names} and not name.startswith(prefixes) and settings.tools.enabled:
            close = difflib.get_close_matches(name.lower(), {ALL_TOOLS, *names}, n=1)
            close = close or [found for found in sorted(names) if name.lower() in found]
            hint = f"; did you mean {close[0]}?" if close else f"; `{command_line('tools')}` lists them"
            raise ConfigError(f"TOOLS__APPROVE: no tool that is switched on is called {name}{hint}")


def _prefixes(settings: Settings) -> dict[str, str]:
    """How the names of the tools of each MCP server begin."""
    mcp = settings.tools.options_by_name.get("mcp")
    return {server.name: prefix_of(server.name) for server in mcp.servers} if isinstance(mcp, McpOptions) else {}


def own_tools(settings: Settings, around: ToolDeps) -> tuple[Tool, ...]:
    """The tools that are on: Aldis's own, then those of other distributions; one that is none is told of in the log."""
    if not settings.tools.enabled:
        return ()
    own = build(settings.tools.options_by_name, around)
    more = build_extensions(
        settings.tools.extensions,
        settings.tools.options_by_name,
        http=around.http,
        fetcher=around.fetcher,
        taken={tool.spec.name for tool in own},
    )
    for failure in more.failures:
        _log.warning("the tool %s of %s is left out: %s", failure.name, failure.distribution, failure.why)
    return (*own, *(tool for tools in more.by_name.values() for tool in tools))


def tool_sources(settings: Settings, tools: Sequence[Tool]) -> tuple[ToolSource, ...]:
    """Where more tools come from while Aldis runs."""
    if not settings.tools.enabled:
        return ()
    return sources(settings.tools.options_by_name, taken={tool.spec.name for tool in tools})


def apart(tools: Sequence[Tool]) -> tuple[tuple[Tool, ...], tuple[Tool, ...]]:
    """The tools that are always there, and those of the news, which are there as long as there is a feed."""
    news = tuple(tool for tool in tools if isinstance(tool, IntelSearch | IntelRecent))
    return tuple(tool for tool in tools if tool not in news), news


def news_options(settings: Settings) -> NewsOptions:
    """The settings of the news; switched off where all tools are."""
    options = settings.tools.options_by_name.get("news")
    news = options if isinstance(options, NewsOptions) else NewsOptions()
    return news if settings.tools.enabled else news.model_copy(update={"enabled": False})
