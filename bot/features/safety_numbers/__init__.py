"""New safety numbers."""
