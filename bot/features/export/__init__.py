"""What is kept about a person, shown to that person."""
