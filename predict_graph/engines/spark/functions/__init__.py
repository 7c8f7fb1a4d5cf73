"""A function of one's own on Spark: its file, the function in it, and its runs in the place of an algorithm's."""
