"""Summaries give way to questions at a server that answers one request at a time."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from bot.models.base import Completion, Request
from bot.models.fallback import MAX_GIVEN_WAY, Fallback, QuestionsFirst
from tests.bot.models.test_fallback import completion_of
from tests.bot.models.vendors import QUESTION
from tests.waiting import WAIT_SECONDS, all_begun, eventually, let_pass

_LONG_SECONDS = 4 * WAIT_SECONDS
"""Longer than what a test lets pass."""
SUMMARY = replace(QUESTION, may_wait=True, conversation="summary")


@dataclass
class OneSlot:
    """A model that answers when it is let; knows who was asked and broken off."""

    name: str = "home"
    open: dict[str, list[asyncio.Future[Completion]]] = field(default_factory=dict)
    broken_off: list[str] = field(default_factory=list)

    async def complete(self, request: Request) -> Completion:
        answer = asyncio.get_running_loop().create_future()
        self.open.setdefault(request.conversation, []).append(answer)
        try:
            return await answer
        except asyncio.CancelledError:
            self.broken_off.append(request.conversation)
            raise

    async def aclose(self) -> None:
        """Nothing is open."""

    async def asked(self, conversation: str, times: int = 1) -> None:
        await eventually(lambda: len(self.open.get(conversation, ())) == times)

    def answer(self, conversation: str) -> None:
        self.open[conversation][-1].set_result(completion_of(self.name))


@asynccontextmanager
async def running(provider: QuestionsFirst, *requests: Request) -> AsyncGenerator[list[asyncio.Task[Completion]]]:
    """These requests, under way."""
    tasks = [asyncio.create_task(provider.complete(request)) for request in requests]
    await all_begun()
    try:
        async with asyncio.timeout(_LONG_SECONDS):
            yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def first(model: OneSlot, *, is_at_home: bool = True, rest_seconds: float = 0.0) -> QuestionsFirst:
    fallback = Fallback([model], pause=lambda _: asyncio.sleep(0))
    return QuestionsFirst(fallback, is_at_home=lambda _: is_at_home, rest_seconds=rest_seconds)


async def test_a_summary_waits_for_the_question_and_comes_after_it() -> None:
    """It is broken off when a question comes, and asked again behind it."""
    model = OneSlot()
    provider = first(model)
    async with running(provider, SUMMARY) as [summary]:
        await model.asked("summary")
        async with running(provider, QUESTION) as [question]:
            await model.asked(QUESTION.conversation)
            await eventually(lambda: model.broken_off == ["summary"])
            assert len(model.open["summary"]) == 1
            model.answer(QUESTION.conversation)
            await question
        await model.asked("summary", 2)
        model.answer("summary")
        assert (await summary).provider == "home"


async def test_a_summary_that_is_asked_while_somebody_waits_is_not_begun() -> None:
    """Also not while nobody asks for a moment only: a tool may run meanwhile."""
    model = OneSlot()
    provider = first(model, rest_seconds=WAIT_SECONDS)
    async with running(provider, QUESTION, SUMMARY) as [question, summary]:
        model.answer(QUESTION.conversation)
        await question
        async with running(provider, QUESTION) as [again]:
            await model.asked(QUESTION.conversation, 2)
            let_pass(WAIT_SECONDS)
            await all_begun()
            assert "summary" not in model.open
            model.answer(QUESTION.conversation)
            await again
        await all_begun()
        let_pass(WAIT_SECONDS)
        await model.asked("summary")
        model.answer("summary")
        assert (await summary).attempts == ()


async def test_a_summary_does_not_give_way_for_ever() -> None:
    """A conversation that goes on without a pause is summarized all the same."""
    model = OneSlot()
    provider = first(model)
    async with running(provider, SUMMARY) as [summary]:
        for round_number in range(1, MAX_GIVEN_WAY + 2):
            await model.asked("summary", round_number)
            async with running(provider, QUESTION) as [question]:
                await model.asked(QUESTION.conversation, round_number)
                model.answer(QUESTION.conversation)
                await question
        assert model.broken_off == ["summary"] * MAX_GIVEN_WAY
        model.answer("summary")
        await summary


async def test_elsewhere_nothing_gives_way() -> None:
    """What is broken off at a vendor's is paid for."""
    model = OneSlot()
    provider = first(model, is_at_home=False)
    async with running(provider, SUMMARY, QUESTION) as [summary, question]:
        await model.asked("summary")
        await model.asked(QUESTION.conversation)
        model.answer("summary")
        model.answer(QUESTION.conversation)
        await asyncio.gather(summary, question)
    assert model.broken_off == []


async def test_an_answer_that_is_there_is_kept() -> None:
    """Though a question comes in the same moment."""
    model = OneSlot()
    provider = first(model)
    async with running(provider, SUMMARY) as [summary]:
        await model.asked("summary")
        model.answer("summary")
        async with running(provider, QUESTION):
            await summary
    assert len(model.open["summary"]) == 1
