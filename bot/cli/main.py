"""The command line: `aldis VERB`, or `python -m bot VERB` in a working copy; without a verb, or with `help`, it lists
them.

Exit status: 0 everything went well, 1 something was not answered or is unhealthy, 2 it cannot start because of a
setting, an argument, the store or the bridge to Signal. The modules behind a verb are imported only when that verb is
given.
"""

import argparse
import difflib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from bot import logs
from bot.errors import CallRefused, ConfigError, Disconnected
from bot.invocation import command_line, spell_commands
from bot.version import described_build
from store import StoreError

_HELP = "help"
_COMPLETION = """\
_aldis() {{
    local words="{verbs}"
    if [ "$COMP_CWORD" -gt 1 ]; then
        words=""
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _aldis aldis"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one verb and exits with its status."""
    _open_closed_streams()
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    if given[:1] == [_HELP]:
        given = [*given[1:2], "--help"]
    try:
        try:
            parser = _parser()
            if not given:
                parser.print_help(sys.stderr)
                sys.exit(2)
            sys.exit(_status(parser.read(given)))
        finally:
            sys.stdout.flush()  # here, where its failure can still be reported
    except OSError:
        if (failure := _output_error()) is None:
            raise
        # The interpreter would complain again when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(failure, BrokenPipeError):  # that is a reader who has seen enough, such as `| head`
            print(f"aldis: standard output cannot be written: {failure.strerror}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)  # Ctrl-C before a verb listens for it: what a shell expects


def _open_closed_streams() -> None:
    """Opens the null device for each standard stream that was closed at the start (`>&-`).

    Otherwise the next file that is opened, such as the database, would get the stream's descriptor.
    """
    # In this order, because each gets the lowest descriptor that is free.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 (open until the end)


def _output_error() -> OSError | None:
    """Why standard output cannot be written; None if it can, and the error came from elsewhere."""
    try:
        print(flush=True)  # a flush alone would not tell: what was too long for the buffer is lost, not waiting
    except OSError as error:
        return error
    return None


def _status(options: argparse.Namespace) -> int:
    verb: Callable[..., int] = options.verb
    without_settings: Callable[..., int] | None = getattr(options, "without_settings", None)
    # Until the verb sets its own level: a bug is logged without its message, which may contain settings.
    logs.set_up("ERROR", "text")
    try:
        if without_settings is not None:
            return without_settings(options)
        from bot.settings import load_settings

        return verb(load_settings(), options)
    except* (ConfigError, StoreError, Disconnected, CallRefused) as failures:
        for failure in logs.leaves(failures):
            for line in spell_commands(str(failure)).splitlines():
                print(f"aldis: {line}", file=sys.stderr)
    return 2


def _verb(name: str) -> Callable[..., int]:
    """The function of a verb, `module.function` of `bot.cli`; its module is imported when the function is called."""
    module, function = name.split(".")

    def call(*arguments: Any) -> int:
        found: Callable[..., int] = getattr(import_module(f"bot.cli.{module}"), function)
        return found(*arguments)

    return call


def _text(given: str) -> str:
    if not given.strip():
        raise argparse.ArgumentTypeError("the message is empty")
    return given


class _Parser(argparse.ArgumentParser):
    """Suggests the verb or option that was surely meant by an unknown one."""

    verbs: Mapping[str, argparse.ArgumentParser] = {}

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Returns the parsed verb and options; exits with status 2 if they are wrong.

        Unknown options are reported by the parser of their verb, which knows the right ones.
        """
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


_GROUPS = {
    "Talk and run": ("chat", "setup", "admin", "run", "restart", "link"),
    "Look after it": ("doctor", "health", "tools", "settings", "trust", "captcha", "verify"),
    "What is kept": ("backup", "restore", "export", "rotate-key", "upgrade-check"),
    "Shell": ("completion",),
}
"""The verbs as the help lists them."""

_Add = Callable[[str, str, str], argparse.ArgumentParser]
"""Adds a verb: its name, its function as `_verb` takes it, and what it does."""


class _Version(argparse.Action):
    """Reads the source only if somebody asks for the version."""

    def __call__(self, *_: object) -> None:
        print(f"Aldis {described_build()}")
        sys.exit(0)


def _parser() -> _Parser:
    command = command_line()
    parser = _Parser(
        prog=command,
        usage=f"{command} [-h] [-V] VERB ...",
        description="Aldis: a private assistant that lives in the Signal messenger.",
        epilog=f"Settings come from the environment, .env and the settings file; see `{command} settings`.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action=_Version, nargs=0, help="show the version and a digest of its source")
    verbs = parser.add_subparsers(required=True, metavar="verb", help=argparse.SUPPRESS)
    purposes: dict[str, str] = {}

    def add(name: str, function: str, purpose: str) -> argparse.ArgumentParser:
        purposes[name] = purpose
        verb = verbs.add_parser(name, description=f"{purpose[:1].upper()}{purpose[1:]}.")
        verb.set_defaults(verb=_verb(function))
        return verb

    for add_verbs in (
        _add_running,
        _add_doctor,
        _add_tools,
        _add_store,
        _add_trust,
        _add_setup,
        _add_settings,
        _add_shell,
    ):
        add_verbs(add)
    parser.verbs = verbs.choices
    lines = [
        "\n".join((f"{group}:", *(f"    {name:<14} {purposes[name]}" for name in names)))
        for group, names in _GROUPS.items()
    ]
    parser.description = "\n\n".join((str(parser.description), *lines))
    return parser


def _print_completion(_: argparse.Namespace) -> int:
    """`completion`: prints what completes verbs and options in bash, and in zsh after `bashcompinit`."""
    verbs = _parser().verbs
    options = {name: " ".join(sorted({*re.findall(r"--[\w-]+", verb.format_help())})) for name, verb in verbs.items()}
    cases = "\n".join(f'        {name}) words="{words}" ;;' for name, words in options.items())
    print(_COMPLETION.format(cases=cases, verbs=" ".join(options)))
    return 0


def _add_running(add: _Add) -> None:
    chat = add("chat", "chat.chat", "talk to Aldis in the terminal")
    chat.add_argument("--once", metavar="TEXT", type=_text, help="answer one message and exit")
    chat.add_argument("--conversation", metavar="NAME", default="default", help="which conversation (default: default)")
    chat.add_argument(
        "-v", "--verbose", action="count", default=0, help="show tool results; -vv adds timings, tokens and cost"
    )
    _add_decision(add("run", "run.run", "answer in Signal until stopped"))
    add("restart", "run.restart", "restart the running Aldis with its current settings")
    add("link", "link.link", "link Aldis to a Signal account: shows the QR code and waits")
    add("health", "health.health", "check the running Aldis; exit status 0 means healthy")


def _add_doctor(add: _Add) -> None:
    doctor = add("doctor", "doctor.examine", "check everything that Aldis depends on, and say what to fix")
    doctor.add_argument("--model", action="store_true", help="also ask each model a question; costs a little")
    doctor.add_argument("-v", "--verbose", action="store_true", help="also show what could be turned on")


def _add_tools(add: _Add) -> None:
    tools = add("tools", "tools.show", "list every tool with its state and cost, or run one by hand")
    tools.add_argument("--json", action="store_true", help="list them as JSON")
    call = tools.add_subparsers(metavar="call").add_parser("call", help="run a tool by hand, with the real settings")
    call.add_argument("name", metavar="NAME", help=f"its name as models see it; `{command_line('tools')}` lists them")
    call.add_argument(
        "arguments", metavar="JSON", nargs="?", default="{}", help="""such as '{"expression": "17*23"}'"""
    )
    call.add_argument("--yes", action="store_true", help="do not ask first if its effect cannot be undone")
    call.set_defaults(verb=_verb("tools.call"))


def _add_store(add: _Add) -> None:
    backup = add("backup", "store.back_up", "copy the store into a folder, even while Aldis runs")
    backup.add_argument("folder", help="where the copy goes; created if missing")
    restore = add("restore", "store.restore_backup", "replace the store with a backup; stop Aldis first")
    restore.add_argument(
        "file", nargs="?", help="the backup's .db file; without it, only decide about an earlier restore"
    )
    _add_decision(restore)
    add("rotate-key", "store.rotate_key", "replace the master key in its file with a new one")
    export = add("export", "store.export", "print what is kept about a person, as JSON")
    export.add_argument("person", metavar="PERSON", help="the person's name in Signal, phone number or UUID")


def _add_trust(add: _Add) -> None:
    trust = add("trust", "store.trust", "trust somebody's new safety number; without a label, show who has one")
    trust.add_argument("name", metavar="LABEL", nargs="?", help="whose number it is, by label or UUID")
    trust.add_argument(
        "--verified", metavar="NUMBER", nargs="+", help="the safety number, as you have compared it with theirs"
    )


def _add_shell(add: _Add) -> None:
    purpose = (
        'complete verbs and options: put eval "$(aldis completion)" into ~/.bashrc or, after bashcompinit, ~/.zshrc'
    )
    add("completion", "main.none", purpose).set_defaults(verb=None, without_settings=_print_completion)


def _add_setup(add: _Add) -> None:
    _add_decision(add("setup", "run.set_up", "set Aldis up in a browser: run it, and print a link to its pages"))
    add("admin", "admin.show_link", "print a link that opens the pages of the running Aldis, once")
    verify = add("verify", "verify.verify", "print a quote of this machine, if Aldis runs in a TEE")
    verify.add_argument("word", metavar="WORD", help="a word that whoever checks the quote has just made up")
    captcha = add("captcha", "store.captcha", "hand in the captcha that Signal wants solved before it sends more")
    captcha.add_argument(
        "link", metavar="LINK", nargs="*", help="the link of “Open Signal”; without it, you are asked for it"
    )


def _add_settings(add: _Add) -> None:
    upgrade = add("upgrade-check", "upgrade.check", "try this version on a copy of the store, and say what changes")
    upgrade.add_argument("folder", nargs="?", help="where the backup goes (default: backups, beside the store)")
    upgrade.add_argument("--model", action="store_true", help="have the real models answer; costs a little")
    table = add(
        "settings", "settings.show_or_change", "show what is set and where it comes from, or change the settings file"
    )
    table.add_argument("--all", action="store_true", help="list every setting with its default and meaning instead")
    table.add_argument(
        "words",
        nargs="*",
        metavar="NAME | set NAME=VALUE ... | unset NAME",
        help="a setting to show; or changes of the settings file (NAME=- reads the value from standard input)",
    )
    table.set_defaults(verb=None, without_settings=_verb("settings.show_or_change"))


def _add_decision(verb: argparse.ArgumentParser) -> None:
    """Adds the options that decide what happens to the open work of a restored backup."""
    either = verb.add_mutually_exclusive_group()
    either.add_argument(
        "--settle",
        dest="decision",
        action="store_const",
        const="settle",
        help="after a restore: nothing of the past is answered, sent or said; what repeats goes on",
    )
    either.add_argument(
        "--replay",
        dest="decision",
        action="store_const",
        const="replay",
        help="after a restore: answer, send and say everything that was open",
    )
