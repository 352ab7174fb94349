"""What Aldis can do besides answering, one folder each: its service, its commands, its loop."""
