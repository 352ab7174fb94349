"""The command `/watch`: lists what is watched for a person, pauses it and stops it."""

import re
from dataclasses import dataclass

from bot.commands.base import Answer, Call, CommandGroup, WrongForm, command
from bot.features.watches.service import WATCH_JSON, Lookout
from bot.i18n.catalogues import Sentence, say
from bot.i18n.phrases import REMINDER_CANCELLED, money
from store import Repositories, WatchRow

ABOUT_WATCH = Sentence("ABOUT_WATCH", "shows what I watch for you, pauses it or stops it; just ask me to watch things.")
NO_WATCH = Sentence("NO_WATCH", "There's no watch {number} here. `/watch` shows yours.")
NO_WATCHES = Sentence("NO_WATCHES", "I watch nothing for you here. Just ask me: “Tell me when …”")
WATCH_LINE = Sentence("WATCH_LINE", "- {number}: {text}")
WATCH_IS_PAUSED = Sentence("WATCH_IS_PAUSED", "(paused)")
WATCH_COST = Sentence("WATCH_COST", "({cost} this month)")
WATCH_PAUSED = Sentence("WATCH_PAUSED", "Paused: {text}")
WATCH_RESUMED = Sentence("WATCH_RESUMED", "I'm watching again: {text}")

_CHANGE = re.compile(r"(?P<action>pause|resume|cancel)\s+(?:(?P<number>\d{1,9})|all)", re.IGNORECASE)


@dataclass
class WatchCommands(CommandGroup):
    """The command about watches, for everybody."""

    watches: Lookout

    @command(
        "/watch [pause N|resume N|cancel N|cancel all]",
        ABOUT_WATCH,
        section="later",
        examples=("/watch", "/watch pause 1", "/watch resume 1", "/watch cancel 1", "/watch cancel all"),
    )
    async def _watch(self, call: Call) -> Answer:
        """Shows what Aldis watches for this person here; pauses, resumes or cancels one of these watches, or all."""
        match = _CHANGE.fullmatch(call.command.rest)
        if match is None and call.command.rest:
            raise WrongForm

        def answer(repos: Repositories) -> str:
            rows = repos.watches.of_person(call.message.author, call.conversation)
            meant = [row for row in rows if match is None or match["number"] in {None, str(row.number)}]
            action = "" if match is None else match["action"].lower()
            none = say(NO_WATCH, number=match["number"]) if rows and match is not None else say(NO_WATCHES)
            return "\n".join(self._changed(repos, row, action) for row in meant) or none

        return answer

    def _changed(self, repos: Repositories, row: WatchRow, action: str) -> str:
        """Does that with a watch, and says so; or its line in the list."""
        now = self.context.clock.now()
        text = WATCH_JSON.validate_json(row.watch or b"").text
        if action == "cancel":
            repos.watches.settle(row.id, now=now)
            return say(REMINDER_CANCELLED, text=text)
        if action:
            repos.watches.keep(row, row.state, due_at=None if action == "pause" else now)
            return say(WATCH_PAUSED if action == "pause" else WATCH_RESUMED, text=text)
        spent = self.watches.spent_usd(repos, row)
        cost = [say(WATCH_COST, cost=money(spent))] if spent else []
        paused = [say(WATCH_IS_PAUSED)] if row.due_at is None else []
        return " ".join([say(WATCH_LINE, number=row.number, text=text), *paused, *cost])
