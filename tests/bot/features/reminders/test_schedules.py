"""Schedules: wishes become instants, over the changes of the clocks too; what cannot be is refused by name."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.reminders.schedules import Plan, UnfitWish, describe_moment, first_plan, instant, next_after
from tools import Repeat, Wish

BERLIN = "Europe/Berlin"
NOON = datetime(2027, 3, 27, 11, 0, tzinfo=UTC)
"""Noon in Berlin, on the day before the clocks are put forward at 02:00."""
AUTUMN = datetime(2027, 10, 30, 10, 0, tzinfo=UTC)
"""Noon in Berlin, on the day before the clocks are put back at 03:00."""


WEEKDAYS = Repeat(every="week", weekdays=("mo", "tu", "we", "th", "fr"))
TIMES: tuple[tuple[str, Repeat | None, datetime, list[str]], ...] = (
    ("2027-03-27T12:01", None, NOON, ["03-27 11:01"]),
    ("2027-03-28T02:30", None, NOON, ["03-28 01:30"]),  # skipped: 03:30 on the clock
    ("2027-03-28T03:00", None, NOON, ["03-28 01:00"]),
    ("2027-10-31T02:30", None, AUTUMN, ["10-31 00:30"]),  # twice on the clock: the first
    ("2027-03-27T02:30", Repeat(every="day"), NOON, ["03-28 01:30", "03-29 00:30", "03-30 00:30"]),
    ("2027-10-30T02:30", Repeat(every="day"), AUTUMN, ["10-31 00:30", "11-01 01:30"]),
    # A first time that is over today counts, and is not made up for.
    ("2027-03-27T08:00", WEEKDAYS, NOON, [f"{day} 06:00" for day in ("03-29", "03-30", "03-31", "04-01", "04-02")]),
    ("2027-03-27T08:00", Repeat(every="week", interval=2), NOON, ["04-10 06:00", "04-24 06:00", "05-08 06:00"]),
    ("2027-03-27T08:00", Repeat(every="month", weekdays=("mo",), nth=1), NOON, ["04-05 06:00", "05-03 06:00"]),
    ("2027-03-27T08:00", Repeat(every="month", weekdays=("fr",), nth=-1), NOON, ["04-30 06:00", "05-28 06:00"]),
    ("2027-03-27T08:00", Repeat(every="month"), NOON, ["04-27 06:00", "05-27 06:00"]),
    ("2027-03-27T08:00", Repeat(every="day", count=3), NOON, ["03-28 06:00", "03-29 06:00"]),
    ("2027-03-27T08:00", Repeat(every="day", until=date(2027, 3, 29)), NOON, ["03-28 06:00", "03-29 06:00"]),
)
"""What is wished for, when, and the first times, as UTC; all of them where they are bounded."""


def test_a_wish_comes_at_its_times() -> None:
    """By the wall clock: what the clocks skip comes as much later that day; what they show twice, the first time."""
    for local, repeat, now, expected in TIMES:
        plan, due = first_plan(Wish(text="x", local=local, repeat=repeat), now=now, zone=BERLIN)
        found: list[str] = []
        at: datetime | None = due
        while at is not None and len(found) < len(expected):
            found.append(f"{at:%m-%d %H:%M}")
            at = next_after(plan, at)
        is_over = repeat is None or repeat.count is not None or repeat.until is not None
        assert (found, at is None) == (expected, is_over), local


def test_a_delay_is_elapsed_time_whatever_the_clocks_do() -> None:
    """In 24 hours over the change it is another time on the wall."""
    _, at = first_plan(Wish(text="x", delay_seconds=86_400), now=NOON, zone=BERLIN)
    assert at == NOON + timedelta(days=1)
    assert describe_moment(at, BERLIN) == "Sunday 2027-03-28 13:00 Europe/Berlin"


def test_what_cannot_be_is_refused_by_name() -> None:
    """The past, what is more than five years away, what no clock or calendar shows."""
    for wish, reason in (
        (Wish(text="x", local="2027-03-27T12:00"), "over"),
        (Wish(text="x", local="2020-01-01T00:00", repeat=Repeat(every="day", count=3)), "over"),
        (Wish(text="x", local="2020-01-01T00:00", repeat=Repeat(every="day", until=date(2026, 1, 1))), "over"),
        (Wish(text="x", local="9999-12-31T23:59"), "far"),
        (Wish(text="x", delay_seconds=10**12), "far"),
        (Wish(text="x", local="2032-06-01T00:00", repeat=Repeat(every="year")), "far"),
        (Wish(text="x", local="2027-02-30T12:00"), "form"),
        (Wish(text="x", local="0001-01-01T00:00", timezone="Asia/Tokyo"), "form"),
        (Wish(text="x"), "form"),
        (Wish(text="x", local="2027-04-01T12:00", delay_seconds=5), "form"),
        (Wish(text="x", local="2027-04-01T12:00", repeat=Repeat(every="hour", weekdays=("mo",))), "form"),
        (Wish(text="x", local="2027-04-01T12:00", repeat=Repeat(every="month", weekdays=("mo", "tu"), nth=1)), "form"),
        (Wish(text="x", local="2027-04-01T12:00", repeat=Repeat(every="month", weekdays=("mo",))), "form"),
        (Wish(text="x", local="2027-04-01T12:00", timezone="../../etc/passwd"), "zone"),
    ):
        with pytest.raises(UnfitWish) as refused:
            first_plan(wish, now=NOON, zone=BERLIN)
        assert refused.value.reason == reason, wish


@given(
    every=st.sampled_from(["hour", "day", "week", "month", "year"]),
    interval=st.integers(1, 40),
    after=st.datetimes(min_value=datetime(2027, 1, 1), max_value=datetime(2031, 1, 1)),  # noqa: DTZ001
)
def test_the_next_time_is_always_later(every: str, interval: int, after: datetime) -> None:
    """Whatever is missed, the next time lies ahead; so what repeats cannot come twice for one time."""
    local = datetime(2027, 3, 28, 2, 30)  # noqa: DTZ001
    repeat = Repeat(every=every, interval=interval)  # pyright: ignore[reportArgumentType]
    plan = Plan(start_at=instant(local, BERLIN), local=local, zone=BERLIN, repeat=repeat)
    at = next_after(plan, after.replace(tzinfo=UTC))
    assert at is not None
    assert at > after.replace(tzinfo=UTC)
    assert at <= max(after.replace(tzinfo=UTC), plan.start_at) + timedelta(days=366 * interval + 2)


def test_an_hour_without_its_half_is_the_next_one_from_seven_to_ten() -> None:
    """On its day, or the next one; where either half may be meant, the person is asked."""
    evening, noon, dawn = (datetime(2027, 3, 22, hour, 57, tzinfo=UTC) for hour in (21, 11, 5))
    today, tomorrow = "2027-03-22", "2027-03-23"
    for now, text, local, names_day, due in (
        (noon, "call mum", f"{today}T05:00", False, f"{today}T17:00"),
        (noon, "call mum", f"{tomorrow}T08:00", False, f"{today}T20:00"),
        (evening, "call mum", f"{today}T08:30", False, f"{tomorrow}T08:30"),
        (noon, "call mum", f"{tomorrow}T09:00", True, f"{tomorrow}T09:00"),
        (noon, "call mum", f"{today}T09:00", True, f"{today}T21:00"),
        (dawn, "call mum", f"{today}T09:00", True, "half"),
        (evening, "wake me", f"{tomorrow}T06:00", False, f"{tomorrow}T06:00"),
        (noon, "weck mich", f"{today}T18:00", False, f"{tomorrow}T06:00"),
        (noon, "morning run", f"{tomorrow}T05:00", True, f"{tomorrow}T05:00"),
        (noon, "train to Lyon", f"{tomorrow}T05:00", True, f"{tomorrow}T05:00"),
        (noon, "vuelo a Lima", f"{tomorrow}T08:00", True, "half"),
        (noon, "flight", f"{today}T05:00", False, "half"),
        (evening, "train", f"{today}T05:00", True, "over"),
        (noon, "train the dog", f"{tomorrow}T05:00", True, f"{tomorrow}T17:00"),
    ):
        wish = Wish(text=text, local=local, names_half=False, names_day=names_day)
        try:
            plan, at = first_plan(wish, now=now, zone="UTC")
            assert plan.start_at == at
            found = f"{at:%Y-%m-%dT%H:%M}"
        except UnfitWish as error:
            found = error.reason
        assert found == due, (f"{now:%H:%M}", text, local)
    for local, repeat, due in (
        (f"{today}T14:30", None, "22 14:30"),
        (f"{today}T11:30", None, "23 11:30"),
        (f"{today}T05:00", Repeat(every="day"), "22 17:00"),
        (f"{today}T08:00", Repeat(every="day"), "23 08:00"),
    ):
        wish = Wish(text="tea", local=local, names_half=repeat is None, names_day=repeat is not None, repeat=repeat)
        assert f"{first_plan(wish, now=noon, zone='UTC')[1]:%d %H:%M}" == due
