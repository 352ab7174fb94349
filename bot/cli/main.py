"""The command line: `aldis VERB`, or `python -m bot VERB` in a working copy; without a verb, or with `help`, it lists
them.

Exit status: 0 everything went well, 1 something was not answered or is unhealthy, 2 it cannot start because of a
setting, an argument, the store or the bridge to Signal. The modules behind a verb are imported only when that verb is
given.
"""

import argparse
import difflib
import errno
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

from bot import logs
from bot.errors import CallRefused, ConfigError, Disconnected
from bot.invocation import command_line, spell_commands
from bot.version import build, describe_build
from store import StoreError

_COMPLETION = """\
_aldis() {{
    local words=""
    case "$COMP_CWORD ${{COMP_WORDS[1]}}" in
        "1 "*) words="{verbs}" ;;
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _aldis aldis"""

_Argument = tuple[tuple[str, ...], Mapping[str, Any]]
"""The names of an argument, and what argparse takes besides."""


@dataclass(frozen=True, slots=True)
class _Verb:
    """A verb of the command line."""

    name: str
    function: str
    """`module.function` of `bot.cli`; the module is imported when the verb is given."""
    purpose: str
    arguments: tuple[_Argument, ...] = ()
    needs_settings: bool = True
    """Whether the settings must be right for it, and are handed to it."""

    def call(self, *arguments: Any) -> int:
        """Imports the function, and calls it."""
        module, name = self.function.split(".")
        found: Callable[..., int] = getattr(import_module(f"bot.cli.{module}"), name)
        return found(*arguments)


def _with(*names: str, **options: Any) -> _Argument:
    return names, options


_ONCE = _with("--once", metavar="TEXT", help="answer one message and exit")
_CONVERSATION = _with("--conversation", metavar="NAME", default="default", help="which conversation")
_SHOW = _with("-v", "--verbose", action="count", default=0, help="show tool results; -vv adds time and cost")
_MODEL = _with("--model", action="store_true", help="also ask each model a question; costs a little")
_HINTS = _with("-v", "--verbose", action="store_true", help="also show what could be turned on")
_ALL = _with("--all", action="store_true", help="list every setting with its default and meaning instead")
_WORDS = _with(
    "words",
    nargs="*",
    metavar="NAME | set NAME=VALUE ... | unset NAME",
    help="a setting to show; or changes of the settings file (NAME=- reads the value from standard input)",
)
_LABEL = _with("name", metavar="LABEL", nargs="?", help="whose number it is, by label or UUID")
_VERIFIED = _with("--verified", metavar="NUMBER", nargs="+", help="the number, as you compared it with theirs")
_LINK = _with("link", metavar="LINK", nargs="+", help="the link of “Open Signal”, in quotes")
_FOLDER = _with("folder", help="where the copy goes; created if missing")
_FILE = _with("file", nargs="?", help="the backup's .db file; without it, decide about an earlier restore")
_DECISION: Mapping[str, Any] = {"dest": "decision", "action": "store_const"}
_SETTLE = _with(
    "--settle", const="settle", help="nothing of the past is answered, sent or said; what repeats goes on", **_DECISION
)
_REPLAY = _with("--replay", const="replay", help="answer, send and say everything that was open", **_DECISION)
_PERSON = _with("person", metavar="PERSON", help="the person's name in Signal, phone number, label or UUID")

VERBS: Mapping[str, tuple[_Verb, ...]] = {
    "Talk and run": (
        _Verb("chat", "chat.chat", "talk to Aldis in the terminal", (_ONCE, _CONVERSATION, _SHOW)),
        _Verb("setup", "run.set_up", "set Aldis up in a browser: run it, and print a link to its pages"),
        _Verb("admin", "run.show_link", "print a link that opens the pages of the running Aldis, once"),
        _Verb("run", "run.run", "answer in Signal until stopped"),
        _Verb("restart", "run.restart", "restart the running Aldis with its current settings"),
        _Verb("link", "look.link", "link Aldis to a Signal account: shows the QR code and waits"),
    ),
    "Look after it": (
        _Verb(
            "doctor",
            "look.examine",
            "check everything that Aldis depends on, and say what to fix",
            (_MODEL, _HINTS),
        ),
        _Verb("health", "look.health", "check the running Aldis; exit status 0 means healthy"),
        _Verb(
            "settings",
            "settings.show_or_change",
            "show what is set and where it comes from, or change the settings file",
            (_ALL, _WORDS),
            needs_settings=False,
        ),
        _Verb(
            "trust",
            "store.trust",
            "trust a person's new safety number; without a label, show who has one",
            (_LABEL, _VERIFIED),
        ),
        _Verb(
            "captcha", "store.captcha", "hand in the captcha that Signal wants solved before it sends more", (_LINK,)
        ),
    ),
    "What is kept": (
        _Verb("backup", "store.back_up", "copy the store into a folder, even while Aldis runs", (_FOLDER,)),
        _Verb(
            "restore",
            "store.restore_backup",
            "replace the store with a backup; stop Aldis first",
            (_FILE, _SETTLE, _REPLAY),
        ),
        _Verb("export", "store.export", "print what is kept about a person, as JSON", (_PERSON,)),
        _Verb("rotate-key", "store.rotate_key", "replace the master key in its file with a new one"),
        _Verb("upgrade-check", "store.check", "try this version on a copy of the store, and say what changes"),
    ),
    "Shell": (
        _Verb(
            "completion",
            "main.print_completion",
            'complete verbs and options: put eval "$(aldis completion)" into ~/.bashrc',
            needs_settings=False,
        ),
    ),
}
"""All verbs, as the help lists them."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one verb and exits with its status."""
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    if given[:1] == ["help"]:
        given = [*given[1:2], "--help"]
    try:
        try:
            parser = _parser()
            if not given:
                parser.print_help(sys.stderr)
                sys.exit(2)
            sys.exit(_status(parser.read(given)))
        finally:
            print(end="", flush=True)  # here, where its failure can still be reported
    except OSError as error:
        if error.errno not in {errno.EPIPE, errno.ENOSPC}:
            raise
        # The interpreter would complain again when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.ENOSPC:  # the other is a reader who has seen enough, such as `| head`
            print(f"aldis: standard output cannot be written: {error.strerror}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)  # Ctrl-C before a verb listens for it: what a shell expects


def _status(options: argparse.Namespace) -> int:
    verb: _Verb = options.verb
    # Until the verb sets its own level: a bug is logged without its message, which may contain settings.
    logs.set_up("ERROR", "text")
    from bot.clock import use_newest_time_zones

    use_newest_time_zones()
    try:
        if not verb.needs_settings:
            return verb.call(options)
        from bot.settings import load_settings

        return verb.call(load_settings(), options)
    except* (ConfigError, StoreError, Disconnected, CallRefused) as failures:
        for failure in logs.leaves(failures):
            for line in spell_commands(str(failure)).splitlines():
                print(f"aldis: {line}", file=sys.stderr)
    return 2


class _Parser(argparse.ArgumentParser):
    """Suggests the verb or option that was surely meant by an unknown one."""

    verbs: Mapping[str, argparse.ArgumentParser] = {}

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Returns the verb and its options; exits with status 2 and the usage of the verb if they are wrong."""
        found, left = self.parse_known_args(arguments)
        if left:
            self.verbs.get(arguments[0], self).error(f"unrecognized arguments: {' '.join(left)}")
        return found

    def error(self, message: str) -> NoReturn:
        """Exits with the message, and with a close match instead of all choices."""
        wrong = re.search(r"(?:invalid choice: '|unrecognized arguments: )([\w-]+)", message)
        known = [*self.verbs, *re.findall(r"--[\w-]+", self.format_help())]
        meant = difflib.get_close_matches(wrong[1], known, n=1, cutoff=0.65) if wrong else []
        super().error(f"{message.partition(' (choose from')[0]}; did you mean {meant[0]}?" if meant else message)


class _Version(argparse.Action):
    """Reads the source only if the version is asked for."""

    def __call__(self, *_: object) -> None:
        print(f"Aldis {describe_build(build())}")
        sys.exit(0)


def _parser() -> _Parser:
    command = command_line()
    lines = [
        "\n".join((f"{group}:", *(f"    {verb.name:<14} {verb.purpose}" for verb in verbs)))
        for group, verbs in VERBS.items()
    ]
    parser = _Parser(
        prog=command,
        usage=f"{command} [-h] [-V] VERB ...",
        description="\n\n".join(("Aldis: a private assistant that lives in the Signal messenger.", *lines)),
        epilog=f"Settings come from the environment, .env and the settings file; see `{command} settings`.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action=_Version, nargs=0, help="show the version and a digest of its source")
    added = parser.add_subparsers(prog=command, required=True, metavar="verb", help=argparse.SUPPRESS)
    for verb in (verb for group in VERBS.values() for verb in group):
        its = added.add_parser(verb.name, description=f"{verb.purpose[:1].upper()}{verb.purpose[1:]}.")
        its.set_defaults(verb=verb)
        either = its.add_mutually_exclusive_group() if any("dest" in each for _, each in verb.arguments) else its
        for names, options in verb.arguments:
            (either if "dest" in options else its).add_argument(*names, **options)
    parser.verbs = added.choices
    return parser


def print_completion(_: argparse.Namespace) -> int:
    """`completion`: prints what completes verbs and options in bash, and in zsh after `bashcompinit`."""
    verbs = _parser().verbs
    options = {name: " ".join(sorted({*re.findall(r"--[\w-]+", its.format_help())})) for name, its in verbs.items()}
    cases = "\n".join(f'        *" {name}") words="{words}" ;;' for name, words in options.items())
    print(_COMPLETION.format(cases=cases, verbs=" ".join(options)))
    return 0
