"""Reading a graph file: predict-graph beside networkx, pandas, pyarrow, igraph and networkit.

Each tool runs in a process of its own: one reading to warm up (imports, compilation, page cache),
then some that are timed; the growth of the peak resident memory over the first of all is recorded.

    python -m benchmarks.load [FILE ...] [--repeats 5] [--out docs/studies/load.md]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from benchmarks.common import kilobytes, machine, study_parser, write
from benchmarks.common import table as markdown

# What each tool makes of the file.
MAKES = {
    "predict-graph": "CSR graph",
    "pandas": "table, no graph",
    "pandas + scipy": "CSR matrix",
    "pyarrow": "table, no graph",
    "igraph": "graph (from the unpacked file)",
    "networkit": "graph (from the unpacked file)",
    "networkx": "graph",
}
PLAIN = ("igraph", "networkit")
DEFAULTS = ("web-NotreDame.txt.gz", "uk-2007-05@100000.txt.gz")


def table(path):
    import pandas as pd

    return pd.read_csv(path, sep="\t", comment="#", header=None)


def matrix(path):
    import numpy as np
    from scipy import sparse

    edges = table(path).to_numpy()
    n = int(edges.max()) + 1
    values = np.ones(len(edges), np.float32)
    return sparse.coo_array((values, (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()


def arrow(path):
    import pyarrow.csv as pc

    with gzip.open(path, "rt") as file:
        comments = next(i for i, line in enumerate(file) if line[0] not in "#%")
    options = pc.ReadOptions(skip_rows=comments, autogenerate_column_names=True)
    return pc.read_csv(path, options, pc.ParseOptions(delimiter="\t"))


def reader(tool: str) -> Callable[[str], object]:
    """Import a tool; return its function that reads a tab-separated edge list."""
    ours = {"pandas": table, "pandas + scipy": matrix, "pyarrow": arrow}
    if tool in ours:
        return ours[tool]
    if tool == "predict-graph":
        return import_module("predict_graph.graph.readers").read_graph
    if tool == "igraph":
        graph = import_module("igraph").Graph
        return lambda path: graph.Read_Edgelist(path, directed=True)
    if tool == "networkit":
        return import_module(tool).graphio.EdgeListReader("\t", 0, "#", directed=True).read
    nx = import_module(tool)
    return lambda path: nx.read_edgelist(path, nodetype=int, create_using=nx.DiGraph)


def measure(tool: str, path: str, repeats: int) -> dict[str, float]:
    """Time a tool in this process."""
    read = reader(tool)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as tiny:
        tiny.write("0\t1\n1\t2\n")
        tiny.flush()
        if tool != "pyarrow":
            read(tiny.name)
    before = kilobytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    read(path)
    grown = (kilobytes("VmHWM") - before) * 1024
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        graph = read(path)
        seconds.append(time.perf_counter() - begin)
        del graph
    return {"seconds": statistics.median(seconds), "peak": grown}


def in_a_process(tool: str, path: Path, repeats: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.load", "--measure", tool, str(path)]
    command += ["--repeats", str(repeats)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def unpacked(path: Path, folder: str) -> Path:
    """Write the edges of a packed file without its comments, for tools that need it so."""
    plain = Path(folder) / path.name.removesuffix(".gz")
    with gzip.open(path, "rt") as file, plain.open("w") as out:
        out.writelines(line for line in file if not line.startswith("#"))
    return plain


def compare(path: Path, repeats: int) -> list[str]:
    from predict_graph.graph.readers import read_graph

    graph = read_graph(path)
    lines = [
        f"## {path.name}: {graph.vertices:,} vertices, {graph.edges:,} edges, "
        f"{path.stat().st_size / 1e6:.1f} MB",
        "",
        f"Memory of the graph: {graph.nbytes / graph.edges:.1f} bytes an edge, with its reverse "
        f"{(graph.nbytes + graph.reverse.nbytes) / graph.edges:.1f}.",
        "",
    ]
    rows, ours = [], 0.0  # the seconds of the first tool
    with tempfile.TemporaryDirectory() as folder:
        plain = unpacked(path, folder)
        for tool, makes in MAKES.items():
            file = plain if tool in PLAIN else path
            found = in_a_process(tool, file, 1 if tool == "networkx" else repeats)
            seconds, peak = found["seconds"], f"{found['peak'] / graph.edges:.0f}"
            ours = ours or seconds
            rows.append([tool, makes, f"{seconds:.3f}", f"{seconds / ours:.1f}", peak])
    head = ["tool", "makes", "seconds", "times ours", "peak memory, bytes an edge"]
    return [*lines, *markdown(head, rows, text_columns=2), ""]


def main() -> None:
    parser = study_parser(__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--measure", metavar="TOOL", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        print(json.dumps(measure(asked.measure, str(asked.files[0]), asked.repeats)))
        return
    data = Path(os.environ.get("PREDICT_GRAPH_DATA", "."))
    files = asked.files or [
        file for name in DEFAULTS for file in (*data.glob(name), *data.glob(f"graphs/{name}"))
    ]
    if not files:
        parser.error("no files; name some, or set PREDICT_GRAPH_DATA")
    said = f"{machine()}, {time.strftime('%Y-%m-%d')}, median of {asked.repeats} readings."
    write(asked.out, [said], "machine")
    write(asked.out, [line for file in files for line in compare(file, asked.repeats)], "tools")


if __name__ == "__main__":
    main()
