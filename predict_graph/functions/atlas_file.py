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
def rough_runs() -> dict[str, list[tuple[float, float, float]]]:
    """Return vertices, edges and units of the runs of each function.

    With usual arguments, or the atlas's own where a function requires some.
    """
    known = content(FILE)
    sizes = [(drivers["vertices"], drivers["edges"]) for _, drivers in known["graphs"]]
    return {
        key.partition(" ")[0]: [(*sizes[graph], units) for graph, units, _ in runs]
        for key, runs in known["functions"].items()
    }
