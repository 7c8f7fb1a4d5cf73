"""Connected components by propagation of the smallest id."""
