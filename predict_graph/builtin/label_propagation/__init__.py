"""Communities by synchronous label propagation."""
