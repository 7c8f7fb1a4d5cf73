"""Algorithms of GraphFrames, under its names."""
