"""Schedules: wishes become instants, over the changes of the clocks too; what cannot be is refused by name."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.reminders.schedules import (
    Plan,
    UnfitWish,
    describe_moment,
    first_plan,
    instant,
    next_after,
)
from tools import Repeat, Wish

BERLIN = "Europe/Berlin"
NOON = datetime(2027, 3, 27, 11, 0, tzinfo=UTC)
"""Noon in Berlin, on the day before the clocks are put forward at 02:00."""
AUTUMN = datetime(2027, 10, 30, 10, 0, tzinfo=UTC)
"""Noon in Berlin, on the day before the clocks are put back at 03:00."""


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def times(wish: Wish, now: datetime, count: int, zone: str = BERLIN) -> list[str]:
    """The first so many times, as UTC."""
    plan, at = first_plan(wish, now=now, zone=zone)
    found: list[str] = []
    due: datetime | None = at
    while due is not None and len(found) < count:
        found.append(f"{due:%Y-%m-%dT%H:%M}")
        due = next_after(plan, due)
    return found


def test_a_local_time_is_one_instant() -> None:
    """Skipped by the clocks: as much later. Twice on the clocks: the first."""
    for local, now, expected in (
        ("2027-03-27T12:01", NOON, "2027-03-27T11:01"),
        ("2027-03-28T02:30", NOON, "2027-03-28T01:30"),  # skipped: 03:30 on the clock
        ("2027-03-28T03:00", NOON, "2027-03-28T01:00"),
        ("2027-10-31T02:30", AUTUMN, "2027-10-31T00:30"),  # twice on the clock: the first
    ):
        assert times(Wish(text="x", local=local), now, 2) == [expected]


def test_a_delay_is_elapsed_time_whatever_the_clocks_do() -> None:
    """In 24 hours over the change it is another time on the wall."""
    _, at = first_plan(Wish(text="x", delay_seconds=86_400), now=NOON, zone=BERLIN)
    assert at == NOON + timedelta(days=1)
    assert describe_moment(at, BERLIN) == "Sunday 2027-03-28 13:00 Europe/Berlin"


def test_a_daily_time_stays_on_the_wall_clock() -> None:
    """At 02:30 each day: on the day that has none it is later, and the day after it is at 02:30 again."""
    wish = Wish(text="x", local="2027-03-27T02:30", repeat=Repeat(every="day"))
    assert times(wish, utc("2027-03-26T12:00"), 4) == [
        "2027-03-27T01:30",
        "2027-03-28T01:30",
        "2027-03-29T00:30",
        "2027-03-30T00:30",
    ]
    wish = Wish(text="x", local="2027-10-30T02:30", repeat=Repeat(every="day"))
    assert times(wish, utc("2027-10-29T12:00"), 3) == ["2027-10-30T00:30", "2027-10-31T00:30", "2027-11-01T01:30"]


def test_what_repeats_comes_on_its_days() -> None:
    """A first time that is over today counts, and is not made up for; a refused past is for single times only."""
    for repeat, expected in (
        (Repeat(every="week", weekdays=("mo", "tu", "we", "th", "fr")), ["03-29", "03-30", "03-31", "04-01", "04-02"]),
        (Repeat(every="week", interval=2), ["04-10", "04-24", "05-08"]),
        (Repeat(every="month", weekdays=("mo",), nth=1), ["04-05", "05-03", "06-07"]),
        (Repeat(every="month", weekdays=("fr",), nth=-1), ["04-30", "05-28"]),
        (Repeat(every="month"), ["04-27", "05-27"]),
        (Repeat(every="day", count=3), ["03-28", "03-29"]),
        (Repeat(every="day", until=date(2027, 3, 29)), ["03-28", "03-29"]),
    ):
        found = times(Wish(text="x", local="2027-03-27T08:00", repeat=repeat), NOON, len(expected))
        assert [at[5:10] for at in found] == expected


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
    """On its day, or the next one; what is done early is early; where either may be meant, the person is asked."""
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


def test_an_hour_without_a_day_is_the_next_one() -> None:
    """Today, or tomorrow if it is over; a repetition without its half comes at one hour of each day."""
    now = datetime(2027, 3, 22, 12, tzinfo=UTC)
    for local, repeat, due in (
        ("2027-03-22T14:30", None, "22 14:30"),
        ("2027-03-22T11:30", None, "23 11:30"),
        ("2027-03-22T05:00", Repeat(every="day"), "22 17:00"),
        ("2027-03-22T08:00", Repeat(every="day"), "23 08:00"),
    ):
        wish = Wish(text="tea", local=local, names_half=repeat is None, names_day=repeat is not None, repeat=repeat)
        assert f"{first_plan(wish, now=now, zone='UTC')[1]:%d %H:%M}" == due
