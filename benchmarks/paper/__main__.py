"""Remake the evaluation of PREDIcT and write the tables and pictures of its page.

PREDICT_GRAPH_DATA=… python -m benchmarks.paper --out docs/studies/paper.md
… --only figure-4 figure-9        these sections anew, the others as they are on the page
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.common import machine, study_parser, write
from benchmarks.paper.figures import FIGURES, measured, picture, tables
from benchmarks.paper.graphs import ALL, graph_table
from predict_graph.engines.local import LocalEngine

GRAPHS = "table-2"


def main() -> None:
    parser = study_parser(__doc__)
    names = [GRAPHS, *FIGURES]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="SECTION")
    parser.add_argument("--graphs", nargs="+", choices=ALL, default=ALL, metavar="GRAPH")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="folder where measurements are kept and found")
    given = parser.parse_args()
    threads = f"{LocalEngine().threads} threads (`NUMBA_NUM_THREADS`)"
    write(given.out, [f"{machine()}, {threads}, {given.seeds} seeds."], "machine")
    if GRAPHS in given.only:
        write(given.out, graph_table(given.graphs), GRAPHS)
    for name in [each for each in FIGURES if each in given.only]:
        file = given.keep / f"{name}.ndjson" if given.keep else None
        points = measured(FIGURES[name], given.graphs, given.seeds, file)
        write(given.out, tables(FIGURES[name], points), name)
        if given.out:
            picture(FIGURES[name], points, given.out.with_suffix("") / f"{name}.png")
        print(f"{name} is done", flush=True)


if __name__ == "__main__":
    main()
