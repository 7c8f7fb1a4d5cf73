"""Graphs as Spark tables: reading, numbering, partitioning, truncating lineage, writing."""
