"""What waits in the inbox is taken, and each turn seen through."""
