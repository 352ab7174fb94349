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
import zoneinfo
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import NoReturn

from bot import logs
from bot.errors import CallRefused, ConfigError, Disconnected
from bot.invocation import command_line, spell_commands
from bot.version import build, describe_build
from store import StoreError

VERBS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Talk and run": {
        "chat": ("chat.chat", "talk to Aldis in the terminal"),
        "setup": ("run.set_up", "set Aldis up in a browser: run it, and print a link to its pages"),
        "admin": ("run.show_link", "print a link that opens the pages of the running Aldis, once"),
        "run": ("run.run", "answer in Signal until stopped"),
        "restart": ("run.restart", "restart the running Aldis with its current settings"),
        "link": ("look.link", "link Aldis to a Signal account: shows the QR code and waits"),
    },
    "Look after it": {
        "doctor": ("look.examine", "check everything that Aldis depends on, and say what to fix"),
        "health": ("look.health", "check the running Aldis; exit status 0 means healthy"),
        "settings": ("settings.show", "show what is set and where it comes from"),
        "captcha": ("store.captcha", "hand in the captcha that Signal wants solved before it sends more"),
    },
    "What is kept": {
        "backup": ("store.back_up", "copy the store into a folder, even while Aldis runs"),
        "restore": ("store.restore_backup", "replace the store with a backup; stop Aldis first"),
        "export": ("store.export", "print what is kept about a person, as JSON"),
        "upgrade-check": ("store.check", "try this version on a copy of the store, and say what changes"),
    },
    "Shell": {
        "completion": ("main.print_completion", 'complete verbs: put eval "$(aldis completion)" into ~/.bashrc'),
    },
}
"""All verbs as the help lists them: `module.function` of `bot.cli`, and what the verb is for."""

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


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one verb and exits with its status."""
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    if given[:1] == ["help"]:
        given = [*given[1:2], "--help"]
    try:
        try:
            if given[:1] in (["-V"], ["--version"]):  # only then is the source read
                print(f"Aldis {describe_build(build())}")
                sys.exit(0)
            parser = _parser()
            if not given:
                parser.print_help(sys.stderr)
                sys.exit(2)
            options, left = parser.parse_known_args(given)
            if left:
                parser.verbs.get(given[0], parser).error(f"unrecognized arguments: {' '.join(left)}")
            sys.exit(report_failures(lambda: _run(options)))
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


def function_of(verb: str) -> Callable[..., int]:
    """Imports the function behind a verb."""
    module, name = next(verbs[verb][0] for verbs in VERBS.values() if verb in verbs).split(".")
    return getattr(import_module(f"bot.cli.{module}"), name)


def _run(options: argparse.Namespace) -> int:
    # Until the verb sets its own level: a bug is logged without its message, which may contain settings.
    logs.set_up("ERROR", "text")
    zoneinfo.reset_tzpath(to=())  # the package tzdata; machines have older zones, or none
    run = function_of(options.verb)
    if options.verb in {"settings", "completion"}:  # all others get the settings, which must be right for them
        return run(options)
    from bot.settings import load_settings

    return run(load_settings(), options)


def report_failures(run: Callable[[], int]) -> int:
    """Runs a verb and returns its status; what the operator has to mend is a line each on standard error, and 2."""
    try:
        return run()
    except* (ConfigError, StoreError, Disconnected, CallRefused) as failures:
        for failure in logs.leaves(failures):
            for line in spell_commands(str(failure)).splitlines():
                print(f"aldis: {line}", file=sys.stderr)
    return 2


class _Parser(argparse.ArgumentParser):
    """Suggests the verb or option that was surely meant by an unknown one."""

    verbs: Mapping[str, argparse.ArgumentParser] = {}

    def error(self, message: str) -> NoReturn:
        """Exits with the message, and with a close match instead of all choices."""
        wrong = re.search(r"(?:invalid choice: '|unrecognized arguments: )([\w-]+)", message)
        known = [*self.verbs, *re.findall(r"--[\w-]+", self.format_help())]
        meant = difflib.get_close_matches(wrong[1], known, n=1, cutoff=0.65) if wrong else []
        super().error(f"{message.partition(' (choose from')[0]}; did you mean {meant[0]}?" if meant else message)


def _parser() -> _Parser:
    command = command_line()
    lines = [
        "\n".join((f"{group}:", *(f"    {name:<14} {purpose}" for name, (_, purpose) in verbs.items())))
        for group, verbs in VERBS.items()
    ]
    parser = _Parser(
        prog=command,
        usage=f"{command} [-h] [-V] VERB ...",
        description="\n\n".join(("Aldis: a private assistant that lives in the Signal messenger.", *lines)),
        epilog=f"Settings come from the environment, .env and the settings file; see `{command} settings`.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="store_true", help="show the version and a digest of its source")
    added = parser.add_subparsers(prog=command, required=True, dest="verb", metavar="verb", help=argparse.SUPPRESS)
    for verbs in VERBS.values():
        for name, (_, purpose) in verbs.items():
            added.add_parser(name, description=f"{purpose[:1].upper()}{purpose[1:]}.")
    _add_arguments(added.choices)
    parser.verbs = added.choices
    return parser


def _add_arguments(verbs: Mapping[str, argparse.ArgumentParser]) -> None:
    chat, doctor = verbs["chat"], verbs["doctor"]
    chat.add_argument("--once", metavar="TEXT", help="answer one message and exit")
    chat.add_argument("--conversation", metavar="NAME", default="default", help="which conversation")
    chat.add_argument("-v", "--verbose", action="count", default=0, help="show tool results; -vv adds time and cost")
    doctor.add_argument("--model", action="store_true", help="also ask each vendor's first model; costs a little")
    doctor.add_argument("-v", "--verbose", action="store_true", help="also show what could be turned on")
    verbs["captcha"].add_argument("link", metavar="LINK", nargs="+", help="the link of “Open Signal”, in quotes")
    verbs["backup"].add_argument("folder", help="where the copy goes; created if missing")
    verbs["export"].add_argument("person", metavar="PERSON", help="their name in Signal, phone number, label or UUID")
    verbs["restore"].add_argument("file", help="the backup's .db file")


def print_completion(_: argparse.Namespace) -> int:
    """`completion`: prints what completes verbs and options in bash, and in zsh after `bashcompinit`."""
    verbs = _parser().verbs
    options = {name: " ".join(sorted({*re.findall(r"--[\w-]+", its.format_help())})) for name, its in verbs.items()}
    cases = "\n".join(f'        *" {name}") words="{words}" ;;' for name, words in options.items())
    print(_COMPLETION.format(cases=cases, verbs=" ".join(options)))
    return 0
