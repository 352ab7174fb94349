"""One tool call, from what the model wrote to what the model reads:

    known? -> well-formed? -> valid? -> within the rate? -> run in time -> cut to size -> priced

Whatever happens, a call ends in exactly one answer: `{"ok": true, "untrusted_data": {...}}`, or
`{"ok": false, "error": ..., "message": ...}` with an error from the list in `tools.errors`; a stranger's words about a
failure are kept apart, under `untrusted_data`.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from pydantic import ValidationError

from bot.access.limits import CallRate
from bot.chat.citations import CitedPages, number_pages, without_numbers
from bot.chat.journal import Turn
from bot.chat.offers import UseTool, details_of, gather_tools, meant_name, offers_of, shape_of, with_own_arguments
from bot.chat.outgoing import files_of
from bot.chat.steps import Allowance, ToolRun
from bot.clock import Clock
from bot.events import PersonId
from bot.i18n.language import current_language
from bot.labels import UNKNOWN, Labels, Source, dump_labels
from bot.logs import describe_error
from bot.messages import ToolAnswer, ToolCall
from bot.models.base import ToolOffer
from bot.models.tool_list import NAME as USE_TOOL
from bot.settings import Settings
from bot.trust import provenance
from bot.trust.rules import addresses_in, approval_causes, names_all, private
from tools import (
    Approval,
    Arguments,
    BadArguments,
    CheckedTool,
    NotFound,
    RateLimited,
    Result,
    TimedOut,
    Tool,
    ToolContext,
    ToolError,
    ToolSource,
    ToolSpec,
    Unavailable,
    UnknownOutcome,
    clean_text,
    fit_json,
)

_log = logging.getLogger(__name__)

ALL_TOOLS = "all"
"""Stands for every tool in the list of those that need approval."""

_MAX_MESSAGE_CHARS = 500
_PERHAPS_DONE = "it may have happened, so do not repeat it unasked"


class Toolbox:
    """The enabled tools: fixed ones, and those that sources provide while Aldis runs."""

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        sources: Sequence[ToolSource] = (),
        clock: Clock,
        settings: Settings,
        max_result_chars: int = 8000,
        prefixes: Mapping[str, str] | None = None,
        on_run: Callable[[ToolRun], None] = lambda _: None,
    ) -> None:
        """`prefixes` are those of servers' tools."""
        self._on_run = on_run
        self._approve = frozenset(settings.tools.approve)
        self._prefixes = prefixes or {}
        self._fixed: tuple[Tool, ...] = (*tools, UseTool(self._specs))
        self._sources = tuple(sources)
        self._tools: Mapping[str, Tool] = {tool.spec.name: tool for tool in self._fixed}
        self._offered: list[ToolSpec] = []
        self._offers: tuple[ToolOffer, ...] = ()
        """What was last offered for these tools; it is the same for most turns."""
        self._clock = clock
        self._settings = settings
        self._max_result_chars = max_result_chars
        self._rate = CallRate(settings.tools.calls_per_minute)

    async def offers(self) -> tuple[ToolOffer, ...]:
        """Returns what the models are offered from now on, always in the same order, as vendors cache the beginning."""
        if self._sources:
            self._tools = await gather_tools(self._fixed, self._sources)
        specs = self._specs()
        if specs != self._offered:
            self._offered = specs
            self._offers = offers_of(specs)
        return self._offers

    def _specs(self) -> list[ToolSpec]:
        return [tool.spec for tool in self._tools.values()]

    def spec(self, name: str) -> ToolSpec | None:
        """The spec of the tool of that name; None if there is none."""
        tool = self._tools.get(name)
        return None if tool is None else tool.spec

    def understood(self, call: ToolCall) -> ToolCall:
        """The call with the tools' own names, where it is clear what is meant."""
        call = replace(call, name=meant_name(call.name, self._tools))
        spec = self.spec(call.name)
        return call if spec is None or spec.server else with_own_arguments(call, spec.parameters)

    def changes(self, run: ToolRun) -> bool:
        """Whether a call that ran may have changed something rather than only looked, or its tool is gone."""
        spec = self.spec(run.answer.name)
        return spec is None or (spec.effects != "none" and not _only_looks(spec, run.arguments))

    def writes_soon(self, calls: Iterable[ToolCall]) -> bool:
        """Whether each call writes its first step within milliseconds: its start, or its end if it only computes."""
        specs = [self.spec(call.name) for call in calls]
        # What computes for longer has a time limit of its own.
        return all(
            spec is not None
            and (spec.effects == "once" or spec.cost_usd or (spec.label == "computed" and not spec.timeout_seconds))
            for spec in specs
        )

    def finds_pages(self, name: str) -> bool:
        """Whether the tool of that name gives pages that an answer can cite."""
        spec = self.spec(name)
        return spec is not None and spec.finds_pages

    @property
    def returning(self) -> frozenset[str]:
        """The tools whose answers contain addresses that are not the model's own."""
        return frozenset(name for name, tool in self._tools.items() if not tool.spec.is_own)

    def approval(
        self, call: ToolCall, labels: Labels, person: PersonId, words: str, *, in_group: bool = False
    ) -> tuple[Source, ...] | None:
        """Returns why a person must agree before the call runs; empty: its author or the operator says so; None: no."""
        spec = self.spec(call.name)
        approval = None if spec is None else approval_of(spec, call)
        if spec is None or approval is None or spec.name == USE_TOOL:
            return None  # it will not run, or only says what a tool takes
        effects = "none" if _only_looks(spec, call.arguments) else spec.effects
        shows_group = in_group and spec.is_private
        is_wanted = self._is_wanted(spec) or approval == "always"
        if effects == "none" and not (spec.is_disclosing or shows_group or is_wanted):
            return None  # nothing below could require an approval
        is_named = approval != "each_by_labels" and names_all(words, call.arguments, spec.parameters)
        server = spec.server if effects != "none" else ""
        known_to = {one.name for one in self._specs() if server and one.server == server}
        causes = approval_causes(
            effects,
            discloses=spec.is_disclosing,
            labels=labels,
            person=person,
            is_named=is_named,
            known_to=known_to,
            shows_group=shows_group,
        )
        return causes if causes or is_wanted or (approval == "unless_named" and not is_named) else None

    def allowance(self, call: ToolCall, labels: Labels) -> Allowance | None:
        """Returns what a person asked about this call could allow permanently; None: nothing.

        Excluded are calls that only look, cost money, tell strangers anything private, or need a yes each time.
        """
        spec = self.spec(call.name)
        if spec is None or approval_of(spec, call) != "by_labels" or spec.cost_usd or self._is_wanted(spec):
            return None
        if spec.effects == "none" or (spec.is_disclosing and private(labels)):
            return None
        return Allowance(tool=spec.name, shape=shape_of(spec))

    def _is_wanted(self, spec: ToolSpec) -> bool:
        """Whether the operator wants each call approved; a name that a server does not have may mean any tool of it."""
        prefix = self._prefixes.get(spec.server)
        unknown = self._approve - self._tools.keys()
        is_misnamed = prefix is not None and any(name.startswith(prefix) for name in unknown)
        return is_misnamed or not self._approve.isdisjoint({spec.name, ALL_TOOLS})

    def cost_usd(self, calls: Sequence[ToolCall]) -> Decimal:
        """The total cost of the calls, as far as it is known in advance."""
        return sum((self._tools[call.name].spec.cost_usd for call in calls if call.name in self._tools), Decimal(0))

    async def objection(self, call: ToolCall, turn: Turn) -> ToolRun | None:
        """The answer to a call that its tool would refuse as things are; None if that is not known."""
        tool = self._tools.get(call.name)
        if not isinstance(tool, CheckedTool):
            return None
        try:
            await tool.check(parse_arguments(tool.spec.arguments, call), self._context(call, turn))
        except ToolError as error:
            return self.refuse(call, error.code, str(error))
        return None

    async def run(
        self,
        call: ToolCall,
        turn: Turn,
        *,
        labels: Labels | None = None,
        words: str = "",
        pages: CitedPages | None = None,
        is_known: bool = False,  # an earlier answer of the turn describes the tool
    ) -> ToolRun:
        """Runs one call, made from what has these `labels`; `words` are the person's own. Raises cancellation alone."""
        tool = self._tools.get(call.name)  # by the time of the answer there may be another, or none
        if tool is None:
            names = ", ".join(self._tools)
            return self.refuse(call, NotFound.code, f"there is no tool {call.name!r} now; there are: {names}")
        began = time.monotonic()
        try:
            context = replace(
                self._context(call, turn), origin=dump_labels(labels or UNKNOWN).decode(), addresses=addresses_in(words)
            )
            result = await self._result(tool, call, context)
            return self._answered(call, tool.spec, result, time.monotonic() - began, pages)
        except ToolError as error:
            seconds = time.monotonic() - began
            cost = self._cost_of(call, error.code, error.cost_usd)
            return self.refuse(call, error.code, str(error), seconds, quoted=error.quoted, cost=cost, is_known=is_known)
        except (Exception, SystemExit) as error:  # noqa: BLE001  (a bug in a tool must not end a turn)
            _log.error("tool %s: %s", call.name, describe_error(error))
            message = f"{call.name} failed unexpectedly"
            code = Unavailable.code
            if (spec := self.spec(call.name)) is not None and spec.effects == "once":
                message, code = f"{message}; {_PERHAPS_DONE}", UnknownOutcome.code
            return self.refuse(call, code, message, time.monotonic() - began, cost=self._cost_of(call, code))

    def _context(self, call: ToolCall, turn: Turn) -> ToolContext:
        return ToolContext(
            now=self._clock.now(),
            timezone=turn.timezone or self._settings.locale.timezone,
            language=current_language(),
            person=turn.person,
            chat=turn.chat,
            turn=turn.id,
            call=call.id,
        )

    async def _result(self, tool: Tool, call: ToolCall, context: ToolContext) -> Result:
        arguments = parse_arguments(tool.spec.arguments, call)
        if not self._rate.admits(f"{context.person}|{call.name}", self._clock.now()):
            raise RateLimited(f"{call.name} was called too often in the last minute; answer without it, or wait")
        seconds = tool.spec.timeout_seconds or self._settings.tools.timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                return await tool.run(arguments, context)
        except TimeoutError as error:
            late = f"{call.name} did not answer within {seconds:g} seconds"
            if tool.spec.effects == "once":
                raise UnknownOutcome(f"{late}; {_PERHAPS_DONE}") from error
            raise TimedOut(late) from error

    def _answered(
        self, call: ToolCall, spec: ToolSpec, result: Result, seconds: float, pages: CitedPages | None
    ) -> ToolRun:
        files, sentences = files_of(result.files)
        attached = f',"files":{json.dumps(sentences, ensure_ascii=False)}' if sentences else ""
        most = spec.max_result_chars or self._max_result_chars
        data = without_numbers(result.data) if spec.finds_pages or spec.fetches is not None else result.data
        data = number_pages(data, pages) if spec.finds_pages and pages is not None else data
        whose = "operator_says" if spec.label == "operator" else "untrusted_data"
        content = f'{{"ok":true,"{whose}":{fit_json(data, most)}{attached}}}'
        cost = spec.cost_usd if result.cost_usd is None else result.cost_usd
        return replace(self._run(call, content, "ok", seconds, cost, origins=result.origins), files=files)

    def _cost_of(self, call: ToolCall, error: str, cost: Decimal = Decimal(0)) -> Decimal:
        """The cost of a call that failed: what may have happened may have cost money."""
        return self.cost_usd([call]) if error == UnknownOutcome.code else cost

    def refuse(
        self,
        call: ToolCall,
        error: str,
        message: str,
        seconds: float = 0.0,
        *,
        quoted: str | None = None,
        cost: Decimal = Decimal(0),
        is_known: bool = False,
    ) -> ToolRun:
        """The answer to a call that failed, or is not run; `quoted` is what a stranger says of it."""
        answer: dict[str, object] = {"ok": False, "error": error, "message": message[:_MAX_MESSAGE_CHARS]}
        if error == BadArguments.code and not is_known and (spec := self.spec(call.name)) is not None:
            answer["tool"] = json.loads(fit_json(details_of(spec), self._max_result_chars))
        if quoted:
            answer["untrusted_data"] = {"said": clean_text(quoted)[:_MAX_MESSAGE_CHARS]}
        content = json.dumps(answer, ensure_ascii=False)
        return self._run(call, content, error, seconds, cost)

    def _run(
        self, call: ToolCall, content: str, outcome: str, seconds: float, cost: Decimal, *, origins: Sequence[str] = ()
    ) -> ToolRun:
        tool = call.name if call.name in self._tools else "unknown"
        spec = self.spec(call.name)
        # The log reads names and lengths, never values; unknown names are counted, since a model made them up.
        known = spec.parameters.get("properties", ()) if spec else ()
        lengths = [f"{name}: {len(str(value))} characters" for name, value in call.arguments.items() if name in known]
        unknown = len(call.arguments) - len(lengths)
        given = ", ".join([*lengths, *([f"{unknown} unknown"] if unknown else [])]) or "no arguments"
        _log.debug("tool %s (%s): %s in %.3f s, %d characters", tool, given, outcome, seconds, len(content))
        answer = ToolAnswer(call_id=call.id, name=call.name, content=content, ok=outcome == "ok")
        address = call.arguments.get(spec.fetches) if spec is not None and spec.fetches is not None else None
        named = address if isinstance(address, str) else None
        run = ToolRun(
            answer=replace(answer, labels=provenance.of_answer(answer, spec, address=named, origins=origins)),
            arguments=call.arguments,
            outcome=outcome,
            latency_seconds=seconds,
            cost_usd=cost,
            tool=tool,
        )
        self._on_run(run)
        return run


def _only_looks(spec: ToolSpec, arguments: Mapping[str, object]) -> bool:
    return any(f"{name}={value}" in spec.only_reads for name, value in arguments.items())


_SHOWN_PROBLEMS = 5


def approval_of(spec: ToolSpec, call: ToolCall) -> Approval | None:
    """Returns when a call wants a person's approval; None: its arguments are invalid, so it will not run."""
    try:
        given = parse_arguments(spec.arguments, call)
        return spec.approval(given) if callable(spec.approval) else spec.approval
    except Exception:  # noqa: BLE001  (even a bug of a tool's own validator, which is reported when the call runs)
        return None


def parse_arguments(model: type[Arguments], call: ToolCall) -> Arguments:
    """The validated arguments of a call; raises BadArguments, whose message tells the model where."""
    if call.malformed is not None:
        raise BadArguments("the arguments are no JSON object; call again with one that fits the tool's parameters")
    try:
        return model.model_validate(call.arguments)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[:_SHOWN_PROBLEMS]
        problems = [": ".join(filter(None, (".".join(map(str, one["loc"])), one["msg"]))) for one in found]
        raise BadArguments("; ".join(problems)) from error
