"""What we ask an endpoint for, and asking it."""
