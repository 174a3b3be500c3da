"""Which load to try next, and when a level's answer is clear: numbers in, numbers out."""
