"""Who may write, how often, and where a message goes."""
