"""Evidence for and against claims in the news."""
