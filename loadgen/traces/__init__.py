"""Request traces: files of what real users asked, read into one columnar value."""
