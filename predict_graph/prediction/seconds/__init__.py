"""The runtime stage: the time of a run's work on an engine, combined from weighted sources."""
