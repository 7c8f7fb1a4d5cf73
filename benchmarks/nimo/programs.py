"""The programs of the study: graph algorithms and ordinary ones, each on a remote file."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

INPUT = "edges.txt"
PROGRAMS = {
    "gzip": "{read} | gzip -6",
    "sort": "{read} | LC_ALL=C sort -S 200M",
    "sha256sum, reading ahead": "{read} --ahead 8 | sha256sum",
    "pagerank": "{read} > {copy} && {run} pagerank {copy} --threads 1 --history none",
    "connected-components": "{read} > {copy} && {run} connected-components {copy} --threads 1 "
    "--history none",
}


def command_of(program: str, host: str, port: int, scratch: Path) -> list[str]:
    """Return the words of a program that reads the input from a storage server."""
    script = PROGRAMS[program].format(
        read=f"{sys.executable} -m benchmarks.nimo.storage read {host} {port} {INPUT}",
        run=f"{sys.executable} -m predict_graph run",
        copy=scratch / INPUT,
    )
    return ["sh", "-c", f"{script} > /dev/null"]


def make_input(folder: Path) -> None:
    """Write the input, a graph that is also a text: 600,000 edges, hubs among the small ids."""
    rng = np.random.default_rng(0)
    ends = (60_000 * rng.random((600_000, 2)) ** 2).astype(int)
    np.savetxt(folder / INPUT, ends, fmt="%d", delimiter="\t")
