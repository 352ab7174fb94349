"""Pure decisions: who may write, what a message is, how much is allowed."""
