"""What is sent: synthetic prompts of an exact length, prompts of one's own, blocks of a trace."""

from loadgen.prompts.words import WORDS, SyntheticPrompts

__all__ = ["WORDS", "SyntheticPrompts"]
