"""Algorithms of GraphX, under its names."""
