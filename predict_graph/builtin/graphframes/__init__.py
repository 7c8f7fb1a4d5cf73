"""Algorithms of GraphFrames, by the names that it has for them."""
