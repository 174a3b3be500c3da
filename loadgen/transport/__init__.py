"""Sockets, kernel arrival stamps and the hot path."""
