"""The path of one message through Aldis, in lines for the operator: when, how long, what it cost.

    arrived --> began --> journal, while it runs | ledger, when it is over --> ended --> said

Nobody's words, no arguments and results of tools, no number and no uuid: a trace can be shown to anybody who helps.
Left to others: what is stored (`store.traces`), the verb (`bot.cli.store`).
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal

from bot.chat.journal import (
    Asked,
    Completed,
    Decided,
    Discarded,
    Opened,
    Paused,
    Spoken,
    Started,
    Step,
    ToolRun,
    journaled_steps,
)
from bot.errors import CallRefused
from bot.invocation import command_line
from store import LedgerEntry, Repositories, Store, Trace, TracedMessage, TracedReply, TurnId

NEWEST = 20
"""How many turns are listed."""
_MAX_NUMBER = 2**63 - 1
"""The largest number of a turn that SQLite can hold."""


async def trace_text(store: Store, turn: int | None) -> str:
    """The trace of this turn; None: one line for each of the newest turns.

    Raises:
        CallRefused: there is no such turn; the message says whether there ever was.
        StoreError: the store cannot be read.
    """
    if turn is None:
        found = await store.transaction(lambda repos: repos.traces.newest(NEWEST))
        return "\n".join(map(_summary, found)) or "no turn is kept"
    return "\n".join(await store.transaction(lambda repos: tuple(_told(repos, TurnId(turn)))))


def _told(repos: Repositories, turn: TurnId) -> Iterator[str]:
    could_be = 0 < turn <= _MAX_NUMBER
    trace = repos.traces.of(turn) if could_be else None
    if trace is None:
        was_there = could_be and repos.traces.was_there(turn)
        why = (
            "nothing of it is kept any more (forgotten, disappeared or aged out)" if was_there else "there is none yet"
        )
        raise CallRefused(f"turn {turn}: {why}; `{command_line('trace')}` lists the newest")
    done = journaled_steps(repos, trace.conversation, turn) or ()
    yield f"turn {turn}, {_state(trace)}: conversation {trace.conversation} of {trace.realm}"
    if trace.replaces is not None:
        yield f"repeats turn {trace.replaces}"
    yield from map(_message, trace.messages)
    if not trace.messages:
        yield "arrived   its messages are no longer kept"
    yield f"began     {_at(trace.started_at)}"
    if trace.deaths:
        yield f"waited    in {trace.deaths} processes that died"
    if trace.ended_at is None:
        yield from filter(None, map(_step, done))
        yield (
            "runs      it is not over: these are the steps that are finished"
            if done
            else "runs      no step is finished"
        )
    yield from map(_entry, trace.entries)
    if trace.ended_at is not None:
        yield f"ended     {_at(trace.ended_at)}, after {_seconds(trace.ended_at - trace.started_at)}"
    yield from map(_reply, trace.replies)
    if trace.ended_at is not None and not trace.replies:
        yield "said      nothing of it waits, and what was said is no longer kept"
    if trace.expires_at is not None:
        yield f"goes      {_at(trace.expires_at)}"
    yield f"cost      {_sum(trace.entries)}"


def _summary(trace: Trace) -> str:
    took = "running" if trace.ended_at is None else _seconds(trace.ended_at - trace.started_at)
    return f"{trace.turn:>6}  {_at(trace.started_at)}  {_state(trace):<8} {took:>10}  {_sum(trace.entries)}"


def _state(trace: Trace) -> str:
    """The word for what became of a turn: what was answered without being kept is a command."""
    return "command" if trace.state == "ignored" and trace.replies else trace.state


def _message(message: TracedMessage) -> str:
    why = "" if message.refusal is None else f", refused: {message.refusal}"
    late = _seconds(message.received_at - message.sent_at)
    tries = f", {_count(message.attempts, 'try', 'tries')}" if message.attempts else ""
    return (
        f"arrived   {_at(message.received_at)}, {late} after it was sent: {message.kind}, {message.state}{tries}{why}"
    )


def _entry(entry: LedgerEntry) -> str:
    who = f"{entry.provider}/{entry.name}" if entry.provider else entry.name
    tokens = f", {_tokens(entry.input_tokens, entry.cached_input_tokens, entry.output_tokens)}" if _has(entry) else ""
    cost = _cost(entry.cost_usd)
    return f"{entry.kind:<9} {who}: {entry.outcome}, {entry.latency_seconds:.2f} s{tokens}, {cost}"


def _step(step: Step) -> str:
    match step:
        case Asked():
            return "asked     the question as the model reads it"
        case Completed() | Discarded() | ToolRun():
            return ""  # the ledger has it
        case Opened() | Spoken():
            return "opened    a file" if isinstance(step, Opened) else "spoken    the answer"
        case Started():
            return "started   a tool that must not run twice"
        case Paused():
            return (
                f"paused    {_count(len(step.call_ids), 'call waits', 'calls wait')} for a yes until {_at(step.until)}"
            )
        case Decided():
            return f"decided   {'yes' if step.is_yes else 'no'}, for {_count(len(step.call_ids), 'call', 'calls')}"


def _reply(reply: TracedReply) -> str:
    what = "status" if reply.is_status else "answer"
    parts = [reply.state, _count(reply.attempts, "try", "tries")]
    if reply.revision:
        parts.append(_count(reply.revision, "edit", "edits"))
    if reply.attempted_at is not None:
        parts.append(f"the last began {_at(reply.attempted_at)}")
    if reply.settled_at is not None:
        parts.append(f"settled {_at(reply.settled_at)}")
    return f"said      {what}: {', '.join(parts)}"


def _sum(paid: Iterable[LedgerEntry]) -> str:
    rows = tuple(paid)
    known = sum((row.cost_usd for row in rows if row.cost_usd is not None), Decimal(0))
    unknown = sum(row.cost_usd is None for row in rows)
    tokens = [
        sum(getattr(row, name) for row in rows) for name in ("input_tokens", "cached_input_tokens", "output_tokens")
    ]
    more = f" and {_count(unknown, 'call', 'calls')} of unknown price" if unknown else ""
    return f"{_count(len(rows), 'call', 'calls')}, {_tokens(*tokens)}, {known.normalize():f} USD{more}"


def _has(entry: LedgerEntry) -> bool:
    return bool(entry.input_tokens or entry.output_tokens)


def _tokens(read: int, cached: int, written: int) -> str:
    return f"{read} tokens in{f' ({cached} cached)' if cached else ''}, {written} out"


def _cost(usd: Decimal | None) -> str:
    if usd is None:
        return "price unknown"
    return f"{usd.normalize():f} USD" if usd else "free"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _seconds(took: timedelta) -> str:
    return f"{took.total_seconds():.2f} s"


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d} UTC"
