"""News feeds."""
