"""OpenAI, and whatever speaks like it."""

from bot.providers.lazy_packages import make_lazy

make_lazy("openai")
