"""Completed samples: cut edges of a sample are rejoined among similar vertices."""
