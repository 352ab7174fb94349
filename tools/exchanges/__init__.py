"""Prediction markets that can be asked, one module each."""
