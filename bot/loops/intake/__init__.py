"""What comes in: the stream is read, and what people who may write have written stands in the inbox before the next."""
