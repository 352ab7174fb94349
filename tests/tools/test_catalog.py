"""The catalogue: which tools there are, what they say of themselves, how they are set."""

import inspect
import re
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from bot.app.tools import idle_features
from tests.tools.conftest import USER_AGENT, Plenty, Repository
from tests.tools.evidence.test_tool import Reading
from tools import CATALOG, Fetcher, Http, NewsOptions, Options, ToolDeps, build
from tools.weather import WeatherOptions

READY: Mapping[str, Options] = {
    name: entry.options.model_validate(entry.example) for name, entry in CATALOG.items() if entry.example
}

ACTING = {"image_generate", "predict", "remember", "remind", "resolve_prediction", "watch"}


def all_deps() -> ToolDeps:
    return ToolDeps(
        http=Http(USER_AGENT),
        fetcher=Fetcher(USER_AGENT),
        features=idle_features(),
        quotas=Plenty(),
        papers=Repository(),
        judge=Reading(),
    )


def test_every_tool_is_built_by_default_in_order() -> None:
    """Without any setting everything that needs no key works."""
    names = " ".join(tool.spec.name for tool in build({}, all_deps()))
    assert names == (
        "calculate get_weather current_time convert web_search verify_news wikipedia market_search market_get"
        " intel_search intel_recent web_fetch remind remember recall predict"
        " resolve_prediction list_predictions calibration_stats watch"
    )


@pytest.mark.parametrize("group", [group for group, entry in CATALOG.items() if not entry.source])
def test_a_tool_that_is_switched_off_is_not_built(group: str) -> None:
    """`TOOLS__<GROUP>__ENABLED=false` takes just what is of that group away."""
    every, without, alone = (
        {tool.spec.name for tool in build(options, all_deps())}
        for options in (READY, _off(group), _off(*(other for other in CATALOG if other != group)))
    )
    assert alone
    assert without == every - alone


def _off(*groups: str) -> dict[str, Options]:
    return {**READY, **{group: CATALOG[group].options(enabled=False) for group in groups}}


def test_names_descriptions_and_schemas_are_what_every_model_accepts() -> None:
    """Unique names, a paragraph, effects where the name says so; lean and strict schemas that say what is meant."""
    specs = [tool.spec for tool in build(READY, all_deps())]
    assert len({spec.name for spec in specs}) == len(specs)
    for spec in specs:
        assert re.fullmatch(r"[a-z][a-z0-9_]{0,63}", spec.name)
        assert 50 < len(spec.description) < 1000
        assert (spec.effects == "none") is (spec.name not in ACTING)
        assert (spec.parameters["type"], spec.parameters["additionalProperties"]) == ("object", False)
        assert "title" not in repr(spec.parameters)
        assert all(len(described) > 1 for described in spec.parameters["properties"].values())


def test_every_option_has_a_default() -> None:
    """No tool stops a start that sets nothing; what is lacking is named by settings that the tool has."""
    for entry in CATALOG.values():
        assert inspect.getdoc(entry.options)
        lacking = entry.options()
        named = " ".join((lacking.missing_settings() or "", *lacking.idle_services().values()))
        assert {name.lower() for name in re.findall("[A-Z_]+", named)} <= entry.options.model_fields.keys()
        assert entry.summary.endswith(".") is entry.maker.rpartition(":")[2][:1].isupper()


def test_an_option_that_cannot_work_is_refused_without_repeating_it() -> None:
    """An operator's typing error shows at the start, and a key shows nowhere."""
    wrong: tuple[dict[str, Any], ...] = (
        {"base_url": "ftp://x.example"},
        {"base_url": "https://x.example/?key=1"},
        {"base_url": "http://127.0.0.1:99999"},
        {"base_url": "https://x exa.mple"},
        {"api_key": "two words of SECRET"},
        {"api_key": "SECRET\nline"},
        {"api_key": "SECRÉT"},
        {"unknown": "SECRET"},
    )
    for options in wrong:
        with pytest.raises(ValidationError) as caught:
            WeatherOptions(**options)
        assert "SECRET" not in str(caught.value)
        assert "SECRÉT" not in str(caught.value)


def test_feeds_are_a_comma_list_of_addresses() -> None:
    """Each once, in its one spelling; only then does the store know them again."""
    several = " HTTPS://A.example:443/Feed?x=1 ,https://b.example , https://b.example"
    for given, feeds in (("", ()), (several, ("https://a.example/Feed?x=1", "https://b.example/"))):
        options = NewsOptions.model_validate({"feeds": given})
        assert (options.feeds, options.seen_by()) == (feeds, ())
        assert bool(options.idle_services()) is not bool(feeds)
