"""The k highest ranks that reach a vertex."""
