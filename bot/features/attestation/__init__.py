"""Attestation: what a trusted execution environment vouches for, and how people ask for it."""
