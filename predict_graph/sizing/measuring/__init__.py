"""Measuring a job: designs, runs, and the tables they are kept in."""
