"""Aldis with a bug that kills it: `python -m tests.flows.poisonous VERB ...`.

A question with the word `poison` in it ends the process at once, while its turn computes.
"""

import os
import signal
import sys
from typing import Any

from bot.chat.agent import Agent
from bot.cli.main import main

_answer = Agent.answer


async def _poisoned(self: Agent, turn: Any, *rest: Any, **named: Any) -> Any:
    if any("poison" in message.text for message in turn.incoming):
        os.kill(os.getpid(), signal.SIGKILL)
    return await _answer(self, turn, *rest, **named)


Agent.answer = _poisoned
main(sys.argv[1:])
