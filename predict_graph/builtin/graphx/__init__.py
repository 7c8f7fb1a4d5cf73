"""Algorithms of GraphX, by the names that it has for them."""
