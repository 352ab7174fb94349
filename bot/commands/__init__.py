"""What people can have Aldis do with `/name`, and what else does not wait for its turn."""
