"""Headway against the truth: what it measures wrongly, what it costs, how soon it answers."""
