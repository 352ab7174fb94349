"""Tools of other distributions in Aldis: their settings, what a conversation has of them, and what is told of them."""

import logging
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from bot.app import tools as equipment
from bot.cli import main as cli
from bot.doctor.tools import check_tools
from bot.errors import ConfigError
from bot.settings import Settings, load_settings
from bot.settings.variables import table
from tests.tools.conftest import USER_AGENT
from tests.tools.distributions import TIDES, found, put
from tools import Fetcher, Http, alone

AROUND = alone(Http(USER_AGENT), Fetcher(USER_AGENT), {})
IMPORTS = "from typing import Annotated\nfrom pydantic import AfterValidator"
BROKEN = "raise RuntimeError('a canary of theirs')"


def given(**values: str) -> Settings:
    return load_settings(values, env_file=None)


@pytest.fixture
def installed(tmp_path: Path) -> Generator[Path]:
    """One distribution that works, one that is broken, one that takes the name of a tool of Aldis."""
    put(tmp_path, "aldis-tides", {"tides": "aldis_tides:Tides"}, {"aldis_tides": TIDES})
    put(tmp_path, "aldis-ropes", {"ropes": "aldis_ropes:Ropes"}, {"aldis_ropes": BROKEN})
    copied = TIDES.replace('name="tides"', 'name="calculate"')
    put(tmp_path, "aldis-sums", {"sums": "aldis_sums:Tides"}, {"aldis_sums": copied})
    with found(tmp_path):
        yield tmp_path


def names(settings: Settings) -> set[str]:
    return {tool.spec.name for tool in equipment.own_tools(settings, AROUND)}


@pytest.mark.usefixtures("installed")
def test_its_settings_are_settings() -> None:
    """By the name of its entry point; wrong ones are told like all others, and they stand in the table."""
    settings = given(TOOLS__TIDES__MOST="3", TOOLS__TIDES__HARBOUR="")
    assert settings.tools.options_by_name["tides"].model_dump() == {"enabled": True, "harbour": "Cuxhaven", "most": 3}
    assert "| `TOOLS__TIDES__MOST` | `2` | How many tides at most. |" in table(type(settings))
    assert "TIDES" not in table()
    with pytest.raises(ConfigError, match=r"TOOLS__TIDES__MOST: must be a whole number from 1 to 9"):
        given(TOOLS__TIDES__MOST="many")
    with pytest.raises(ConfigError, match=r"TOOLS__TIDES__MOTS: there is no such setting; did you mean TOOLS__TIDES__"):
        given(TOOLS__TIDES__MOTS="3")


def test_a_bug_in_its_settings_is_told_without_what_was_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Python tells of it when it ends the process."""
    strict = "most: Annotated[int, AfterValidator(lambda most: {2: 2}[most])] = 2"
    module = TIDES.replace("most: int = Field(default=2, ge=1, le=9)", strict)
    put(tmp_path, "aldis-tides", {"tides": "aldis_tides:Tides"}, {"aldis_tides": f"{IMPORTS}\n{module}"})
    monkeypatch.setenv("TOOLS__TIDES__MOST", "471147114711")
    sys.excepthook = sys.__excepthook__  # as a process begins
    with found(tmp_path), pytest.raises(KeyError) as caught:
        cli.main(("settings",))
    sys.excepthook(caught.type, caught.value, caught.tb)
    _, told = capsys.readouterr()
    assert "a bug ends Aldis: KeyError" in told
    assert "471147114711" not in told


@pytest.mark.usefixtures("installed")
def test_where_all_tools_are_off_none_is_imported() -> None:
    """Whatever is set for them."""
    every = given(TOOLS__ENABLED="0", TOOLS__SUMS__ENABLED="what").tools.extensions
    assert every.switched_off == ("ropes", "sums", "tides")
    assert not any(name.startswith("aldis_") for name in sys.modules)


@pytest.mark.usefixtures("installed")
def test_a_conversation_has_those_that_work(caplog: pytest.LogCaptureFixture) -> None:
    """Behind Aldis's own; the others are in the log by name, origin and reason, without a word of their errors."""
    with caplog.at_level(logging.WARNING, logger="bot"):
        tools = equipment.own_tools(given(), AROUND)
    assert [tool.spec.name for tool in tools][-1] == "tides"
    assert [tool.spec.name for tool in tools].count("calculate") == 1
    assert [record.getMessage() for record in caplog.records] == [
        "the tool ropes of aldis-ropes 1.2 is left out: it cannot be imported: RuntimeError",
        "the tool sums of aldis-sums 1.2 is left out: it gives a tool calculate, and there is one already",
    ]
    assert "tides" not in names(given(TOOLS__TIDES__ENABLED="false"))
    assert names(given(TOOLS__ENABLED="false")) == set()


@pytest.mark.usefixtures("installed")
def test_the_doctor_tells_of_them() -> None:
    """What is on, what is off, and what is left out, which is worth a warning."""
    told = {finding.what: finding for finding in check_tools(given(TOOLS__SUMS__ENABLED="false"), AROUND)}
    assert told["tools: tides is on"].level == "ok"
    assert told["tools: sums is off"].advice == "TOOLS__SUMS__ENABLED=true switches it on"
    left_out = "tools: ropes of aldis-ropes 1.2 is left out: it cannot be imported: RuntimeError"
    assert (told[left_out].level, told[left_out].advice) == ("warning", "fix it, or remove it")


def test_one_that_came_too_late_for_a_name_hides_nobody(installed: Path) -> None:
    """The one that has the name is listed as it works, the other as left out."""
    put(installed, "zealous-tides", {"tides": "zealous:Tides"}, {"zealous": TIDES})
    told = [finding for finding in check_tools(given(), AROUND) if "tides" in finding.what]
    assert [finding.level for finding in told] == ["ok", "warning"]
    assert told[0].what == "tools: tides is on"
    assert "zealous-tides" in told[1].what
