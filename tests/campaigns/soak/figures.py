"""The figures of a round, for people; where there is a goal it is said whether it was reached, and nothing follows."""

import statistics

from tests.campaigns.bench.figures import Figure
from tests.campaigns.soak.conversations import excesses, quantile
from tests.campaigns.soak.letters import Phase
from tests.campaigns.soak.record import Record

_LAG_GOAL_MS = 50.0


def figures(record: Record) -> list[Figure]:
    """What was measured, from the load to the disk."""
    return [*_load(record), *_delays(record), *_loops(record), *_process(record), *_disk(record)]


def _load(record: Record) -> list[Figure]:
    letters = record.letters
    seconds = 2 * record.size.phase_seconds
    measured = sum(letter.phase != "warm-up" for letter in letters)
    return [
        Figure(name="conversations", value=len(record.chats)),
        Figure(name="messages", value=len(letters)),
        Figure(name="messages a second, warm-up aside", value=measured / seconds),
        Figure(name="messages sent", value=len(record.outs)),
        Figure(name="the model's own time, median", value=_median_thought(record), unit="s"),
    ]


def _median_thought(record: Record) -> float | None:
    took = [thought.ended_seconds - thought.began_seconds for thought in record.thoughts if not thought.was_left]
    return statistics.median(took) if took else None


def _delays(record: Record) -> list[Figure]:
    phases: tuple[tuple[Phase, str], ...] = (("alone", "before"), ("beside", "beside"))
    found = {words: [seconds for _, seconds in excesses(record, phase)] for phase, words in phases}
    shares = (("median", 0.5), ("p95", 0.95), ("p99", 0.99), ("most", 1.0))
    delays = [
        Figure(name=f"beyond the model's time, {words} the stubborn, {name}", value=quantile(seconds, share), unit="s")
        for words, seconds in found.items()
        for name, share in shares
    ]
    reads = [
        record.read_seconds[letter.sent_at] - letter.delivered_seconds
        for letter in record.letters
        if letter.sent_at in record.read_seconds and letter.phase != "warm-up"
    ]
    names = (("median", 0.5), ("p99", 0.99))
    return delays + [
        Figure(name=f"from delivery to the read receipt, {name}", value=1000 * quantile(reads, share), unit="ms")
        for name, share in names
    ]


def _loops(record: Record) -> list[Figure]:
    """How late the loops are; how long the page takes to answer holds the lag of both and a query."""
    page_ms, lag_ms = (1000 * quantile(values, 0.99) for values in (record.page_seconds, record.lag_seconds))
    beats = record.beats.since(record.measured_seconds)
    late_ms = [1000 * beat.late_seconds for beat in beats.beats]
    return [
        Figure(name="Aldis's loop is late by, p99 of its seconds", value=quantile(late_ms, 0.99), unit="ms"),
        Figure(name="Aldis's loop is late by, most", value=max(late_ms, default=0.0), unit="ms"),
        Figure(name="Aldis's loop has work and no CPU", value=100 * beats.waited_share, unit="%"),
        Figure(name="the page of figures answers in, p99", value=page_ms, unit="ms", most=_LAG_GOAL_MS),
        Figure(name="the soak's own loop is late by, p99", value=lag_ms, unit="ms", most=_LAG_GOAL_MS),
    ]


def _process(record: Record) -> list[Figure]:
    stats = record.stats
    sizes = [look.resident_bytes / 1e6 for look in stats] or [0.0]
    known = bool(stats)
    answers = sum(thought.began_seconds >= stats[0].at_seconds for thought in record.thoughts) if known else 0
    cpu_seconds = stats[-1].cpu_seconds - stats[0].cpu_seconds if known else 0.0
    values = (
        ("resident after the warm-up", sizes[0], "MB"),
        ("resident when people stopped", sizes[-1], "MB"),
        ("resident at most", max(sizes), "MB"),
        ("file descriptors at most", max((look.descriptors for look in stats), default=0), ""),
        ("threads at most", max((look.threads for look in stats), default=0), ""),
        ("CPU of a turn", 1000 * cpu_seconds / max(1, answers), "ms"),
    )
    return [Figure(name=name, value=value if known else None, unit=unit) for name, value, unit in values]


def _disk(record: Record) -> list[Figure]:
    files = record.files
    if not files:
        return []
    grown = files[-1].database_bytes - files[0].database_bytes
    letters = sum(letter.phase != "warm-up" for letter in record.letters)
    return [
        Figure(name="database when people stopped", value=files[-1].database_bytes / 1e6, unit="MB"),
        Figure(name="database, growth by a message", value=grown / 1e3 / max(1, letters), unit="kB"),
        Figure(name="write-ahead log at most", value=max(look.log_bytes for look in files) / 1e6, unit="MB"),
    ]
