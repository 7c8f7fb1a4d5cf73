"""Hops from landmarks to each vertex."""
