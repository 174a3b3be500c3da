"""What holds for all tests."""

from hypothesis import settings

# On a shared machine an example may wait for its turn; how long one takes is no test of ours.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")
