"""Claude."""

from bot.providers.lazy_packages import make_lazy

make_lazy("anthropic")
