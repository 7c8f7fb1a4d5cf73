"""A scaling model of a job: fitted to measured runs, kept in a file."""
