"""Failures of models that only the operator can mend: a key is refused, a model is not there or refuses everything.

Each stands until the same model has answered.
"""

from collections.abc import Callable

from bot.chat.notices import Notice
from bot.doctor.findings import Finding, ok, problem
from bot.errors import BadKey, NoSuchModel, ProviderError, Rejected
from bot.models.base import Completion

_MAX_MODELS = 100


class ModelTroubles:
    """Remembers the last word on each model."""

    def __init__(self) -> None:
        self.on_change: Callable[[], None] = lambda: None
        """Is called when something has begun or ended."""
        self._found: dict[tuple[str, str], Finding] = {}

    def on_error(self, error: ProviderError) -> None:
        """A try has failed."""
        is_refused = isinstance(error, Rejected) and error.is_setup
        if not is_refused and not isinstance(error, BadKey | NoSuchModel):
            return
        model = error.model or "unknown"
        topic, group = _topic(error.provider, model), f"LLM__{error.provider.upper()}"
        if isinstance(error, BadKey):
            what = f"{error.provider} refuses the key or the account ({error!s})"
            advice = "look at {name}, and at the account's credit".format(name=f"{group}__API_KEY")
            notice = Notice(kind="key", subject=error.provider)
        elif not isinstance(error, NoSuchModel):
            what = f"{error.provider} refuses every request to the model {model} ({error})"
            advice = (
                f"look at {group}__MODEL and {group}__BASE_URL; TOOLS__ENABLED=false shows whether a tool is the cause"
            )
            notice = Notice(kind="refusal", subject=model)
        else:
            what = f"{error.provider} does not have the model {model} ({error!s})"
            advice = "look at {name} and {other}".format(name=f"{group}__MODEL", other=f"{group}__BASE_URL")
            notice = Notice(kind="model", subject=model)
        self._note(error.provider, model, problem("models", what, advice, topic=topic, notice=notice))

    def on_answer(self, completion: Completion) -> None:
        """A model has answered: whatever was wrong with it is over."""
        for model in (completion.model, *self._asked_as(completion)):
            if self._found.get((completion.provider, model), _NOTHING).level != "ok":
                self._note(completion.provider, model, ok("", "", topic=_topic(completion.provider, model)))

    def findings(self) -> tuple[Finding, ...]:
        """The last word on each model; of one that answers only that it was looked at."""
        return tuple(self._found.values())

    def _asked_as(self, completion: Completion) -> tuple[str, ...]:
        """The names under which a model may have failed that now calls itself otherwise (an alias, a dated name)."""
        found = self._found
        return tuple(
            model for provider, model in found if provider == completion.provider and _is_alias(model, completion)
        )

    def _note(self, provider: str, model: str, finding: Finding) -> None:
        before = self._found.pop((provider, model), _NOTHING)
        while len(self._found) >= _MAX_MODELS:
            self._found.pop(next(iter(self._found)))
        self._found[provider, model] = finding
        if (before.level, before.notice) != (finding.level, finding.notice):
            self.on_change()


_NOTHING = Finding(level="hint", area="", words="")


def _topic(provider: str, model: str) -> str:
    return f"answers {provider} {model}"


def _is_alias(model: str, completion: Completion) -> bool:
    return completion.model.startswith(f"{model}-") or completion.model == f"{model}:latest"
