"""What people think is likely."""
