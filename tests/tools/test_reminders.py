"""The tool `remind`: what the model fills in becomes a wish; what the port gives is told back whole."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from tools import BadArguments, NotFound, PlannedReminder, Repeat, ToolContext, Wish
from tools.reminders import Remind, RemindArguments

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class Diary:
    """A port that writes down what it is asked."""

    def __init__(self, **more: Any) -> None:
        self.wishes: list[Wish] = []
        self.more = more

    async def add(self, wish: Wish, context: ToolContext) -> PlannedReminder:
        self.wishes.append(wish)
        return self._planned(wish)

    async def check(self, wish: Wish, context: ToolContext) -> None:
        pass

    async def upcoming(self, context: ToolContext) -> tuple[PlannedReminder, ...]:
        return tuple(map(self._planned, self.wishes))

    async def cancel(self, number: int, context: ToolContext) -> PlannedReminder:
        if number > len(self.wishes):
            raise NotFound("there is none of this number")
        return self._planned(self.wishes[number - 1])

    async def keep_timezone(self, name: str, context: ToolContext) -> str:
        return name

    def _planned(self, wish: Wish) -> PlannedReminder:
        values: dict[str, Any] = {
            "number": 1,
            "text": wish.text,
            "prompt": wish.prompt,
            "when": "Saturday 2026-11-21 13:00 UTC",
            "due_at": NOON,
            "in_seconds": 3600,
            "timezone": "UTC",
            "repeat": wish.repeat,
        }
        return PlannedReminder(**(values | self.more))


async def asked(diary: Diary, context: ToolContext, **given: Any) -> Any:
    return (await Remind(diary).run(RemindArguments(**given), context)).data


async def test_set_hands_on_the_wish_and_tells_the_resolved_time(context: ToolContext) -> None:
    """Nothing is guessed: the time is the model's, the weekday and zone come back."""
    diary = Diary()
    told = await asked(
        diary,
        context,
        action="set",
        text="bins out",
        local_datetime="2026-11-23T08:00",
        timezone="Europe/Berlin",
        repeat="week",
        weekdays=["mo"],
        until="2027-01-31",
    )
    repeat = Repeat(every="week", weekdays=("mo",), until=date(2027, 1, 31))
    assert diary.wishes == [
        Wish(text="bins out", local="2026-11-23T08:00", timezone="Europe/Berlin", repeat=repeat),
    ]
    assert told == {
        "number": 1,
        "when": "Saturday 2026-11-21 13:00 UTC",
        "in_seconds": 3600,
        "text": "bins out",
        "repeats": {"every": "week", "interval": 1, "weekdays": ["mo"]},
    }


async def test_what_the_person_has_to_hear_comes_back_as_well(context: ToolContext) -> None:
    """Words that disappear before, a zone that nobody has told."""
    diary = Diary(loses_words=True, zone_is_known=False)
    told = await asked(diary, context, action="set", text="x", prompt="weather?", delay_seconds=60)
    assert told["prompt"] == "weather?"
    assert "disappear" in told["warning"]
    assert told["zone_is_known"] is False


async def test_list_cancel_and_timezone(context: ToolContext) -> None:
    """One tool for all that concerns reminders."""
    diary = Diary()
    await asked(diary, context, action="set", text="x", delay_seconds=60)
    assert [shown["text"] for shown in (await asked(diary, context, action="list"))["reminders"]] == ["x"]
    assert (await asked(diary, context, action="cancel", number=1))["cancelled"]["text"] == "x"
    assert await asked(diary, context, action="timezone", timezone="Asia/Tokyo") == {"timezone": "Asia/Tokyo"}
    with pytest.raises(NotFound):
        await asked(diary, context, action="cancel", number=2)


@pytest.mark.parametrize(
    "given",
    [
        {"action": "set", "delay_seconds": 60},
        {"action": "cancel"},
        {"action": "timezone"},
        {"action": "set", "text": "x", "delay_seconds": 60, "weekdays": ["mo"]},
        {"action": "set", "text": "x", "delay_seconds": 60, "count": 3},
    ],
)
async def test_what_is_missing_is_named(context: ToolContext, given: dict[str, Any]) -> None:
    """The model learns what to give."""
    with pytest.raises(BadArguments, match=r"^\w+: "):
        await asked(Diary(), context, **given)
