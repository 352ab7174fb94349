"""Failures of models that only the operator can mend: a key is refused, a model is not there or refuses everything.

Each stands until the same model has answered.
"""

from collections.abc import Callable

from bot.chat.notices import Notice
from bot.doctor.findings import Finding, ok, problem
from bot.errors import BadKey, NoSuchModel, ProviderError, Rejected
from bot.models.base import Completion

_MAX_MODELS = 30


class ModelTroubles:
    """Remembers the last word on each model."""

    def __init__(self) -> None:
        self.on_change: Callable[[], None] = lambda: None
        """Is called when something has begun or ended."""
        self._found: dict[tuple[str, str], tuple[Finding, ...]] = {}

    def on_error(self, error: ProviderError) -> None:
        """Notes that a try has failed."""
        name, model = error.provider, error.model or "unknown"
        group = f"LLM__{name.upper()}"
        if isinstance(error, BadKey):
            what, notice = f"{name} refuses the key or the account ({error})", Notice(kind="key", subject=name)
            how = f"look at {group}__API_KEY, and at the account's credit"
        elif isinstance(error, NoSuchModel):
            what, notice = f"{name} does not have the model {model} ({error})", Notice(kind="model", subject=model)
            how = f"look at {group}__MODEL and {group}__BASE_URL"
        elif isinstance(error, Rejected) and error.is_setup:
            what = f"{name} refuses every request to the model {model} ({error})"
            how = (
                f"look at {group}__MODEL and {group}__BASE_URL; TOOLS__ENABLED=false shows whether a tool is the cause"
            )
            notice = Notice(kind="refusal", subject=model)
        else:
            return
        self._note(name, model, (problem("models", what, how, notice),))

    def on_answer(self, completion: Completion) -> None:
        """Notes that a model has answered, also under the name (an alias, a dated one) with which it failed before."""
        provider = completion.provider
        aliases = {model for name, model in self._found if name == provider and _is_alias(model, completion)}
        for model in {completion.model} | aliases:
            notices = (
                Notice(kind="key", subject=provider),
                Notice(kind="model", subject=model),
                Notice(kind="refusal", subject=model),
            )
            self._note(provider, model, tuple(ok("models", f"{model} answers", notice=notice) for notice in notices))

    def findings(self) -> tuple[Finding, ...]:
        """Returns the last word on each model."""
        return tuple(finding for found in self._found.values() for finding in found)

    def _note(self, provider: str, model: str, found: tuple[Finding, ...]) -> None:
        before = self._found.pop((provider, model), ())
        while len(self._found) >= _MAX_MODELS:
            self._found.pop(next(iter(self._found)))
        self._found[provider, model] = found
        if [(one.level, one.notice) for one in before] != [(one.level, one.notice) for one in found]:
            self.on_change()


def _is_alias(model: str, completion: Completion) -> bool:
    return completion.model.startswith(f"{model}-") or completion.model == f"{model}:latest"
