"""Sans-io: the bytes of one endpoint API to its events; no clock, socket or thread here."""
