"""Settings: what may be set, under which names, and what the operator reads when it is wrong."""

import base64
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import ConfigError
from bot.settings import Settings, load_settings
from bot.settings.load import KNOWN, NAMES
from tests.variables import table
from tools.search.options import SearchOptions

KEY = bytes(range(32))
UUID = "0B1C2D3E-4F50-6172-8394-A5B6C7D8E9F0"
GROUP = "UIXSwit7KF/RqKfH9jqySnLTgqVCimGcEK25Dbf+yDw="


def load(**environ: str) -> Settings:
    return load_settings(environ, None)


def complaint(**environ: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(**environ)
    return str(caught.value)


def env_file(folder: Path, text: str) -> Path:
    path = folder / ".env"
    path.write_text(text, encoding="utf-8")
    return path


def test_names_that_are_promised() -> None:
    """These names are fixed: people have them in their files."""
    promised = """
    TOOLS__ENABLED TOOLS__MAX_TOOL_CALLS TOOLS__WEB_SEARCH__ENABLED TOOLS__WEB_SEARCH__API_KEY BRAVE_API_KEY
    TOOLS__WEB_SEARCH__MAX_RESULTS TOOLS__WEATHER__ENABLED TOOLS__CALCULATOR__ENABLED
    LLM__PROVIDERS LLM__ANTHROPIC__API_KEY LLM__ANTHROPIC__MODEL LLM__OPENAI__BASE_URL ANTHROPIC_API_KEY OPENAI_API_KEY
    OPENAI_BASE_URL ANTHROPIC_API_KEY_FILE SIGNAL__URL SIGNAL__ACCOUNT SIGNAL__NAME ACCESS__ALLOWED ACCESS__GROUPS
    ACCESS__ADMINS STORE__PATH STORE__KEY STORE__KEY_FILE HISTORY__MAX_TURNS LOG__LEVEL LOCALE__TIMEZONE WEB__PORT
    """
    assert set(promised.split()) <= set(NAMES)


def test_names_of_other_compose_files_are_taken() -> None:
    """Those that mean exactly one of ours; our own name counts more."""
    found = load(TOOLS_MAX_TOOL_CALLS="3", TOOLS_WEB_SEARCH_MAX_RESULTS="4", SERPAPI_KEY="k", TWITTER_BEARER="b")
    search = found.tools.options_by_name["web_search"]
    assert isinstance(search, SearchOptions)
    assert (found.tools.max_tool_calls, search.max_results, "serpapi" in search.ready) == (3, 4, True)
    assert found.tools.options_by_name["twitter"].missing_settings() is None
    for part in ("", "_WEB_SEARCH", "_WEATHER", "_CALCULATOR"):
        tools = load(**{f"TOOLS{part}_ENABLED": "false"}).tools
        switched = tools.options_by_name[part.lower().removeprefix("_")] if part else tools
        assert not switched.enabled
    assert load(TOOLS_ENABLED="false", TOOLS__ENABLED="true").tools.enabled


def test_no_name_stands_for_two_settings() -> None:
    """Each name means one thing, files and well-known names included."""
    assert sum(len(variable.names) for variable in KNOWN) == len(NAMES)


def test_values_of_every_kind() -> None:
    """Truth, numbers, words in any case, paths and comma lists are read as one writes them."""
    rows = {"TOOLS__ENABLED": "off", "TOOLS__WEATHER__ENABLED": "no", "TOOLS__TIMEOUT_SECONDS": "2.5"}
    words = {"LLM__PROVIDERS": "OpenAI, offline,", "LLM__ANTHROPIC__EFFORT": "Low", "LOG__LEVEL": "DEBUG"}
    places = {"STORE__PATH": "/data/aldis.db", **dict.fromkeys(("SIGNAL__URL", "WEB__ADMIN_URL"), "HTTPS://A:8080/")}
    found = load(**rows, **words, **places, OPENAI_API_KEY="sk-1")
    assert (found.tools.enabled, found.tools.timeout_seconds) == (False, 2.5)
    assert (found.tools.options_by_name["weather"].enabled, found.web.admin_url) == (False, found.signal.url)
    assert found.llm.providers_in_order == ("openai", "offline")
    assert (found.llm.anthropic.effort, found.log.level) == ("low", "debug")
    assert (found.store.path, found.signal.url) == (Path("/data/aldis.db"), "https://A:8080")


GPU = {"OPENAI_BASE_URL": "http://gpu/v1"}
BOTH = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
SOL = "openai/gpt-6-sol"
MODELS: tuple[tuple[dict[str, str], tuple[str, ...], tuple[str, ...]], ...] = (
    ({}, ("offline",), ("offline",)),
    ({"OPENAI_BASE_URL": "https://api.openai.com/v1/"}, ("offline",), ("offline",)),
    (GPU, ("openai",), ("openai",)),
    ({**GPU, "LLM__OPENAI__MODEL": "qwen"}, ("openai",), ("openai/qwen",)),
    (BOTH, ("anthropic", "openai"), ("anthropic/claude-haiku-5-5",)),
    ({**BOTH, "LLM__PROVIDERS": "offline,openai,offline"}, ("offline", "openai"), ("offline",)),
    ({**BOTH, "LLM__PROVIDERS": " , "}, ("anthropic", "openai"), ("anthropic/claude-haiku-5-5",)),
    (
        {"OPENAI_API_KEY": "k", "LLM__CHOICES": f"{SOL}, openai/gpt-6-luna, {SOL}, openai/meta/llama-4:8b"},
        ("openai",),
        ("openai/gpt-6-luna", SOL, "openai/meta/llama-4:8b"),
    ),
)


def test_which_models_are_asked_and_offered() -> None:
    """The providers that are named, else whatever has a key, else offline; a server without a model is asked which."""
    for environ, order, choices in MODELS:
        found = load(**environ).llm
        assert (found.providers_in_order, found.models_to_choose) == (order, choices), environ


class TestEnvFile:
    def test_is_read(self, tmp_path: Path) -> None:
        """Comments, quotes, `export` and what Windows adds are fine; what is empty is unset; bytes are no text."""
        text = "\ufeff# mine\r\nexport WEB__PORT = 0 # none\r\nLLM__SYSTEM_PROMPT='Be\nbrief.'\r\n"
        path = env_file(tmp_path, text)
        found = load_settings({"WEB__PORT": " "}, path)
        assert (found.web.port, found.llm.system_prompt) == (0, "Be\nbrief.")
        path.write_bytes(b"A=\xff\xfe\x00")
        with pytest.raises(ConfigError, match=rf"^{tmp_path}/\.env: cannot be read: it is not UTF-8 text$"):
            load_settings({}, path)

    def test_a_line_that_may_mean_something_else_is_refused(self, tmp_path: Path) -> None:
        """Nobody believes in a budget of which python-dotenv has only logged that it could not read it."""
        budget, prompt = "BUDGET__ALL_DAY_USD", "LLM__SYSTEM_PROMPT"
        rows = {
            f"WEB__PORT=0\n{budget}: 5\n": ".env: line 2 is not NAME=value, or a quote in it is not closed",
            f"{budget}\n": ".env: line 1 is not NAME=value",
            f"set {budget}=5\n": ".env: line 1 is not NAME=value",
            f'{budget}="5\n': ".env: line 1 is not NAME=value, or a quote",
        }
        unlike = ("${DAY}", '"$HOME/aldis"', "5$$", '"5$$"', "'a\\\\b'", '"5\\$"', '"it\\\'s"', '"\\011"', "a\t#b")
        rows |= {f"{prompt}={value}\n": f"{prompt}: line 1 of .env is read differently by docker" for value in unlike}
        for text, words in rows.items():
            with pytest.raises(ConfigError) as caught:
                load_settings({}, env_file(tmp_path, text))
            assert str(caught.value).startswith(words), text

    def test_a_dollar_in_single_quotes_is_one(self, tmp_path: Path) -> None:
        """As compose reads it; so is one that no name follows, and of two lines the last counts."""
        text = "ANTHROPIC_API_KEY='k${HOME}$$'\nLLM__SYSTEM_PROMPT=5$ a day # $$\nSIGNAL__NAME=first\n"
        text += "SIGNAL__NAME='a\\nb'\nAUDIO__VOICE=\"a\\\\b\"\n"
        found = load_settings({}, env_file(tmp_path, text))
        assert found.llm.anthropic.api_key is not None
        assert found.llm.anthropic.api_key.get_secret_value() == "k${HOME}$$"
        assert (found.llm.system_prompt, found.signal.name, found.audio.voice) == ("5$ a day", "a\\nb", "a\\b")


NUMBER = "should be a valid integer"
KEYS = "must be the key alone: letters, digits and signs on one line"
ADDRESS = "must be an address like http://host:port, with nothing behind a ? or #"
BRIDGE = "must be an address like unix:///run/signal-cli/socket, tcp://host:port or http://host:port"
ZONE = "must be a time zone like Europe/Berlin"
FILE = "must be the path of a file, such as data/aldis.db"
KEY_WORDS = "must be 32 bytes, written as 64 hexadecimal digits or in base64"
QUOTES = "has quotes around its value, which count as part of it here; remove them"
PEOPLE = "a comma-separated list of phone numbers like +12025550123 and uuids"
ONE = "must be a uuid, or a phone number with its country code, like +12025550123"
GROUPS = "must be * for every group, or a comma-separated list of group ids in their exact case"
CONTACT = "must be an e-mail address, or the address of a page like https://example.org/about"
BAD_VALUES: dict[str, dict[str, str]] = {
    "BUDGET__ALL_DAY_USD": {"10$": "should be a valid decimal", "-1": "should be greater than or equal to 0"},
    "TOOLS__MAX_TOOL_CALLS": {"51": "should be less than or equal to 50", "1.5": NUMBER},
    "TOOLS__TIMEOUT_SECONDS": dict.fromkeys(("nan", "inf"), "should be a finite number"),
    "TOOLS__ENABLED": {"perhaps": "should be a valid boolean"},
    "BUDGET__PRICES": {
        "claude=3": "must be a comma-separated list like model=0.25/2: dollars for a million tokens in and out"
    },
    "WORKER__SHUTDOWN_SECONDS": {"60": "should be less than or equal to 6"},
    "LOG__FORMAT": {"xml": "should be 'text' or 'json'"},
    "LLM__PROVIDERS": {"anthropic,gemini": "should be 'anthropic', 'openai' or 'offline'"},
    "OPENAI_BASE_URL": {"http://gp u/v1": ADDRESS, "localhost:11434": ADDRESS},
    "SIGNAL__URL": dict.fromkeys(
        ("http://[x", "http://h:port", "unix://run/socket", "unix:///", "tcp://host", "tcp://h:1/x", "unix:///a?b"),
        BRIDGE,
    ),
    # A zero in brackets is dialled only without the country code: the number without brackets would be another one.
    # Source: libphonenumber's FAQ on "(0)" in international numbers, and ITU-T E.123, 7.2 (2026-11-27).
    "SIGNAL__ACCOUNT": dict.fromkeys(
        ("0301234567", "+49 (0)1555 0000001", "+44(0)20 7946 0958", "+33 (0) 6 12 34 56 78", "+41 (00) 44 668 18 00"),
        ONE,
    ),
    "ACCESS__ALLOWED": dict.fromkeys(("+12025550123,Anna", "+1202555012٣"), f"must be * for everybody, or {PEOPLE}"),
    "ACCESS__ADMINS": {"*": f"must be {PEOPLE}"},
    "ACCESS__GROUPS": dict.fromkeys(("my group", "group.é", "group.xx"), GROUPS),
    "AUDIO__VOICE": {"''": QUOTES},
    "TOOLS__CONTACT": dict.fromkeys(
        ("me", "me@localhost", "a@b.c, d@e.f", "https://x y", "ü@example.org", "a@b.c\r\nX: y"), CONTACT
    ),
    "LLM__TEMPERATURE": dict.fromkeys(("hot", "1.1", "-1"), "must be auto, or a number from 0 to 1"),
    "WATCHES__QUIET_HOURS": dict.fromkeys(("22", "22-24", "22:00-07:00"), "must be two hours, like 22-7"),
    "LOCALE__TIMEZONE": dict.fromkeys(("Berlin", "../../etc/passwd", "Europe"), ZONE),
    "STORE__PATH": dict.fromkeys(("/", ".", "/dev/null", "sqlite:///data/aldis.db", "data/\udcff.db"), FILE)
    | {"~/aldis.db": "must name its folder without ~, such as /home/aldis/aldis.db"},
    "STORE__KEY": {"short": KEY_WORDS, "Zm9v": KEY_WORDS},
    "ANTHROPIC_API_KEY": dict.fromkeys(("two words", "schlüssel"), KEYS) | {'"sk-1"': QUOTES},
}


def test_a_bad_value_is_one_clear_line() -> None:
    """The line names the variable as it was set, says what is expected and where it stands, and shows no value."""
    for name, values in BAD_VALUES.items():
        for value, words in values.items():
            assert complaint(**{name: value}) == f"{name}: {words} (it is set in the environment)"


def test_everything_that_is_wrong_is_told_at_once() -> None:
    """Each in its line: values, names, files of secrets, keys that are missing; none is mended start after start."""
    wrong = {"WEB__PORT": "http", "WEB__PROT": "1", "TOOLS__TIMEOUT_SECONDS": "0", "STORE__KEY_FILE": "/nowhere/key"}
    lines = complaint(**wrong, LLM__CHOICES="", SIGNAL__NAME='"Lamp"').splitlines()
    assert sorted(line.partition(":")[0] for line in lines) == sorted([*wrong, "SIGNAL__NAME"])
    keys = complaint(LLM__PROVIDERS="anthropic", LLM__CHOICES="openai/gpt-6-sol").splitlines()
    assert [line.partition(":")[0] for line in keys] == ["LLM__OPENAI__API_KEY", "LLM__ANTHROPIC__API_KEY"]


SLIPS = {
    "BUDGET_ALL_DAY_USD": "BUDGET__ALL_DAY_USD",
    "ACESS_GROUPS": "ACCESS__GROUPS",
    "ANTHROPIC_API_KEYFILE": "ANTHROPIC_API_KEY_FILE",
    "CLAUDE_API_KEY": "ANTHROPIC_API_KEY",
    "OPEN_AI_API_KEY": "OPENAI_API_KEY",
    "OPENAI_API_BASE": "OPENAI_BASE_URL",
    "OPENAI_MODEL": "LLM__OPENAI__MODEL",
    "ALDIS_LOCALE__LANGUAGE": "LOCALE__LANGUAGE",
    "LLM__OPENAI__KEY": "LLM__OPENAI__API_KEY",
    "TWITTER_BEARER_TOKEN": "TOOLS__TWITTER__BEARER_TOKEN",
    "SEARCH_MAX_RESULTS": "TOOLS__WEB_SEARCH__MAX_RESULTS",
    "DEEP_ANALYSIS_ENABLED": "TOOLS__VERIFY_NEWS__ENABLED",
    "TOOLS_WEB_SEARCH_API_KEY": "TOOLS__WEB_SEARCH__API_KEY",
}
"""Slips for our names, and what other programs call the same."""


def test_a_slip_of_one_of_our_names_is_refused_wherever_it_stands(tmp_path: Path) -> None:
    """No one believes in a budget or a key that is not there; compose passes the file on as the environment."""
    for name, meant in SLIPS.items():
        line = f"{name}: there is no such setting; did you mean {meant}? (it is set in "
        assert complaint(**{name: "1"}) == f"{line}the environment)"
        with pytest.raises(ConfigError) as caught:
            load_settings({}, env_file(tmp_path, f"{name}=1\n"))
        assert str(caught.value) == f"{line}.env)"
    for name in ("WEB__XYZZY", "MEDIA__MAX_FILES", "ATTESTATION__SOCKET", "DEEP_ANALYSIS_X"):
        gone = ", or no longer" if "__" in name else ""
        assert complaint(**{name: "1"}) == f"{name}: there is no such setting{gone} (it is set in the environment)"


def test_other_names_are_not_ours() -> None:
    """Other programs' variables are left alone in the environment, and not a word is said of them."""
    theirs = """PATH LOG TOOLS MY__THING LOG_LEVEL LOGLEVEL WEB_PORT SIGNAL_SERVICE_HOST SIGNAL_CLI_CONFIG STORE_PORT
    OPENAI_API_TYPE OPENAI_API_VERSION OPENAI_ORGANIZATION ANTHROPIC_MODEL ANTHROPIC_BASE_URL ANTHROPIC_AUTH_TOKEN
    GOOGLE_API_KEY WORKER_ID ACCESS_TOKEN TOOLS_DIR MAKEFLAGS MAKELEVEL MAKE_TERMOUT MFLAGS AWS_CA_BUNDLE
    RUST_BACKTRACE SEARCH_PATH SEARCH_SERVICE_HOST LOCALE_ARCHIVE TWITTER_API_KEY LOGGING__LOGLEVEL__DEFAULT
    WEBHOOK__PORT ALDIS_COMMAND"""
    for name in theirs.split():
        assert load(**{name: "{"}) == load()


def test_the_file_is_ours_alone(tmp_path: Path) -> None:
    """Every unknown name in it is meant for Aldis, but for those of its container, its engine and Python."""
    for name in ("LOG_LEVEL", "ANTHROPIC_BASE_URL", "MY_THING", "PASSWORD"):
        with pytest.raises(ConfigError, match=f"^{name}: there is no such setting"):
            load_settings({}, env_file(tmp_path, f"{name}=1\n"))
    for name in ("TZ", "EXTRAS", "HTTPS_PROXY", "COMPOSE_PROJECT_NAME", "DOCKER_HOST", "SSL_CERT_FILE"):
        assert load_settings({}, env_file(tmp_path, f"{name}=UTC\n")) == load()


def test_people_and_groups() -> None:
    """Uuids in lower case, ids of groups keep theirs; the wrapped form of signal-cli-rest-api is unwrapped."""
    wrapped = "group." + base64.b64encode(GROUP.encode()).decode()
    people = {"ACCESS__ALLOWED": f"+1 (202) 555-0123, {UUID},*,", "ACCESS__ADMINS": "+49.30/901820"}
    found = load(**people, ACCESS__GROUPS=f"{GROUP},{wrapped}, *").access
    assert (found.allowed, found.admins) == (("+12025550123", UUID.lower(), "*"), ("+4930901820",))
    assert found.groups == (GROUP, GROUP, "*")


class TestSecrets:
    def test_stand_in_a_file(self, tmp_path: Path) -> None:
        """The file's text without white space around it is the key."""
        (tmp_path / "key").write_text(" sk-ant \n", encoding="utf-8")
        for name in ("LLM__ANTHROPIC__API_KEY_FILE", "ANTHROPIC_API_KEY_FILE"):
            key = load(**{name: str(tmp_path / "key")}).llm.anthropic.api_key
            assert key is not None
            assert key.get_secret_value() == "sk-ant"

    def test_that_cannot_be_read_are_refused(self, tmp_path: Path) -> None:
        """A missing, an empty and a binary file; the path is not shown, for it may be the key itself."""
        (tmp_path / "empty").write_text("\n", encoding="utf-8")
        (tmp_path / "binary").write_bytes(b"\xff\xfe")
        name, read = "BRAVE_API_KEY_FILE", "the file that it names cannot be read: "
        for file, words in (
            ("missing", f"{read}No such file or directory"),
            ("empty", "the file that it names is empty"),
            ("binary", f"{read}it is not UTF-8 text"),
        ):
            assert complaint(**{name: str(tmp_path / file)}) == f"{name}: {words} (it is set in the environment)"
        assert complaint(**{name: "a\x00b"}).startswith(f"{name}: {read}")

    def test_are_not_shown(self) -> None:
        """Neither by the settings' own text nor by their dump."""
        found = load(OPENAI_API_KEY="sk-canary", STORE__KEY=KEY.hex(), BRAVE_API_KEY="brave-canary")
        for text in (repr(found), str(found.model_dump()), found.model_dump_json()):
            assert "canary" not in text
            assert KEY.hex() not in text

    def test_master_key(self) -> None:
        """Hex and both alphabets of base64, with or without padding, spell the same 32 bytes."""
        padded = base64.b64encode(KEY).decode()
        for text in (KEY.hex(), KEY.hex().upper(), padded, base64.urlsafe_b64encode(KEY).decode(), padded.rstrip("=")):
            assert load(STORE__KEY=text).store.master_key == KEY


def test_time_zone() -> None:
    """The one that is set, else the machine's where it is a name, else UTC; a misspelt one is refused."""
    rows = {"Asia/Tokyo": "Asia/Tokyo", "CET-1CEST": "UTC", "/etc/localtime": "UTC", ":Asia/Tokyo": "Asia/Tokyo"}
    rows["CET-1CEST,M3.5.0,M10.5.0/3"] = "UTC"  # the same rule of POSIX, with the days on which it changes
    rows |= {"/usr/share/zoneinfo/Asia/Tokyo": "Asia/Tokyo", "": "UTC"}
    assert {name: load(TZ=name).locale.timezone for name in rows} == rows
    assert load(TZ="Asia/Tokyo", LOCALE__TIMEZONE="Europe/Berlin").locale.timezone == "Europe/Berlin"
    for name in ("Europe/Berln", ":America/Argentina/Ushuaya", "Berlin"):
        line = "TZ: must be a time zone like Europe/Berlin (it is set in the environment)"
        assert complaint(TZ=name, WEB__PROT="1").splitlines()[1] == line


def test_language() -> None:
    """The one that is set, else the machine's where Aldis speaks it, else English."""
    for environ, language in (
        ({"LANG": "de_DE.UTF-8"}, "de"),
        ({"LANG": "es_MX@euro", "LC_ALL": ""}, "es"),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C.UTF-8", "LC_MESSAGES": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "nl_NL.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8", "LOCALE__LANGUAGE": "fr"}, "fr"),
    ):
        assert load(**environ).locale.language == language


VALUES = [name for name in NAMES if not name.endswith("_FILE")]


@settings(max_examples=200, deadline=None)
@given(name=st.sampled_from(VALUES), value=st.text(st.characters(exclude_characters="\x00"), min_size=1, max_size=40))
def test_whatever_is_set_loads_or_is_one_line(name: str, value: str) -> None:
    """No value makes anything but settings or one line that begins with its variable."""
    line = ""
    try:
        load(**{name: value})
    except ConfigError as error:
        line = str(error)
    assert "\n" not in line
    assert line == "" or line.startswith(f"{name}: ") or "LLM__PROVIDERS names" in line


def test_every_setting_has_its_meaning() -> None:
    """In docs/settings.md each row ends in a sentence, each group begins with one."""
    lines = table().splitlines()
    assert all(line.rstrip(" |").endswith((".", "...")) for line in lines if line.startswith("| `"))
    heads = [lines[number + 2] for number, line in enumerate(lines) if line.startswith("### ")]
    assert len(heads) == len(Settings.model_fields)
    assert all(head.endswith(".") for head in heads)


def test_a_key_goes_to_no_other_service() -> None:
    """Another host does not get OpenAI's key; the same server gets its own, and a key of its own comes first."""
    openai, other = "https://api.openai.com/v1", "http://127.0.0.1:8000/v1"
    for environ, key in (
        ({"AUDIO__BASE_URL": f"{openai}/"}, "sk"),
        ({"AUDIO__BASE_URL": other}, None),
        ({"OPENAI_BASE_URL": other, "AUDIO__BASE_URL": other}, "sk"),
        ({"OPENAI_BASE_URL": other, "AUDIO__BASE_URL": openai}, None),
        ({"AUDIO__BASE_URL": other, "AUDIO__API_KEY": "mine"}, "mine"),
    ):
        found = load(OPENAI_API_KEY="sk", **environ).audio_key
        assert (found and found.get_secret_value()) == key, environ
    models = [load(AUDIO__BASE_URL=address).audio.listening_model for address in (openai, other)]
    assert models == ["gpt-4o-mini-transcribe", "whisper-1"]
