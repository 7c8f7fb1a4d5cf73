"""A campaign of damaged files over every reader: seeded, structure-aware, with bounds checks.

    python -m benchmarks.robustness [--files 100000] [--seed 1] [--only FORMAT,...] [--out FILE]

The files are damaged copies of small valid ones. Each is read in a process that is watched: one
that dies, is silent for ten seconds, answers with an error that is no sentence, or reads another
graph than the one that a checksum covers is a find; its numbers make its file again.
"""
