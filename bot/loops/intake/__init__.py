"""Intake: reads the stream, and stores what people who may write have written before it reads on."""
