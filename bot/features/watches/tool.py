"""The tool `watch`: has something watched for the person who asks."""

from datetime import timedelta

from bot.chat.citations import CitedPages
from bot.chat.journal import Turn
from bot.events import ChatId, PersonId, SentId
from bot.features.watches.conditions import State, compare, found_at, number_in
from bot.features.watches.service import STATE_JSON, WATCH_JSON, Lookout, Watch, WatchArguments
from bot.labels import dump_labels, load_labels
from bot.messages import CallId, ToolCall
from store import Repositories, TurnId, WatchRow
from tools import BadArguments, Denied, Intent, RateLimited, Result, ToolContext, ToolSpec, canonical_url

MAX_WATCHES = 20
"""How many watches one person can have, in all conversations together."""


class WatchTool:
    """Watches something for a person, and tells them when it happens."""

    spec = ToolSpec(
        name="watch",
        seldom="tell the person when something happens",
        description=(
            "Looks again and again, and messages the person once something happens: a price, a currency, weather, a"
            " market, a page, news, evidence on a claim. It calls one tool with fixed arguments and compares one place"
            " of its answer. For news: intel_search or web_search, look_at results, when new. Say what there is now and"
            " how often you look. `/watch` lists, pauses and cancels them."
        ),
        arguments=WatchArguments,
        intent=lambda given: Intent("watch", {"text": given.text}, {"tool": given.tool, **given.arguments}),
        effects="repeatable",
        label="kept",
        approval="each_by_labels",
        timeout_seconds=60,
    )

    def __init__(self, watches: Lookout) -> None:
        self._watches = watches

    async def run(self, arguments: WatchArguments, context: ToolContext) -> Result:
        """Looks for the first time; returns what there is now. The same call after a crash makes nothing more.

        Raises:
            ToolError: it cannot be compared like that, the call fails, or the person may not have it watched.
        """
        watches = self._watches
        turn_id = TurnId(context.turn)
        now = watches.clock.now()
        url = arguments.arguments.get("url")
        if url is not None and canonical_url(str(url)) not in context.addresses:
            raise BadArguments("url: only an address in the person's own message can be watched; ask for it")
        here = await watches.store.conversation(context.chat, now=now)

        def open_watch(repos: Repositories) -> tuple[Watch, Turn]:
            if not repos.journal.is_running(turn_id) or repos.reminders.is_run_by_one(turn_id):
                raise Denied("the person has not just asked for this themselves")
            if repos.watches.count(context.person) >= MAX_WATCHES and not repos.watches.of_origin(context.call):
                raise RateLimited(f"the person has {MAX_WATCHES} watches; `/watch cancel` makes room")
            watch = Watch(
                person=PersonId(context.person),
                chat=ChatId(context.chat),
                sent_at=SentId(repos.reminders.asked_at(turn_id)),
                given=arguments,
                labels=load_labels(context.origin),
                made_at=now,
            )
            return watch, watches.turn(repos, watch, here, turn_id)

        watch, turn = await watches.store.transaction(open_watch)
        call = ToolCall(id=CallId(f"{context.call}_first"), name=arguments.tool, arguments=arguments.arguments)
        run = await watches.make_call(call, turn, watch.labels, CitedPages((), watches.toolbox.finds_pages))
        found = found_at(run.answer.data, arguments.look_at)
        seen, _, _ = compare(arguments.when, arguments.value, State(), found)
        minutes = max(arguments.minutes, watches.settings.watches.least_minutes)
        due_at = now + timedelta(minutes=minutes)
        watched = WATCH_JSON.dump_json(watch)
        state = STATE_JSON.dump_json(seen)

        def put(repos: Repositories) -> WatchRow:
            if watch.chat.is_group:
                repos.members.want(here)
            return repos.watches.put(
                here, context.person, context.call, watch=watched, state=state, due_at=due_at, turn=turn_id
            )

        row = await watches.store.transaction(put)
        ends = row.expires_at and f"{row.expires_at:%Y-%m-%d %H:%M} UTC, when the message disappears"
        now_is = None if arguments.when in {"changes", "new"} else str(number_in(found))  # no words of strangers
        data = {"number": row.number, "now": now_is, "every_minutes": minutes, "ends": ends}
        if "next_offset" in run.answer.data:
            data["note"] = "The page is long: only the piece that this call reads is watched; say so."
        return Result(data=data, origins=(dump_labels(watch.labels).decode(),))
