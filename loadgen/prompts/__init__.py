"""What is sent: synthetic prompts of an exact length, prompts of one's own, blocks of a trace."""
