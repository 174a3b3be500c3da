"""The same run as other load-test tools would report it."""
