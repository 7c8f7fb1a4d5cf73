"""User functions on Spark: loaded from their files, run and predicted like an algorithm."""
