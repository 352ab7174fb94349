"""What is remembered of people."""
