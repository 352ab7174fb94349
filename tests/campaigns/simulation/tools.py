"""The tools of a story, one of each kind of effect; each run is on the record from the instant of its effect."""

import asyncio

from tests.campaigns.simulation.crashes import Life, never
from tests.campaigns.simulation.network import Network
from tests.campaigns.simulation.record import Effect
from tools import Arguments, Effects, Label, Result, ToolContext, ToolSpec, Unavailable


class Note(Arguments):
    note: str


def _spec(name: str, effects: Effects, label: Label = "local") -> ToolSpec:
    return ToolSpec(name=name, description="Is noticed.", arguments=Note, effects=effects, label=label)


SPECS = (
    _spec("look_up", "none"),
    _spec("add_up", "none", label="computed"),
    _spec("put_on_list", "repeatable"),
    _spec("post_letter", "once"),
)


class RecordedTool:
    def __init__(self, spec: ToolSpec, network: Network, life: Life) -> None:
        self.spec = spec
        self._network = network
        self._life = life

    async def run(self, arguments: Note, context: ToolContext) -> Result:
        name, note, scenario = self.spec.name, arguments.note, self._network.scenario
        await self._life.step(f"{name} is run for {note}")
        times = self._network.nth("ran", note)
        if scenario.happens(scenario.odds.tool_fails, "tool fails", note, times):
            raise Unavailable("the service is down")
        await asyncio.sleep(0 if self.spec.label == "computed" else 0.1)
        await self._life.alive()
        self._network.record.effects.append(
            Effect(life=self._life.number, tool=name, note=note, at_seconds=asyncio.get_running_loop().time())
        )
        await self._life.step(f"{name} has run for {note}")
        if scenario.happens(scenario.odds.tool_hangs, "tool hangs", note, times):
            await never()
        return Result(data={"about": note})
