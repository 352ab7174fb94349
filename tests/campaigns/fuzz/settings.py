"""Environments: every variable that Aldis reads, and names that look like them, with values of every kind.

They load, or the operator reads one line that names the variable and shows nothing of what was set.
"""

import string
from functools import cache
from pathlib import Path
from random import Random

from bot.errors import ConfigError
from bot.settings import Settings, load_settings
from tests.campaigns.fuzz.rounds import Round
from tests.variables import known_names

COUNT = 20_000

CANARY = "kanarienvogel"
"""Stands in every value that is not meant to be right, and in no word of Aldis."""

_RIGHT = {
    "ACCESS__ALLOWED": "+15550100002, a11ce000-0000-4000-8000-0000000000a1",
    "ACCESS__GROUPS": "*",
    "LLM__PROVIDERS": "openai, anthropic,offline",
    "LLM__OPENAI__BASE_URL": "http://127.0.0.1:11434/v1",
    "LOCALE__TIMEZONE": "Europe/Berlin",
    "LOG__LEVEL": "DEBUG",
    "SIGNAL__ACCOUNT": "+1 (555) 010-0001",
    "SIGNAL__URL": "http://signal-cli:8080",
    "STORE__KEY": "0b" * 32,
    "TZ": "Asia/Tokyo",
}
_KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "BRAVE_API_KEY", "LLM__ANTHROPIC__API_KEY")
_NUMBERS = ("0", "1", "-1", "5", "1e3", "0.5", "nan", "inf", "-inf", "1_000", "٣", "9" * 5_000, "0x10", "true", "No")
_AROUND = (
    *("{}", " {} ", "{},{}", "http://{}:80", "http://{}:99999", "http://u:{}@h/?q#f", "https://[{}", "+1555{}", "*,{}"),
    *(
        "{}\n{}",
        "a b {}",
        "[{}]",
        '{{"{}": 1}}',
        "../../{}",
        "/{}",
        "sk-{}\u00e9",
        "{}\ud800",
        "{}\U0001f4a3",
        "{}\x1b[2J",
    ),
    *("{}__{}", "Europe/{}", "{}=", "${{{}}}", "%s{}", "{}\x00", "group.{}"),
)


def check(round_: Round, folder: Path) -> None:
    """Load every environment of the round; `folder` takes a few files for the variables that name one."""
    files = _files(folder)
    for random in round_.randoms():
        environ = environment_of(random, files)
        with round_.trying(environ):
            round_.outcomes[outcome_of(environ)] += 1


def outcome_of(environ: dict[str, str]) -> str:
    """Load it; what came of it in a word."""
    try:
        found = load_settings(environ, None)
    except ConfigError as error:
        _judge_lines(str(error), environ)
        return "refused in lines"
    assert isinstance(found, Settings)
    _judge_secrets(found)
    return "loaded"


def _judge_lines(text: str, environ: dict[str, str]) -> None:
    for line in text.split("\n"):
        assert line.isprintable(), "more than lines of plain text"
        assert CANARY not in line.lower(), f"it shows what was set: {line}"
        assert "geheim" not in line, f"it shows a key: {line}"
        named = line.partition(":")[0]
        assert named in {name.upper() for name in environ} or "LLM__PROVIDERS names" in line


def _judge_secrets(found: Settings) -> None:
    """Settings that somebody logs by mistake show no key."""
    for text in (repr(found), str(found.model_dump())):
        assert "geheim" not in text


def environment_of(random: Random, files: tuple[Path, ...]) -> dict[str, str]:
    """A few variables, some of them right."""
    return dict(_variable(random, files) for _ in range(random.choice((1, 1, 2, 4, 8))))


def _variable(random: Random, files: tuple[Path, ...]) -> tuple[str, str]:
    if random.random() < 0.3:
        return random.choice(list(_RIGHT.items()))
    if random.random() < 0.2:
        return random.choice(_KEYS), f"geheim-{random.getrandbits(64):x}"
    name = _name(random)
    if name.endswith("_FILE") and random.random() < 0.6:
        return name, str(random.choice(files))
    return name, _value(random)


def _name(random: Random) -> str:
    name = random.choice(_names())
    if random.random() < 0.7:
        return name
    letters = string.ascii_uppercase + "_"
    at = random.randint(0, len(name))
    return random.choice(
        (
            name.lower(),
            name[:at] + random.choice(letters) + name[at:],
            name[:at] + name[at + 1 :],
            name + "__X",
            "_" + name,
        )
    )


def _value(random: Random) -> str:
    if random.random() < 0.3:
        return random.choice(_NUMBERS)
    value = random.choice(_AROUND).format(CANARY, CANARY.upper())
    return value * 500 if random.random() < 0.02 else value


@cache
def _names() -> tuple[str, ...]:
    return known_names()


def _files(folder: Path) -> tuple[Path, ...]:
    """A key, half a key, nothing, no text, a folder, and none at all."""
    contents = {
        "key": b"geheim-in-a-file",
        "words": CANARY.encode() + b" two words",
        "empty": b" \n",
        "bytes": b"\xff\xfe",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return (*(folder / name for name in contents), folder, folder / CANARY)
