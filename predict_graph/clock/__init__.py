"""Progress of a running job: what is done, the remaining time, and its interval."""
