"""Load workers on other machines: how they join, what they are given, how their data comes home."""
