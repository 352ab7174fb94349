"""What a turn did and cost, as rows of the ledger."""

from dataclasses import replace

from bot.chat.journal import Outcome
from bot.chat.steps import ToolRun, dump_step
from bot.media.findings import Fee
from bot.models.base import Attempt, Completion
from store import LedgerEntry

ESTIMATED = "estimated"
"""The outcome of a model call that was answered by a server that did not report its usage."""
LOST = "Lost"
"""The outcome of a model call whose completion could not be kept, or came too late: it may be asked again."""
KILLED = "Killed"
"""The ledger's outcome of a paid call during which the process was killed; its cost may be an estimate."""


def ledger_entries(outcome: Outcome) -> tuple[LedgerEntry, ...]:
    """The ledger rows: opened files, then completions with the failed attempts before each, then tools."""
    found = [_model_entry(fee, fee.name, fee.outcome) for fee in outcome.fees]
    for completion in outcome.completions:
        found += [_model_entry(attempt, attempt.model, attempt.error) for attempt in completion.attempts]
        found.append(_completion_entry(completion))
    found += [_model_entry(failure, failure.model, failure.error) for failure in outcome.failures]
    found += [_run_entry(run) for run in outcome.runs]
    return tuple(found)


def lost_entries(outcome: Outcome) -> tuple[LedgerEntry, ...]:
    """The rows of what was paid and not kept, without any words: no completion among them has answered anything."""
    entries = (replace(entry, details=None) for entry in ledger_entries(outcome))
    answers = {"ok", "empty", ESTIMATED}
    return tuple(
        replace(entry, outcome=LOST) if entry.kind == "model" and entry.outcome in answers else entry
        for entry in entries
    )


def _completion_entry(completion: Completion) -> LedgerEntry:
    usage = completion.usage
    return LedgerEntry(
        kind="model",
        name=completion.model,
        outcome=ESTIMATED if completion.is_estimated else "ok" if completion.message is not None else "empty",
        latency_seconds=completion.latency_seconds,
        provider=completion.provider,
        input_tokens=usage.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=completion.cost_usd,
    )


def _model_entry(asked: Attempt | Fee, name: str, outcome: str) -> LedgerEntry:
    """A row for a paid model call without a completion: a failed try, or a recording that was transcribed."""
    return LedgerEntry(
        kind="model",
        name=name,
        outcome=outcome,
        latency_seconds=asked.latency_seconds,
        provider=asked.provider,
        cost_usd=asked.cost_usd,
    )


def _run_entry(run: ToolRun) -> LedgerEntry:
    return LedgerEntry(
        kind="tool",
        name=run.tool,
        outcome=run.outcome,
        latency_seconds=run.latency_seconds,
        cost_usd=run.cost_usd,
        details=dump_step(replace(run, files=())),
    )
