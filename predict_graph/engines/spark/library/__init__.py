"""Algorithms of other people's libraries on Spark: called by name, counted by a compiled twin."""
