"""Peak memory of a run on this machine, held against what there is."""
