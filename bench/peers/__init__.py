"""Other load generators beside Headway, against the same truth: `python -m bench.peers`."""
