"""Figures from frames."""
