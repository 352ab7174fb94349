"""What is remembered about people."""
