"""Runs of one task on different resources and data: a table to which each profiled run is added."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from predict_graph.errors import RequestError
from predict_graph.graph import Graph, check_graph
from predict_graph.sizing.table_file import TextTable, appended_table, to_number

# Columns that were observed of a run, with what is accepted of each; all others are attributes of
# resources and data.
OBSERVED = {
    "seconds": ("a number above 0", math.ulp(0.0), sys.float_info.max),
    "utilization": ("a number from 0 to 1", 0.0, 1.0),
    "data_bytes": ("a number above 0", math.ulp(0.0), sys.float_info.max),
    "network_share": ("a number from 0 to 1", 0.0, 1.0),
}
_STARTED = "started"


def add_run(path: Path, observed: Mapping[str, object], attributes: Mapping[str, float]) -> None:
    """Append a run to the table; when this returns, it is on the disk."""
    with appended_table(path, [_STARTED, *OBSERVED, *attributes]) as append:
        append({**observed, **attributes})


def read_runs(table: TextTable) -> pd.DataFrame:
    """Return runs: of the table of `profile`, or of any with a column ``seconds`` and attributes.

    One row a run: ``seconds``, ``utilization``, ``data_bytes`` and ``network_share``, without which
    the whole time is modelled at once, then attributes of the resources and of the data. Columns
    without any number are left out.
    """
    table.needs("the time of each run", "seconds")
    found = {name: pd.Series(1.0, table.cells.index) for name in OBSERVED}
    for name in table.columns:
        key = name.lower()
        if key in OBSERVED:
            accepted, least, most = OBSERVED[key]
            found[key] = table.numbers(name, accepted, least=least, most=most)
        elif name != _STARTED and table.plain(name).map(to_number).map(math.isfinite).any():
            found[name] = table.numbers(name, "a number from 0", least=0.0)
    if len(found) == len(OBSERVED):
        raise RequestError(f"{table.path} has no column of numbers besides {', '.join(OBSERVED)}")
    return pd.DataFrame(found).reset_index(drop=True)


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
