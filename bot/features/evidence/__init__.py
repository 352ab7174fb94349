"""What reports say about a claim."""
