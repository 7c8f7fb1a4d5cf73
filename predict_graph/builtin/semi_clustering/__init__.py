"""Semi-clusters of vertices that talk to each other more than to others."""
