"""Library algorithms on Spark: called by name, with counters from a compiled local replay."""
