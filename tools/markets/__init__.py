"""Prediction markets."""
