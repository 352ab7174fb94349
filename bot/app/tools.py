"""The tools that Aldis has: those of the catalogue, and those of its features."""

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from bot.chat.toolbox import ALL_TOOLS
from bot.clock import Clock
from bot.errors import ConfigError
from bot.features.feeds import IntelRecent, IntelSearch
from bot.features.memory import Remember
from bot.features.personas import Skills, read_personas
from bot.features.predictions import prediction_tools
from bot.features.recall import Recall
from bot.features.reminders.service import Reminders
from bot.features.reminders.tool import Remind
from bot.features.watches.service import Lookout
from bot.features.watches.tool import WatchTool
from bot.models.tool_list import NAME as USE_TOOL
from bot.settings import Settings
from bot.version import current_version
from store import Store
from tools import Embedder, Http, Options, RecallOptions, Tool, ToolDeps, build
from tools.mcp.options import McpOptions, prefix_of

T = TypeVar("T", bound=Options)


def user_agent(contact: str | None = None) -> str:
    """What Aldis calls itself; services that want it are given `contact`, the operator's, strangers' pages are not."""
    return f"Aldis/{current_version()} ({'; '.join(filter(None, ('self-hosted assistant for Signal', contact)))})"


def check_names(settings: Settings, tools: Sequence[Tool]) -> None:
    """Raises ConfigError if `TOOLS__APPROVE` or a persona names a tool or a model that there is not."""
    own = {Skills(settings.llm.skills).spec.name, *(tool.spec.name for tool in tools)}
    prefixes = tuple(prefixes_of(settings).values())
    wanted = [("TOOLS__APPROVE", name, {ALL_TOOLS, *own}) for name in settings.tools.approve]
    for persona in read_personas(settings.llm.personas).values():
        where = f"LLM__PERSONAS: {persona.name}.md"
        wanted += [(where, name, {USE_TOOL, *own}) for name in persona.tools or ()]
        if persona.model not in {None, *settings.llm.models_to_choose}:
            raise ConfigError(f"{where}: model {persona.model} is none of {', '.join(settings.llm.models_to_choose)}")
    for where, name, names in wanted:
        if name not in names and not name.startswith(prefixes) and settings.tools.enabled:
            close = difflib.get_close_matches(name.lower(), names, n=1)
            close = close or [found for found in sorted(names) if name.lower() in found]
            hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(sorted(names))}"
            raise ConfigError(f"{where}: no tool that is switched on is called {name}{hint}")


def prefixes_of(settings: Settings) -> dict[str, str]:
    """The name prefix of each MCP server's tools."""
    mcp = settings.tools.options_by_name.get("mcp")
    return {server.name: prefix_of(server.name) for server in mcp.servers} if isinstance(mcp, McpOptions) else {}


def own_tools(settings: Settings, around: ToolDeps) -> tuple[Tool, ...]:
    """The enabled tools."""
    around = replace(around, call_seconds=settings.tools.timeout_seconds)
    return build(settings.tools.options_by_name, around) if settings.tools.enabled else ()


def options_of(settings: Settings, name: str, kind: type[T]) -> T:
    """The settings of the tools of this line of the catalogue; disabled if all tools are."""
    options = settings.tools.options_by_name.get(name)
    found = options if isinstance(options, kind) else kind()
    return found if settings.tools.enabled else found.model_copy(update={"enabled": False})


def embedder_of(settings: Settings, http: Http) -> Embedder | None:
    """What makes vectors of texts; None: things are found by their words alone."""
    recall = options_of(settings, "recall", RecallOptions)
    return Embedder(recall, http) if recall.model and recall.enabled else None


def feature_tools(
    store: Store, clock: Clock, reminders: Reminders, watches: Lookout, embedder: Embedder | None = None
) -> dict[str, tuple[Tool, ...]]:
    """The tools of the features, by the names of their lines in the catalogue."""
    return {
        "remind": (Remind(reminders),),
        "remember": (Remember(store, clock),),
        "watches": (WatchTool(watches),),
        "predictions": prediction_tools(store, clock),
        "news": (IntelSearch(store, embedder), IntelRecent(store)),
        "recall": (Recall(store, clock, embedder),),
    }


def idle_features() -> dict[str, tuple[Tool, ...]]:
    """The same without a store behind them, to be listed and not called."""
    nothing: Any = None
    return feature_tools(nothing, nothing, nothing, nothing)
