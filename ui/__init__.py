"""The dashboard's router, theme and small shared widgets."""
