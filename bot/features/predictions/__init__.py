"""What people hold to be likely."""
