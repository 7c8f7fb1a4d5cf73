"""Functions of one's own on Spark: found in their files, run, predicted like an algorithm."""
