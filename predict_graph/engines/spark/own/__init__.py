"""A user's own job: its file, the function in it, and its runs in the place of an algorithm's."""
