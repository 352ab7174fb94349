"""The settings file: what wins over what, what is refused, and what a write leaves behind."""

import os
import resource
import stat
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.errors import ConfigError
from bot.settings import Settings, load_settings
from bot.settings.load import NAMES, GivenValue, SettingsFile, entries, text_of


class Place:
    def __init__(self, folder: Path, **environ: str) -> None:
        self.environ = {"STORE__PATH": str(folder / "data" / "aldis.db"), **environ}
        self.env_file = folder / ".env"

    @property
    def file(self) -> SettingsFile:
        return SettingsFile(environ=self.environ, env_file=self.env_file)

    def given(self, name: str) -> GivenValue | None:
        return self.file.load(self.file.read())[1].get(NAMES[name].name)

    def origin(self, name: str) -> str:
        given = self.given(name)
        return given.where if given else ""

    def loaded(self) -> Settings:
        return load_settings(self.environ, self.env_file)


def test_the_environment_wins_over_env_over_the_file_over_the_default(tmp_path: Path) -> None:
    """For each setting by itself, and the origin says so."""
    there = Place(tmp_path, WEB__PORT="1")
    there.file.write({"web__port": "2", "WEB__HOST": "::1", "SIGNAL__NAME": "file", "LOG__LEVEL": "debug"})
    there.env_file.write_text("WEB__PORT=3\nSIGNAL__NAME=env\n")
    found = there.loaded()
    assert (found.web.port, found.web.host, found.signal.name, found.log.level) == (1, "::1", "env", "debug")
    expected = {
        "WEB__PORT": ("the environment", "the environment"),
        "SIGNAL__NAME": (".env", ".env"),
        "WEB__HOST": ("settings.env", ""),
        "WEB__ADMIN_PORT": ("", ""),
    }
    assert {name: (there.origin(name), there.file.winner(name)) for name in expected} == expected


def test_a_variable_has_the_value_of_its_strongest_place(tmp_path: Path) -> None:
    """By whichever name; but what is in `.env` for Aldis is not beaten by what the machine has for other programs."""
    key = tmp_path / "key"
    key.write_text("of-a-file")
    there = Place(tmp_path, OPENAI_API_KEY="theirs", BRAVE_API_KEY_FILE=str(key), ANTHROPIC_API_KEY="outer ")
    there.env_file.write_text("LLM__OPENAI__API_KEY_FILE=/nowhere\nLLM__OPENAI__API_KEY=ours\nBRAVE_API_KEY=weaker\n")
    there.file.write({"LLM__ANTHROPIC__API_KEY": "of-the-settings-file"})
    names = {"OPENAI_API_KEY": ("ours", ".env"), "BRAVE_API_KEY": ("of-a-file", "the environment")}
    names |= {"ANTHROPIC_API_KEY": ("outer", "the environment")}
    found = {name: there.given(name) for name in names}
    assert {name: given and (given.value, given.where) for name, given in found.items()} == names
    assert there.file.winner("LLM__ANTHROPIC__API_KEY") == "the environment"
    llm = there.loaded().llm
    assert [one and one.get_secret_value() for one in (llm.openai.api_key, llm.anthropic.api_key)] == ["ours", "outer"]


def test_the_zone_and_language_of_the_machine_give_way(tmp_path: Path) -> None:
    """A page may set another: `TZ` and `LANG` only stand in for what is left out."""
    there = Place(tmp_path, TZ="Asia/Tokyo", LANG="de_DE.UTF-8")
    names = ("LOCALE__TIMEZONE", "LOCALE__LANGUAGE")
    there.env_file.write_text("TZ=Europe/Oslo\nLANG=es_ES.UTF-8\n")
    assert [(there.origin(name), there.file.winner(name)) for name in names] == [("the environment", "")] * 2
    there.file.write(dict(zip(names, ("Europe/Paris", "fr"), strict=True)))
    assert (there.loaded().locale.timezone, there.loaded().locale.language) == ("Europe/Paris", "fr")


def test_a_setting_stands_in_it_once(tmp_path: Path) -> None:
    """Written under another of its names it replaces the former one; removed under any of them it is gone."""
    there = Place(tmp_path)
    there.file.write({"ANTHROPIC_API_KEY": "one"})
    there.file.write({"LLM__ANTHROPIC__API_KEY": "two"})
    assert there.file.read() == {"LLM__ANTHROPIC__API_KEY": "two"}
    there.file.write({"ANTHROPIC_API_KEY": None})
    assert there.file.read() == {}


def test_it_is_its_owners_alone(tmp_path: Path) -> None:
    """Also where it was not before, and whatever the umask says; nothing else is left in the folder."""
    there = Place(tmp_path)
    former = os.umask(0)
    try:
        there.file.write({"ANTHROPIC_API_KEY": "one"})
        there.file.path.chmod(0o644)
        there.file.write({"ANTHROPIC_API_KEY": "two"})
    finally:
        os.umask(former)
    assert stat.S_IMODE(there.file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(there.file.path.parent.stat().st_mode) == 0o700
    assert sorted(path.name for path in there.file.path.parent.iterdir()) == ["settings.env"]


def test_nothing_is_written_where_anything_is_wrong(tmp_path: Path) -> None:
    """Good changes beside it neither."""
    there = Place(tmp_path)
    there.file.write({"SIGNAL__NAME": "before"})
    for changes, words in (
        ({"WEB__PORT": "http"}, r"^WEB__PORT: should be a valid integer \(it is set in settings.env\)"),
        ({"WEB__PROT": "1"}, "^WEB__PROT: there is no such setting; did you mean WEB__PORT?"),
        ({"STORE__PATH": "/elsewhere/aldis.db"}, "^STORE__PATH: cannot be set in settings.env"),
        ({"LLM__PROVIDERS": "anthropic"}, "^LLM__ANTHROPIC__API_KEY: must be set"),
        ({"SIGNAL__NAME": "\udcff"}, "^SIGNAL__NAME: should be a valid string"),
    ):
        with pytest.raises(ConfigError, match=words):
            there.file.write({"SIGNAL__NAME": "good", **changes})
        assert there.file.read() == {"SIGNAL__NAME": "before"}


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """A disk that takes no more: no half of it, and nothing beside it."""
    there = Place(tmp_path)
    there.file.write({"SIGNAL__NAME": "before"})
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, allowed[1]))
    try:
        with pytest.raises(ConfigError, match=r"settings.env: cannot be written: File too large"):
            there.file.write({"SIGNAL__NAME": "after"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
    assert there.file.read() == {"SIGNAL__NAME": "before"}
    assert len(list(there.file.path.parent.iterdir())) == 1


@given(st.dictionaries(st.from_regex(r"[A-Z][A-Z_]{0,9}", fullmatch=True), st.text(max_size=30), max_size=4))
@example({"A": "it's \\' a \\\\ # $HOME ${B}\r\n\"x\"\n", "B": "'", "C": "\\", "D": "# x"})
def test_whatever_is_written_is_read_back(values: dict[str, str]) -> None:
    """Quotes, backslashes, line breaks, signs of a shell."""
    assert entries(text_of(values), "it") == values
