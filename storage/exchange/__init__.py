"""Runs in and out: other tools' result files, and whole runs as files of our own."""
