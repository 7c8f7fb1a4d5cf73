"""Triangles of each vertex."""
