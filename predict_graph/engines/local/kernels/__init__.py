"""Compiled kernels of the local engine: one algorithm, one file."""
