"""A trial call of a tool that only looks: a form made from its own arguments, and its answer.

    form --the toolbox's own gate--> run --> the ledger --> shown once, escaped and cut
              '-- it acts, reads what people keep, wants a yes, or the money is used up: refused

Left to others: running a call (`bot.chat.toolbox`), which tools there are (`bot.web.admin.tools`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from aiohttp import web

from bot.chat.journal import ToolRun
from bot.events import TERMINAL_PERSON
from bot.i18n.phrases import tool_failure
from bot.labels import Labels
from bot.messages import CallId, ToolCall
from bot.money.ledger import periods
from bot.web.admin.context import AdminContext, NotDone, go_to, refusing
from bot.web.admin.guard import SESSION, Form, form_of
from bot.web.admin.world import RunningParts
from store import ConversationId, LedgerEntry, TurnId
from tools import ToolSpec

_TOOLS = "/setup/tools"
_MAX_SHOWN_CHARS = 20_000

FieldKind = Literal["text", "integer", "number", "check", "choice", "lines"]
_Schema = Mapping[str, Any] | bool
_KINDS: Mapping[str, FieldKind] = {"string": "text", "integer": "integer", "number": "number", "boolean": "check"}


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialField:
    """An argument as a field of a form."""

    name: str
    hint: str
    kind: FieldKind
    is_required: bool
    default: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialAnswer:
    """The result of a trial call."""

    tool: str
    is_ok: bool
    why: str
    """Why it failed, for people; empty if it did not. `text` is what a model is told."""
    text: str
    seconds: Decimal
    cost_usd: Decimal
    is_cut: bool


class TrialPage:
    """The page on which a tool is tried."""

    def __init__(self, context: AdminContext) -> None:
        self._context = context

    def routes(self) -> list[web.RouteDef]:
        """Returns the paths of the page."""
        return [web.get("/setup/tools/try/{name}", self._show), web.post("/setup/tools/try/{name}", self._try)]

    async def _show(self, request: web.Request) -> web.Response:
        _, spec = await self._found(request)
        session, answer = request[SESSION], request[SESSION].answer
        session.answer = None
        return self._context.page(
            request,
            "trial",
            spec=spec,
            fields=fields_of(spec),
            answer=answer if isinstance(answer, TrialAnswer) and answer.tool == spec.name else None,
        )

    async def _try(self, request: web.Request) -> web.Response:
        running, spec = await self._found(request)
        back = f"{_TOOLS}/try/{spec.name}"
        arguments = _arguments(fields_of(spec) or (), form_of(request))
        call = running.toolbox.understood(ToolCall(id=CallId("page"), name=spec.name, arguments=arguments))
        if running.toolbox.approval(call, Labels(), TERMINAL_PERSON, "") is not None:
            raise NotDone(
                _TOOLS,
                (
                    "This tool cannot be tried here: it changes something, reads what people keep, or "
                    "asks somebody first."
                ),
            )
        with refusing(back):
            if spec.cost_usd and any(share >= 1 for share in (await running.used_share()).values()):
                raise NotDone(back, "The budget is used up, and this call would cost something.")
            self._context.write_down(request, "tool.tried", spec.name)
            own_words = " ".join(str(value) for value in arguments.values())
            run = await running.toolbox.run(call, TERMINAL_PERSON, labels=Labels(), words=own_words)
            await self._charge(running, run)
        request[SESSION].answer = _answer(run)
        self._context.keep_draft(request, back)
        return go_to(f"{back}#answer")

    async def _found(self, request: web.Request) -> tuple[RunningParts, ToolSpec]:
        """The running Aldis and the tool.

        Raises:
            NotDone: none runs, or the tool cannot be tried.
        """
        running, name = self._context.running(_TOOLS), request.match_info["name"]
        if running.toolbox.spec(name) is None:
            await running.toolbox.offers()  # some tools are known only on request
        spec = running.toolbox.spec(name)
        if spec is None:
            raise NotDone(_TOOLS, "There is no such tool.")
        if not may_be_tried(spec):
            raise NotDone(
                _TOOLS,
                (
                    "This tool cannot be tried here: it changes something, reads what people keep, or "
                    "asks somebody first."
                ),
            )
        return running, spec

    async def _charge(self, running: RunningParts, run: ToolRun) -> None:
        """Records its cost in the ledger, as the operator's."""
        entry = LedgerEntry(
            kind="tool",
            name=run.tool,
            outcome=run.outcome,
            latency_seconds=run.latency_seconds,
            cost_usd=run.cost_usd,
        )
        now = running.clock.now()
        spans = tuple(periods(now, self._context.world.settings.locale.timezone))
        await running.store.transaction(
            lambda repos: repos.ledger.add(ConversationId(0), TurnId(0), None, (entry,), now=now, periods=spans)
        )


def may_be_tried(spec: ToolSpec) -> bool:
    """Whether it only looks, at nothing that people keep, and a form can hold its arguments."""
    is_open = spec.effects == "none" and not (spec.is_private or spec.label in {"kept", "sent"})
    return is_open and spec.approval == "by_labels" and fields_of(spec) is not None


def fields_of(spec: ToolSpec) -> tuple[TrialField, ...] | None:
    """Returns a field for each argument that a form can hold; None if a required one is not among them."""
    given: Mapping[str, Any] = spec.parameters.get("properties", {})
    required: Sequence[str] = spec.parameters.get("required", ())
    found = {name: _field(name, schema, is_required=name in required) for name, schema in given.items()}
    if any(found[name] is None for name in required if name in found):
        return None
    return tuple(field for field in found.values() if field is not None)


def _field(name: str, schema: _Schema, *, is_required: bool) -> TrialField | None:
    if isinstance(schema, bool):  # a server can say no more about an argument than that it exists
        return None
    options = [one for one in schema.get("anyOf", [schema]) if one != {"type": "null"}]
    if len(options) != 1:
        return None
    kind, choices = _kind(options[0])
    if kind is None:
        return None
    default = schema.get("default")
    return TrialField(
        name=name,
        hint=str(schema.get("description", "")),
        kind=kind,
        is_required=is_required,
        default="" if default in (None, [], "") else json.dumps(default) if isinstance(default, bool) else str(default),
        choices=choices,
    )


def _kind(schema: _Schema) -> tuple[FieldKind | None, tuple[str, ...]]:
    if isinstance(schema, bool):
        return None, ()
    if "enum" in schema:
        choices = schema["enum"]
        return ("choice", tuple(choices)) if all(isinstance(one, str) for one in choices) else (None, ())
    if schema.get("type") == "array":
        kind, _ = _kind(schema.get("items", {}))
        return ("lines", ()) if kind in {"text", "choice"} else (None, ())
    return _KINDS.get(str(schema.get("type"))), ()


def _arguments(fields: Sequence[TrialField], form: Form) -> dict[str, object]:
    """The arguments that were filled in; empty ones are left out. Whether they are valid is for the tool to say."""
    found: dict[str, object] = {}
    for at, field in enumerate(fields):
        text = form.get(f"argument-{at}", "").strip()
        if field.kind == "check":
            if bool(text) != (field.default == "true"):
                found[field.name] = bool(text)
        elif text:
            found[field.name] = _value(field, text)
    return found


def _value(field: TrialField, text: str) -> object:
    if field.kind == "lines":
        return [line.strip() for line in text.splitlines() if line.strip()]
    try:
        if field.kind == "integer":
            return int(text)
        if field.kind == "number":
            return float(text.replace(",", "."))
    except ValueError:
        pass
    return text


def _answer(run: ToolRun) -> TrialAnswer:
    content = json.loads(run.answer.content)
    shown = content.get("untrusted_data") if run.answer.ok else content
    text = json.dumps(shown, indent=2, ensure_ascii=False)
    text += "".join(f"\n{file.name} ({len(file.data)} B)" for file in run.files)
    return TrialAnswer(
        tool=run.answer.name,
        is_ok=run.answer.ok,
        why="" if run.answer.ok else tool_failure(run.outcome),
        text=text[:_MAX_SHOWN_CHARS],
        seconds=Decimal(f"{run.latency_seconds:.1f}"),
        cost_usd=run.cost_usd,
        is_cut=len(text) > _MAX_SHOWN_CHARS,
    )
