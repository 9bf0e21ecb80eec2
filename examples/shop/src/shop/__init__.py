"""Scores and ranks the offers of a small shop."""

__version__ = "1.2.0"
