"""Algorithms of GraphX, which comes with Spark: called by name, and counted by a compiled twin."""
