"""The tool `remember`: what the model fills in reaches the port; what it gives is told back."""

from typing import Any

import pytest

from tools import BadArguments, NotFound, RememberedFact, ToolContext
from tools.memory import Remember, RememberArguments


class Notebook:
    """A port that remembers in a list."""

    def __init__(self) -> None:
        self.facts: list[str] = []

    async def remember(self, fact: str, context: ToolContext) -> RememberedFact:
        self.facts.append(fact)
        return RememberedFact(number=len(self.facts), fact=fact)

    async def forget(self, number: int, context: ToolContext) -> None:
        if number > len(self.facts):
            raise NotFound("no such fact")
        del self.facts[number - 1]


async def asked(notebook: Notebook, context: ToolContext, **given: Any) -> Any:
    return (await Remember(notebook).run(RememberArguments(**given), context)).data


async def test_a_fact_is_remembered_and_forgotten(context: ToolContext) -> None:
    """By the number that comes back."""
    notebook = Notebook()
    told = await asked(notebook, context, action="remember", fact="is vegetarian")
    assert told == {"number": 1, "fact": "is vegetarian", "until": None}
    assert await asked(notebook, context, action="forget", number=1) == {"forgotten": 1}
    assert notebook.facts == []
    with pytest.raises(NotFound):
        await asked(notebook, context, action="forget", number=1)


@pytest.mark.parametrize("action", ["remember", "forget"])
async def test_what_is_missing_is_named(context: ToolContext, action: str) -> None:
    """The model learns what to give."""
    with pytest.raises(BadArguments, match=r"^\w+: "):
        await asked(Notebook(), context, action=action)
