"""Estimating iterations and counters from samples that keep their distances."""
