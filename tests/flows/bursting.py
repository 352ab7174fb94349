"""Aldis with bugs: `python -m tests.flows.bursting VERB ...`. What fails has people's words in its message.

A message with the word     what happens
`stumble`                   what it says cannot be read: the intake fails over it, and the worker
`burst`                     its turn fails, from an error that came of another, each time it is tried
`fray`                      a task that nobody waits for fails beside the turn
`collapse`                  maintenance fails, and with it the process

The calculator fails with what it was asked to calculate.
"""

import asyncio
import gc
import sys
from typing import Any, NoReturn

from bot.chat.agent import Agent
from bot.cli.main import main
from bot.loops.maintenance import Maintenance
from bot.signal.envelope import FrameReader
from tools.calculator import Calculator

_answer, _event = Agent.answer, FrameReader.event
_collapsing = asyncio.Event()
_words: list[str] = []


async def _bursting(self: Agent, turn: Any, *rest: Any, **named: Any) -> Any:
    question = str(turn)
    _words.append(question)
    if "fray" in question:
        await _frayed(question)
    if "collapse" in question:
        _collapsing.set()
    if "burst" in question:
        try:
            _fail(question)
        except ValueError as error:
            raise KeyError(question) from error
    return await _answer(self, turn, *rest, **named)


def _fail(words: str) -> NoReturn:
    raise ValueError(words)


async def _frayed(words: str) -> None:
    async def failing() -> None:
        _fail(words)

    task = asyncio.create_task(failing(), name=words)
    await asyncio.wait([task])
    del task
    gc.collect()


def _stumbling(self: FrameReader, envelope: Any) -> Any:
    if "stumble" in envelope.raw:
        raise LookupError(envelope.raw)
    return _event(self, envelope)


async def _calculating(self: Calculator, arguments: Any, context: Any) -> Any:
    raise RuntimeError(arguments.expression)


async def _collapsed(self: Maintenance) -> None:
    await _collapsing.wait()
    raise ArithmeticError(_words)


Agent.answer = _bursting
FrameReader.event = _stumbling
Calculator.run = _calculating
Maintenance.run = _collapsed
main(sys.argv[1:])
