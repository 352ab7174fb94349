"""Memory: the facts about themselves that people want remembered.

They are told, kept and used in a person's direct conversation with Aldis and nowhere else: what somebody says in a
group is not remembered about anybody, and no group learns what somebody said in private. They live as long as the
message that told them.
"""

from bot.clock import Clock
from bot.events import ChatId
from store import ConversationId, Fact, Repositories, Store, TurnId
from tools import Denied, NotFound, RateLimited, RememberedFact, ToolContext

MAX_FACTS = 50
"""How many facts are remembered about one person."""


class Memory:
    """Everything remembered about people; the port of the tool `remember`."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def remember(self, fact: str, context: ToolContext) -> RememberedFact:
        """Remembers a fact about the person who asks; see `tools.Memory`."""
        conversation = await self._own(context)

        def transact(repos: Repositories) -> RememberedFact:
            turn = TurnId(context.turn)
            if not repos.journal.is_running(turn) or repos.reminders.is_run_by_one(turn):
                raise Denied("the person has not just asked for this themselves")
            known = self.all(repos, conversation)
            if again := next((kept for kept in known if kept.fact.casefold() == fact.casefold()), None):
                return again
            if len(known) >= MAX_FACTS and repos.facts.of_origin(conversation, context.call) is None:
                raise RateLimited(
                    f"{MAX_FACTS} facts are remembered already; the person has to have one forgotten first"
                )
            put = repos.facts.put(
                conversation,
                context.call,
                fact.encode(),
                labels=context.origin.encode(),
                turn=turn,
                now=self._clock.now(),
            )
            return _remembered(put)

        return await self._store.transaction(transact)

    async def forget(self, number: int, context: ToolContext) -> None:
        """Forgets a fact about the person who asks; see `tools.Memory`."""
        conversation = await self._own(context)
        if not await self._store.transaction(lambda repos: repos.facts.forget(conversation, number)):
            raise NotFound(f"no fact {number} is remembered")

    def all(self, repos: Repositories, conversation: ConversationId) -> tuple[RememberedFact, ...]:
        """Returns what is remembered in a direct conversation, oldest first, within a transaction."""
        return tuple(map(_remembered, repos.facts.all(conversation, now=self._clock.now())))

    async def _own(self, context: ToolContext) -> ConversationId:
        """The direct conversation of the person who asks, which is the only place for facts about them.

        Raises:
            Denied: they ask somewhere else.
        """
        if ChatId(context.chat).is_group:
            raise Denied("nothing is remembered in a group")
        return await self._store.conversation(context.chat, now=self._clock.now())


def _remembered(fact: Fact) -> RememberedFact:
    words = "" if fact.fact is None else fact.fact.decode()
    until = None if fact.expires_at is None else f"{fact.expires_at:%Y-%m-%dT%H:%MZ}"
    origin = "" if fact.labels is None else fact.labels.decode()
    return RememberedFact(number=fact.number, fact=words, until=until, origin=origin)
