"""Search services: wrong keys are found where that is free."""

from pathlib import Path

from bot.doctor.findings import format_findings
from tests.bot.doctor.practice import examined, wrong
from tests.servers import brave, serpapi, tavily
from tests.servers.searxng import SearXNG

GROUP = "TOOLS__WEB_SEARCH__"
SERVICES = {
    "Brave Search": (brave.Brave, "API_KEY", "BASE_URL", "/res/v1", brave.KEY),
    "Tavily": (tavily.Tavily, "TAVILY_API_KEY", "TAVILY_BASE_URL", "", tavily.KEY),
    "SerpApi": (serpapi.SerpApi, "SERPAPI_API_KEY", "SERPAPI_BASE_URL", "", serpapi.KEY),
}


async def test_a_key_is_tried_for_nothing(tmp_path: Path) -> None:
    """Nothing is searched for, and the right key is not called wrong."""
    for name, (kind, key_variable, address_variable, path, key) in SERVICES.items():
        async with kind() as service:
            given = {f"{GROUP}{address_variable}": service.url + path, f"{GROUP}{key_variable}": key}
            well = await examined(tmp_path, given)
            ill = await examined(tmp_path, given | {f"{GROUP}{key_variable}": "wrong-canary"})
            assert not [seen for seen in service.requests if seen.query.get("q") or seen.body]
        assert f"search: {name} answers" in format_findings(well)
        [line] = [line for line in wrong(ill) if line.startswith("search:")]
        assert line.startswith(f"search: {name} refuses the key -> correct {GROUP}{key_variable} or ")
        assert "canary" not in format_findings(ill)


async def test_a_searxng_is_asked_for_nothing(tmp_path: Path) -> None:
    """Whether it answers in JSON shows without a search."""
    async with SearXNG() as server:
        given = {f"{GROUP}SEARXNG_BASE_URL": server.url}
        assert "search: SearXNG answers" in format_findings(await examined(tmp_path, given))
        server.formats = ("html",)
        lines = wrong(await examined(tmp_path, given))
        assert any("SearXNG does not answer in JSON" in line for line in lines)
        elsewhere = wrong(await examined(tmp_path, {f"{GROUP}SEARXNG_BASE_URL": f"{server.url}/elsewhere"}))
        assert any("SearXNG answers with status 404" in line and "SEARXNG_BASE_URL" in line for line in elsewhere)
