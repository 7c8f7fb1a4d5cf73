"""Graphs as tables: read, numbered, spread over partitions, cut off from their past, written."""
