"""A streaming LLM server whose truth we know; shares no code with what it checks."""
