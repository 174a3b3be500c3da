"""Numbers from records (pure)."""
