"""OpenAI, and whatever speaks like it."""
