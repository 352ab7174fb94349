"""What reports say of a claim."""
