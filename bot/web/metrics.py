"""Figures in Prometheus' text format: counts since the start, and gauges of the moment. No labels, no words of people.

Left to others: gathering them (`bot.web.health`).

Source: Prometheus, "Exposition formats", text format 0.0.4 (2026-11-21).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_NO_NAME = re.compile(r"[^a-z0-9_]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Gauge:
    """A figure of the moment; `value` None means that it is not known now, and it is left out."""

    name: str
    """With its unit, without `aldis_`."""
    help: str
    value: float | None


def exposition(counts: Mapping[str, int], gauges: tuple[Gauge, ...]) -> str:
    """The figures as a page: each count as `aldis_<name>_total`, each gauge as `aldis_<name>`."""
    return "".join(f"{line}\n" for line in (*_counters(counts), *_gauges(gauges)))


def _counters(counts: Mapping[str, int]) -> Iterator[str]:
    for name, count in counts.items():
        full_name = f"aldis_{_NO_NAME.sub('_', name.lower())}_total"
        yield f"# TYPE {full_name} counter"
        yield f"{full_name} {count}"


def _gauges(gauges: tuple[Gauge, ...]) -> Iterator[str]:
    for gauge in gauges:
        if gauge.value is not None:
            yield f"# HELP aldis_{gauge.name} {gauge.help}"
            yield f"# TYPE aldis_{gauge.name} gauge"
            yield f"aldis_{gauge.name} {float(gauge.value):.15g}"
