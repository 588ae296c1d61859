"""Measured values, and how sure they are."""
