"""What was spent, and on what."""
