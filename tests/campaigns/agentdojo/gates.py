"""The gates to compare: none, a plain one, and that of Aldis."""

from bot.chat.toolbox import Toolbox
from bot.events import PersonId
from bot.labels import Labels, Source
from bot.messages import ToolCall
from bot.trust.rules import untrusted_sources


class Open(Toolbox):
    """Asks about nothing."""

    def approval(
        self,
        call: ToolCall,
        labels: Labels,
        person: PersonId,
        words: str,
        *,
        in_group: bool = False,
    ) -> tuple[Source, ...] | None:
        return None


class Plain(Toolbox):
    """Whatever changes something, or reaches out, asks once anything was read that others may have written."""

    def approval(
        self,
        call: ToolCall,
        labels: Labels,
        person: PersonId,
        words: str,
        *,
        in_group: bool = False,
    ) -> tuple[Source, ...] | None:
        spec = self.spec(call.name)
        only_looks = spec is None or (spec.effects == "none" and not spec.is_disclosing)
        return None if only_looks else untrusted_sources(labels, person) or None


GATES: dict[str, type[Toolbox]] = {"no gate": Open, "plain taint gate": Plain, "Aldis": Toolbox}
