"""The tools: what each costs, needs and tells whom; turning them on and off, the services behind them, and how long
messages are kept.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial

from bot.doctor.findings import Deps, Finding
from bot.doctor.models import check_audio, check_images
from bot.doctor.tools import check_search, inventory
from bot.settings import Settings
from bot.web.admin.forms import AdminPage, Ask, Field, Form, NotDone
from tools import CATALOG, SearchOptions

_ABOUT = {
    "web_search": "Searches the web, or Wikipedia where no search service is set up.",
    "verify_news": "Gathers evidence for and against a claim by several searches.",
    "twitter": "Searches posts on X.",
    "markets": "Looks up prediction markets: what traders think is likely.",
    "news": "Searches what the news feeds of your choice have reported.",
    "db_query": "Looks things up in your own databases, without changing anything.",
    "mcp": "Offers what MCP servers of your choice can do.",
    "recall": "Finds again what was said in a chat, files that came with it, and those in a folder of yours.",
    "watches": "Looks again and again for people, and tells them when something happens.",
    "predictions": "Records what people predict, and how often they were right.",
}
"""What a group of tools does whose line in the catalogue has no summary."""
_KEY_PAGES = {
    "Brave Search": "https://api-dashboard.search.brave.com",
    "Tavily": "https://app.tavily.com",
    "SerpApi": "https://serpapi.com/manage-api-key",
    "Perplexity": "https://www.perplexity.ai/account/api/keys",
    "SearXNG": "https://docs.searxng.org",
}


async def _check_service(service: str, settings: Settings, deps: Deps) -> Sequence[Finding]:
    return [one for one in await check_search(settings, deps) if one.words.startswith(service)]


def _search_form(setting: str, service: str) -> Form:
    is_url, page = setting.endswith("URL"), _KEY_PAGES.get(service, "")
    label = f"Address of your {service}" if is_url else "The key"
    field = Field(setting, label, "url" if is_url else "secret", is_required=True, key_page=page)
    return Form(
        name=service.lower(), title=f"Search: {service}", fields=(field,), check=partial(_check_service, service)
    )


_SPEECH_HINT = "Such as https://api.openai.com/v1 or https://api.groq.com/openai/v1"
_SPEECH_KEY_HINT = "For OpenAI, the key of the model is used where there is one."
_USUAL_MODEL = "Empty: the usual one of the server."
_OPENAI_KEYS, _GROQ_KEYS = "https://platform.openai.com/api-keys", "https://console.groq.com/keys"
_X_KEYS = "https://developer.x.com"
_DATABASES_HINT = '{"club": {"address": "postgresql://user:password@host/db", "tables": {"people": ["name"]}}}'
_SERVICES = (
    *(_search_form(setting, service) for setting, service in SearchOptions.services().items()),
    Form(
        name="voice",
        title="Voice notes",
        text="A speech server writes down what people say: OpenAI, Groq, or one of your own.",
        fields=(
            Field("AUDIO__BASE_URL", "Address", "url", _SPEECH_HINT, is_required=True),
            Field("AUDIO__API_KEY", "The key", "secret", _SPEECH_KEY_HINT, key_page=_GROQ_KEYS),
            Field("AUDIO__MODEL", "The model that listens", hint=_USUAL_MODEL),
            Field("AUDIO__SPEAK", "Answer voice notes aloud, too", "check"),
        ),
        check=check_audio,
    ),
    Form(
        name="pictures",
        title="Drawing pictures",
        text="OpenAI, or a server with its API.",
        fields=(
            Field("TOOLS__IMAGES__API_KEY", "The key", "secret", key_page=_OPENAI_KEYS),
            Field("TOOLS__IMAGES__BASE_URL", "Address", "url", "Empty: OpenAI itself."),
            Field("TOOLS__IMAGES__MODEL", "The model", hint=_USUAL_MODEL),
            Field("TOOLS__IMAGES__COST_USD", "Price of a picture in US dollars", "money", "For the budgets."),
        ),
        check=check_images,
    ),
    Form(
        name="x",
        title="Posts on X",
        text="With a token X itself is searched, and charges for each post; without one the web is. "
        "It is not tried now, because that would cost money.",
        fields=(Field("TOOLS__TWITTER__BEARER_TOKEN", "Token", "secret", is_required=True, key_page=_X_KEYS),),
    ),
    Form(
        name="databases",
        title="Databases",
        text="Your own SQLite and PostgreSQL databases, to look things up in and change nothing. "
        "Everyone who may write can read what is listed here.",
        fields=(Field("TOOLS__DB_QUERY__DATABASES", "All, as JSON", "secret", _DATABASES_HINT, is_required=True),),
    ),
)
_KEPT = Form(
    name="retention",
    title="How long messages are kept",
    text="What is said is kept sealed on this machine, so that the model can read it again. "
    "After this many days it is destroyed.",
    fields=(Field("HISTORY__RETENTION_DAYS", "Days", "number", "Empty: until people say /forget."),),
)


async def _values(ask: Ask) -> dict[str, object]:
    rows: list[Mapping[str, object]] = []
    for group in inventory(ask.settings, ask.deps.tool_deps):
        # A sentence of ours, else the first one that models are given.
        described = group.tools[0].spec.description.partition(". ")[0].rstrip(".") + "." if group.tools else ""
        row = {
            "group": group,
            "about": CATALOG[group.name].summary or _ABOUT.get(group.name, described),
            "cost_usd": max((tool.spec.cost_usd for tool in group.tools), default=Decimal(0)),
            "asks": any(tool.spec.effects != "none" for tool in group.tools),
        }
        rows.append(row)
    return {"rows": rows, "services": _SERVICES}


async def _switch(ask: Ask) -> str:
    name = ask.entry("tool")
    if name not in ask.settings.tools.options_by_name:
        raise NotDone("There is no such tool.")
    return await ask.save({f"TOOLS__{name.upper()}__ENABLED": "true" if ask.entry("to") == "on" else "false"})


PAGE = AdminPage(
    path="/setup/tools",
    template="tools",
    values=_values,
    actions={"switch": _switch},
    forms=(*_SERVICES, _KEPT),
)
