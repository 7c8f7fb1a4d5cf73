"""What of the data a task's time may depend on: its size, and for a graph its shape (lambda)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from predict_graph.errors import RequestError
from predict_graph.graph import Graph, check_graph


def file_attributes(path: Path) -> dict[str, float]:
    """Return ``input_bytes`` of a file, or of all files below a folder.

    Raises
    ------
    RequestError
        If nothing is there.
    """
    if path.is_dir():
        files = [Path(folder) / name for folder, _, names in os.walk(path) for name in names]
        return {"input_bytes": float(sum(file.stat().st_size for file in files))}
    if not path.is_file():
        raise RequestError(f"there is no file {path} to take the size of")
    return {"input_bytes": float(path.stat().st_size)}


def graph_attributes(source: str | Graph) -> dict[str, float]:
    """Return ``vertices``, ``edges``, and ``skew``: standard deviation of out-degrees over mean.

    Examples
    --------
    >>> {name: round(value, 3) for name, value in graph_attributes("star:n=4").items()}
    {'vertices': 4.0, 'edges': 6.0, 'skew': 0.577}

    Raises
    ------
    RequestError
        If the graph cannot be read.
    """
    graph = source if isinstance(source, Graph) else check_graph(source)
    degrees = graph.out_degrees.astype(np.float64)
    mean = float(degrees.mean())
    return {
        "vertices": float(graph.vertices),
        "edges": float(graph.edges),
        "skew": float(degrees.std()) / mean if mean else 0.0,
    }
