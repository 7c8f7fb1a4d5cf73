"""PageRank from one source."""
