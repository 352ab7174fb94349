"""Urgent items: deletions, edits, a yes or no, commands. They are carried out in the order in which they arrived.

They may concern the very turn that is running in their conversation, so they do not wait for it. Those of one
conversation run one after the other, those of different ones side by side, because a command may ask the bridge or draw
a picture. Each is settled in the transaction that carries it out.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial

from bot.access.access import AccessList, is_admin, is_direct
from bot.access.chat_settings import ChatSettings
from bot.access.routing import (
    Command,
    Correction,
    Ignore,
    Question,
    Reaction,
    Route,
    Talk,
    Verdict,
    Wished,
    route,
    unanswered_message,
)
from bot.chat.approvals import Approvals
from bot.chat.context import GroupContext
from bot.chat.edits import Revisions
from bot.chat.steps import Corrected
from bot.chat.turn_tasks import TurnTasks
from bot.chat.turns import Turns
from bot.commands.admin import in_time
from bot.commands.base import Call, Commands
from bot.events import (
    Deleted,
    Edited,
    Envelope,
    Event,
    Incoming,
    PersonId,
    Reacted,
    SentId,
    UnreadableJson,
    is_stop_word,
    load_envelope,
    read_event,
)
from bot.i18n import phrases as common_phrases
from bot.logs import describe_error
from bot.signal.envelope import CORRECTION
from bot.signal.protocol import Groups, Outside
from bot.trust import provenance
from store import ConversationId, InboxId, InboxItem, Repositories, StoreError, StoreFull, StoreInUse, TurnId

_log = logging.getLogger(__name__)

_MAX_TRIES = 3
_PAUSE_SECONDS = 1.0
"""After the store has failed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenedItem:
    """A row of the inbox, read once."""

    item: InboxItem
    envelope: Envelope
    event: Event | None
    route: Route


@dataclass
class UrgentItems(Outside):
    """Carries out what is urgent, alongside the turns."""

    _: KW_ONLY
    turns: Turns
    revisions: Revisions
    approvals: Approvals
    commands: Commands
    on_reaction: Sequence[Callable[[Repositories, ConversationId, PersonId, SentId, Wished], bool]]
    """Each does what a reaction to our message wants, within a transaction; False if it is about nothing of its own."""
    group_context: GroupContext
    name: str
    """What groups call Aldis."""
    allowed: AccessList

    def __post_init__(self) -> None:
        self._wakeup = self.store.wakeups["urgent"]
        self._wakeup.set()  # there may be items from before
        self.lanes = set[ConversationId]()
        """The conversations with an urgent item under way: it may be about to take a question back."""
        self._running = TurnTasks()
        """The turns that run beside it: those of the loop that calls `begin_all`."""

    async def begin_all(self, running: TurnTasks, group: asyncio.TaskGroup) -> None:
        """Begins to carry out what waits; does nothing if nothing urgent has arrived since.

        When the last item of a conversation has ended, the loop of the inbox is woken.

        Raises:
            StoreError: nothing can be read; try again later.
        """
        if not self._wakeup.is_set():
            return
        self._wakeup.clear()
        self._running = running
        try:
            while items := await self.store.read(lambda repos: repos.inbox.urgent_items(besides=self.lanes)):
                for item in items:
                    if item.conversation not in self.lanes:
                        self.lanes.add(item.conversation)
                        group.create_task(self._attend(item), name=f"urgent-{item.id}")
        except StoreError:
            self._wakeup.set()
            raise

    async def _attend(self, item: InboxItem) -> None:
        """Carries out an item; one that keeps failing, or kills the process, is given up."""
        try:
            try:
                opened = await self.open(item)
                if opened is None or item.attempts > _MAX_TRIES:
                    await self._give_up(item, opened)
                else:
                    await self._carry_out(opened)
            except (StoreFull, StoreInUse):
                raise
            except Exception as error:  # noqa: BLE001  (the failure of one item must not end the others)
                _log.error("item %d failed (try %d): %s", item.id, item.attempts, describe_error(error))
                await self.store.transaction(lambda repos: repos.inbox.count_try(item.id))
        except StoreError as error:
            _log.error("an urgent message could not be handled: %s", error)
            await asyncio.sleep(_PAUSE_SECONDS)
        finally:
            self.lanes.remove(item.conversation)
            self._wakeup.set()  # more may have arrived there, or is tried again
            self.store.wakeups["inbox"].set()

    async def _give_up(self, item: InboxItem, opened: OpenedItem | None) -> None:
        """Settles an item that cannot be carried out; its sender hears so, if it can be read and was for Aldis."""
        message = unanswered_message(opened.route) if opened else None
        if opened and isinstance(opened.route, Command) and self.commands.has(opened.route.name):
            message = opened.route.message

        def give_up(repos: Repositories) -> None:
            place = item.conversation
            failed = common_phrases.FAILED
            until = item.expires_at
            turn = None if message is None else self.turns.tell(repos, place, message, failed, expires_at=until)
            repos.inbox.settle(item.id, dead=True, turn=turn)

        await self.store.transaction(give_up)

    async def open(self, item: InboxItem) -> OpenedItem | None:
        """The contents of an inbox row and where they go; None if the row is unreadable."""
        try:
            envelope = load_envelope(item.envelope)
        except UnreadableJson:
            return None
        settings = ChatSettings() if is_direct(envelope) else await self.turns.settings(item.conversation)
        translates = bool(settings.translates) and not settings.is_paused
        routed = partial(route, name=self.name, answers_always=settings.answers_always, translates=translates)
        try:
            event = read_event(envelope, self.transport.event)
            found = routed(event)
        except Exception as error:  # noqa: BLE001  (a bug with one message must not affect those that came with it)
            _log.error("message %d cannot be read: %s", item.id, describe_error(error))
            event = None
            found = Ignore(reason="unreadable")
        said = event.message if isinstance(event, Edited) else event
        if translates and isinstance(said, Incoming) and await self.turns.answers_translation(item.conversation, said):
            said = replace(said, quotes_me=False)
            found = routed(replace(event, message=said) if isinstance(event, Edited) else said)
        return OpenedItem(item=item, envelope=envelope, event=event, route=found)

    async def _carry_out(self, opened: OpenedItem) -> None:
        item = opened.item
        found = opened.route
        by_admin = is_admin(opened.envelope, self.allowed)
        match found:
            case Deleted():
                self.group_context.take_back(found.chat, found.author, found.target)
                self.commands.take_back(item.conversation, found.author)
                self._running.halt(await self.revisions.withdraw(item, found))
            case Correction():
                await self._correct(item, found)
            case Command():
                await self._run(item, found, by_admin=by_admin)
            case Reaction(reacted=reacted):
                if found.wish != "cancel" or not await self._stop(item, reacted, by_admin=by_admin):
                    await self._react(item, reacted.author, reacted.target, found.wish)
            case Verdict():
                await self._decide(item, found, by_admin=by_admin)
            case Question(message=message) | Talk(message=message, is_translated=False) if await self._stops(
                item.conversation, message
            ):
                await self._settle(item.id)  # the turn itself reports that it was stopped
            case Question() | Talk(is_translated=True):
                await self._correct_or_ask(item, found)
            case Talk(message=message, reason=reason):
                self.group_context.hear(message, expires_at=item.expires_at)
                await self._settle(item.id, reason)
            case ignored:
                await self._settle(item.id, ignored.reason)

    async def _run(self, item: InboxItem, command: Command, *, by_admin: bool) -> None:
        call = Call(
            urgent_item=item,
            command=command,
            is_admin=by_admin,
            may_configure_group=by_admin or not self.allowed.admins,
            running=self._running,
        )
        if not await self.commands.run(call):
            self.counts.note_unanswered("other_bot")

    async def _correct(self, item: InboxItem, correction: Correction) -> None:
        """Applies an edit."""
        edit = correction.edit
        message = correction.edit.message
        meant = correction.as_message
        if not await self._is_by_member(edit):
            await self._settle(item.id, "not_allowed")
            return
        self.commands.take_back(item.conversation, message.author)
        if isinstance(meant, Command) and self.commands.has(meant.name):  # ours in a group, too, even unaddressed
            correction = replace(correction, as_message=replace(meant, is_addressed=True))
        if correction.is_addressed or isinstance(meant, Command):
            self.group_context.take_back(message.chat, message.author, edit.target)
        else:
            self.group_context.correct(edit.target, message)
        self._running.halt(await self.revisions.correct(item, correction))

    async def _is_by_member(self, edit: Edited) -> bool:
        """Whether an edit in a group comes from one of its members, which signal-cli does not check; also if unknown.

        Source: signal-cli 0.14.6, `IncomingMessageHandler.getGroupContext` (2026-11-26).
        """
        chat = edit.message.chat
        if not chat.is_group or not isinstance(self.transport, Groups):
            return True
        groups = await in_time(self.transport.groups())  # others of this conversation wait behind it
        if groups is None:
            return True
        group = next((group for group in groups if group.id == chat.id), None)
        return group is not None and (edit.message.author in group.members or not group.is_complete)

    async def _decide(self, item: InboxItem, verdict: Verdict, *, by_admin: bool) -> None:
        """Takes a yes or no; words that answer nothing become an ordinary question."""
        if (command := await self.commands.take_confirmation(item, verdict)) is not None:
            await self._run(item, command, by_admin=by_admin)
        elif await self.approvals.decide(item.conversation, verdict, is_admin=by_admin, item=item.id):
            pass
        elif verdict.is_always and verdict.instead is None and verdict.target is not None:
            await self._react(item, verdict.author, verdict.target, "done")
        else:
            await (self._ask(item.id) if isinstance(verdict.instead, Question) else self._settle(item.id))

    async def _react(self, item: InboxItem, author: PersonId, target: SentId, wish: Wished) -> None:
        """Does what a reaction wants of the thing that our message speaks of, if any, and settles it."""

        def transact(repos: Repositories) -> None:
            if not any(react(repos, item.conversation, author, target, wish) for react in self.on_reaction):
                self.counts.note_unanswered("reacted")
            repos.inbox.settle(item.id)

        await self.store.transaction(transact)

    async def _stop(self, item: InboxItem, halt: Reacted, *, by_admin: bool) -> bool:
        """Stops the answer that the reaction is about, if there is one that the person can stop: their own, or any if
        they are an admin; whether it did.
        """
        author = halt.target_author

        def look(repos: Repositories) -> tuple[TurnId | None, bool, bool]:
            """The turn, whether its message still waits for an answer, and whether the person can stop it."""
            known = None if author is None else repos.inbox.find(item.conversation, author, halt.target)
            turn = repos.outbox.turn_of(item.conversation, halt.target) if known is None else known.turn
            is_asker = turn is not None and repos.turns.is_asker(turn, halt.author)
            return turn, known is not None and known.is_open, by_admin or is_asker or halt.author == author

        turn, is_open, may_stop = await self.store.read(look)
        if turn is not None and may_stop and self._running.stop(turn):
            await self._settle(item.id)  # the turn itself reports that it was stopped
        elif is_open and author is not None and may_stop:
            message = Deleted(author=author, chat=halt.chat, target=halt.target)
            self._running.halt(await self.revisions.withdraw(item, message))
        else:
            return False
        return True

    async def _stops(self, conversation: ConversationId, message: Incoming) -> bool:
        """Stops the answer to the author of a message that is a word for it; whether there was one."""
        turn = self._running.turn_of(conversation)
        if turn is None or not is_stop_word(message.text):
            return False
        is_asker = await self.store.read(lambda repos: repos.turns.is_asker(turn, message.author))
        return is_asker and self._running.stop(turn)

    async def _correct_or_ask(self, item: InboxItem, found: Question | Talk) -> None:
        """Hands a message to its author's running turn, if it corrects that and stays as long; else asks it."""
        message = found.message
        place = item.conversation
        turn = self._running.turn_of(place) if isinstance(found, Question) else None
        journal = None if turn is None or self._running.is_stopped(turn) else self.turns.journals.get(turn)

        def is_meant(repos: Repositories) -> bool:
            is_quote = message.quote is not None and repos.outbox.turn_of(place, message.quote.sent_at) == turn
            is_about_it = is_quote or CORRECTION.match(message.text) is not None
            return turn is not None and is_about_it and repos.turns.is_asker(turn, message.author)

        if journal is not None and not message.files and await self.store.read(is_meant):
            until = journal.turn.expires_at
            stays = item.expires_at is None or (until is not None and until <= item.expires_at)
            labels = provenance.of_question((message,))
            correction = Corrected(text=provenance.without_names(message), labels=labels)
            if stays and await journal.take_correction(correction, item.id):
                return
        await self._ask(item.id)

    async def _settle(self, item: InboxId, unanswered: str | None = None) -> None:
        """Settles an item that needs nothing more; `unanswered` is the reason if it should have been answered."""
        if unanswered is not None:
            self.counts.note_unanswered(unanswered)
        await self.store.transaction(lambda repos: repos.inbox.settle(item))

    async def _ask(self, item: InboxId) -> None:
        """Turns an item into a question, which waits like any other."""
        await self.store.transaction(lambda repos: repos.inbox.as_question(item, None))
