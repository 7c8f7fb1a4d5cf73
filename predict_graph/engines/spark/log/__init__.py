"""Spark's event log: its lines, the tasks in them, and what these say about each superstep."""
