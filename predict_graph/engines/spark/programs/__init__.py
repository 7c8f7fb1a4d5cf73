"""Algorithms as supersteps over tables: their shared parts."""
