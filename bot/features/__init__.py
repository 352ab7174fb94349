"""What Aldis can do beside answering, one folder each: its service, its commands, its loop."""
