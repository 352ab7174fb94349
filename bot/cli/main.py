"""The command line: `aldis VERB`, or `python -m bot VERB` in a working copy; alone and by `help` it lists them.

Exit status: 0 all went well, 1 something was not answered or is not healthy, 2 it cannot start: a setting, an argument,
the store or the bridge to Signal is not as it has to be.
What a verb stands on is imported when it is the one that was given. Left to others: the verbs (`bot.cli.chat`,
`bot.cli.run`, `bot.cli.store`, ...), everything that lasts (`bot.app`).
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

_MAX_TURN_DIGITS = 18
"""More would not be a number for SQLite."""
_HELP = "help"


def main(arguments: Sequence[str] | None = None) -> None:
    """Carry out one verb and leave with its exit status."""
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    if given[:1] == [_HELP]:
        given = [*given[1:2], "--help"]
    try:
        parser = _parser()
        if not given:
            parser.print_help(sys.stderr)
            sys.exit(2)
        sys.exit(_status(parser.read(given)))
    except BrokenPipeError:
        # Whoever read our output has left (`| head`); the interpreter would complain once more when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)  # Ctrl-C before a verb listens for it: what a shell expects


def _status(options: argparse.Namespace) -> int:
    verb: Callable[..., int] = options.verb
    mending: Callable[..., int] | None = getattr(options, "mending", None)
    # Until a verb has it as the settings want it: a bug is told without its message, which may hold what was set.
    logs.set_up("ERROR", "text")
    try:
        if mending is not None:
            return mending(options)
        from bot.settings import load_settings

        return verb(load_settings(), options)
    except* (ConfigError, StoreError, Disconnected, CallRefused) as failures:
        for failure in logs.leaves(failures):
            for line in spell_commands(str(failure)).splitlines():
                print(f"aldis: {line}", file=sys.stderr)
    return 2


def _verb(name: str) -> Callable[..., int]:
    """The function of a verb, `module.function` of `bot.cli`; the module is imported when it is called."""
    module, function = name.split(".")

    def call(*arguments: Any) -> int:
        found: Callable[..., int] = getattr(import_module(f"bot.cli.{module}"), function)
        return found(*arguments)

    return call


def _text(given: str) -> str:
    if not given.strip():
        raise argparse.ArgumentTypeError("there is no message to answer")
    return given


def _turn(given: str) -> int:
    if not (given.isascii() and given.isdigit() and len(given) <= _MAX_TURN_DIGITS):
        raise argparse.ArgumentTypeError(f"a turn is a number, as `{command_line('trace')}` lists them")
    return int(given)


class _Parser(argparse.ArgumentParser):
    """Says what was surely meant by a verb or an option that there is not."""

    verbs: Mapping[str, argparse.ArgumentParser] = {}

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The verb and its options; leaves with status 2 where they are wrong.

        Options that there are not are told by the parser of their verb, which knows those that there are.
        """
        found, left = self.parse_known_args(arguments)
        if left:
            self.verbs.get(arguments[0], self).error(f"unrecognized arguments: {' '.join(left)}")
        return found

    def error(self, message: str) -> NoReturn:
        """Leave with the message, and with what comes close instead of all that there is."""
        wrong = re.search(r"(?:invalid choice: '|unrecognized arguments: )([\w-]+)", message)
        known = [*self.verbs, *re.findall(r"--[\w-]+", self.format_help())]
        meant = difflib.get_close_matches(wrong[1], known, n=1, cutoff=0.65) if wrong else []
        super().error(f"{message.partition(' (choose from')[0]}; did you mean {meant[0]}?" if meant else message)


class _Version(argparse.Action):
    """Looks at the source only where somebody asks for it."""

    def __call__(self, *_: object) -> None:
        print(f"Aldis {described_build()}")
        sys.exit(0)


def _parser() -> _Parser:
    command = command_line()
    parser = _Parser(
        prog=command,
        description="Aldis: a private assistant that lives in the Signal messenger.",
        epilog=f"Settings come from the environment, .env and the settings file; see `{command} settings`.",
    )
    parser.add_argument("-V", "--version", action=_Version, nargs=0, help="show the version and a digest of its source")
    verbs = parser.add_subparsers(required=True, metavar="verb")
    _add_chat(verbs.add_parser("chat", help="talk to Aldis in the terminal"))
    run = verbs.add_parser("run", help="answer in Signal until stopped")
    _add_decision(run)
    run.set_defaults(verb=_verb("run.run"))
    verbs.add_parser("restart", help="have the running Aldis read its settings anew and begin again").set_defaults(
        verb=_verb("run.restart")
    )
    verbs.add_parser("link", help="link Aldis to a Signal account: shows the QR code and waits").set_defaults(
        verb=_verb("link.link")
    )
    _add_profile(verbs.add_parser("profile", help="show or change the account's name, picture and user name"))
    verbs.add_parser("health", help="ask the running Aldis how it is; exit status 0 means well").set_defaults(
        verb=_verb("health.health")
    )
    doctor = verbs.add_parser("doctor", help="look at everything that Aldis stands on, and say what to do")
    doctor.add_argument("--model", action="store_true", help="ask each model a question, too; it costs a little")
    doctor.add_argument("-v", "--verbose", action="store_true", help="show what could be switched on besides, too")
    doctor.add_argument(
        "--fix",
        dest="mending",
        action="store_const",
        const=_verb("store.fix"),
        help="first mend what can be mended without harm: file rights, folders, slips in .env, what a kill left behind",
    )
    doctor.set_defaults(verb=_verb("store.examine"))
    _add_tools(verbs.add_parser("tools", help="list every tool with its state and cost, or run one by hand"))
    backup = verbs.add_parser("backup", help="copy what is kept into a folder, also while Aldis runs")
    backup.add_argument("folder", help="where the copy goes; made when missing")
    backup.set_defaults(verb=_verb("store.back_up"))
    restore = verbs.add_parser("restore", help="put a copy in the place of what is kept; stop Aldis first")
    restore.add_argument("file", nargs="?", help="the copy's file whose name ends in .db; none: only decide")
    _add_decision(restore)
    restore.set_defaults(verb=_verb("store.put_back"))
    rotate = verbs.add_parser("rotate-key", help="put a new master key in the place of the one in its file")
    rotate.set_defaults(verb=_verb("store.turn_key"))
    reseal = verbs.add_parser("reseal", help="strike out what somebody has changed in the database; stop Aldis first")
    reseal.set_defaults(verb=_verb("store.reseal"))
    export = verbs.add_parser("export", help="print what is kept about a person, as JSON")
    export.add_argument("person", metavar="UUID", help="the person; the doctor shows the uuids of those on the list")
    export.set_defaults(verb=_verb("store.hand_over"))
    _add_trust(verbs.add_parser("trust", help="trust somebody's new safety number; alone, show who has one"))
    trace = verbs.add_parser("trace", help="show the way of one message: when, how long, at what cost; no words")
    trace.add_argument("turn", metavar="TURN", nargs="?", type=_turn, help="the number of its turn; none: the newest")
    trace.set_defaults(verb=_verb("store.trace"))
    setup = verbs.add_parser("setup", help="set Aldis up in a browser: run it, and print a link to its pages")
    _add_decision(setup)
    setup.set_defaults(verb=_verb("run.set_up"))
    admin = verbs.add_parser("admin", help="print a link that opens the pages of the running Aldis, once")
    admin.set_defaults(verb=_verb("admin.show_link"))
    _add_verify(verbs.add_parser("verify", help="print a quote of this machine, where Aldis runs in a TEE"))
    captcha = verbs.add_parser("captcha", help="hand in the captcha that Signal wants solved before it sends more")
    captcha.add_argument("link", metavar="LINK", nargs="*", help="the link of “Open Signal”; without it, it is read")
    captcha.set_defaults(verb=_verb("store.solve"))
    _add_upgrade(
        verbs.add_parser("upgrade-check", help="try this version on a copy of what is kept, and say what changes")
    )
    _add_settings(
        verbs.add_parser("settings", help="show what is set and where it comes from, or change the settings file")
    )
    parser.verbs = verbs.choices
    return parser


def _add_chat(chat: argparse.ArgumentParser) -> None:
    chat.add_argument("--once", metavar="TEXT", type=_text, help="answer one message and leave")
    chat.add_argument("--conversation", metavar="NAME", default="default", help="which conversation (default: default)")
    chat.add_argument("-v", "--verbose", action="count", default=0, help="show results; -vv: timings, tokens and cost")
    chat.set_defaults(verb=_verb("chat.chat"))


def _add_trust(trust: argparse.ArgumentParser) -> None:
    trust.add_argument("name", metavar="LABEL", nargs="?", help="who it is, by label or uuid")
    trust.add_argument(
        "--verified", metavar="NUMBER", nargs="+", help="the safety number, as you have compared it with theirs"
    )
    trust.set_defaults(verb=_verb("store.trust"))


def _add_profile(profile: argparse.ArgumentParser) -> None:
    profile.add_argument("--name", help="the name that people see")
    profile.add_argument("--about", help="a few words below it; '' for none")
    picture = profile.add_mutually_exclusive_group()
    picture.add_argument("--picture", metavar="FILE", type=Path, help="the picture: JPEG, PNG, WebP or GIF")
    picture.add_argument("--no-picture", action="store_true", help="remove the picture")
    username = profile.add_mutually_exclusive_group()
    username.add_argument("--username", metavar="NAME", help="take a user name; shows its link and QR code")
    username.add_argument("--no-username", action="store_true", help="give up the user name")
    profile.set_defaults(verb=_verb("profile.profile"))


def _add_verify(verify: argparse.ArgumentParser) -> None:
    verify.add_argument("word", metavar="WORD", help="a new word of whoever is going to check the quote")
    verify.set_defaults(verb=_verb("verify.verify"))


def _add_upgrade(upgrade: argparse.ArgumentParser) -> None:
    upgrade.add_argument("folder", nargs="?", help="where the backup goes (default: backups, beside the store)")
    upgrade.add_argument("--model", action="store_true", help="have the real models answer; it costs a little")
    upgrade.set_defaults(verb=_verb("upgrade.check"))


def _add_settings(table: argparse.ArgumentParser) -> None:
    table.add_argument("--all", action="store_true", help="list every setting with its default and meaning instead")
    table.add_argument(
        "words",
        nargs="*",
        metavar="NAME | set NAME=VALUE ... | unset NAME ...",
        help="a setting to show; or changes of the settings file (NAME=- reads the value from standard input)",
    )
    table.set_defaults(verb=None, mending=_verb("settings.show_or_change"))


def _add_decision(verb: argparse.ArgumentParser) -> None:
    """What becomes of what was open in a backup that was restored."""
    either = verb.add_mutually_exclusive_group()
    either.add_argument(
        "--settle",
        dest="decision",
        action="store_const",
        const="settle",
        help="after a restore: nothing of the past is answered, sent or said; what repeats goes on",
    )
    either.add_argument(
        "--replay", dest="decision", action="store_const", const="replay", help="after a restore: do all that was open"
    )


def _add_tools(tools: argparse.ArgumentParser) -> None:
    tools.add_argument("--json", action="store_true", help="list them as JSON")
    tools.set_defaults(verb=_verb("tools.show"))
    call = tools.add_subparsers(metavar="call").add_parser("call", help="run a tool by hand, with the real settings")
    call.add_argument("name", metavar="NAME", help=f"its name as models see it; `{command_line('tools')}` lists them")
    call.add_argument(
        "arguments", metavar="JSON", nargs="?", default="{}", help="""such as '{"expression": "17*23"}'"""
    )
    call.add_argument("--files", metavar="FOLDER", help="where the files go that it makes; else they are not kept")
    call.add_argument("--yes", action="store_true", help="do not ask before what cannot be taken back")
    call.set_defaults(verb=_verb("tools.call"))
