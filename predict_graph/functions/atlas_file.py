"""The file of the atlas, read without what takes long to import."""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("atlas.json.gz")
"""Graphs, as kind and drivers, and the runs of functions on them: number of the graph, time in
units, and MiB at the peak. ``benchmarks.atlas`` writes it."""


@lru_cache(maxsize=1)
def content(file: Path) -> dict[str, Any]:
    """Return what the file holds."""
    found: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes()))
    return found


@lru_cache(maxsize=1)
def rough_runs(library: str) -> dict[str, list[tuple[float, float, float]]]:
    """Return vertices, edges and units of the runs of each function of a library.

    With usual arguments, or the atlas's own where a function requires some.
    """
    known = content(FILE)
    found: dict[str, list[tuple[float, float, float]]] = {}
    for key, runs in known["functions"].items():
        home, _, name = key.partition(" ")[0].rpartition(":")
        if home == library:
            sizes = [(known["graphs"][graph][1], units) for graph, units, _ in runs]
            found[name] = [(size["vertices"], size["edges"], units) for size, units in sizes]
    return found
