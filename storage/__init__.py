"""What we saw: records, the crash-safe spool, and the one database."""
