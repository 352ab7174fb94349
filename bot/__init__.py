"""Aldis itself: decides and talks. A message goes transports -> loops -> turn -> providers and tools -> and back."""
