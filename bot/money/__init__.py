"""What may be spent, and what was."""
