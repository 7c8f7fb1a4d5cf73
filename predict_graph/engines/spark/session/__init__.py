"""A Spark session: where it runs, what it needs, how it opens and what can go wrong in it."""
