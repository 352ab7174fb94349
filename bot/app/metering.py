"""Turns answers, failures and tool runs into labelled figures."""

from decimal import Decimal

from bot.chat.journal import ToolRun
from bot.errors import ProviderError
from bot.metrics import Counts
from bot.models.base import Completion


class Meter:
    """Records what models and tools did, in the figures of one run."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def on_answer(self, completion: Completion) -> None:
        """Records a model's answer."""
        usage, provider = completion.usage, completion.provider
        self._counts.observe("model_call_seconds", completion.latency_seconds, provider=provider)
        self._counts.increase("model_tokens", usage.input_tokens, provider=provider, kind="input")
        self._counts.increase("model_tokens", usage.cached_input_tokens, provider=provider, kind="cached_input")
        self._counts.increase("model_tokens", usage.output_tokens, provider=provider, kind="output")
        if completion.cost_usd is None:
            self._counts.increase("model_calls_unpriced")
        else:
            self._charge("model", completion.cost_usd)

    def on_error(self, error: ProviderError) -> None:
        """Records a failed try."""
        self._counts.increase("model_failures", provider=error.provider, error=type(error).__name__)
        self._charge("model", error.cost_usd or Decimal(0))

    def on_run(self, run: ToolRun) -> None:
        """Records a tool run."""
        self._counts.observe("tool_call_seconds", run.latency_seconds, tool=run.tool)
        self._charge("tool", run.cost_usd)
        if run.outcome != "ok":
            self._counts.increase("tool_failures", error=run.outcome)

    def _charge(self, kind: str, cost_usd: Decimal) -> None:
        self._counts.increase("cost_usd", float(cost_usd), kind=kind)
