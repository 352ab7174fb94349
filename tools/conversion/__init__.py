"""Units and currencies."""
