"""Remake the evaluation of PREDIcT and write its page.

PREDICT_GRAPH_DATA=… python -m benchmarks.paper --out docs/studies/paper.md
… --only figure-4 figure-9        these sections anew, the others as they are on the page
… --quick                         small graphs, one seed, few ratios: does it work?
"""

from __future__ import annotations

import argparse
import os
import platform
from pathlib import Path

from benchmarks.common import write
from benchmarks.paper import figure_9, table_2
from benchmarks.paper.figures import FIGURES
from benchmarks.paper.graphs import ALL, QUICK
from benchmarks.paper.page import Settings
from predict_graph.engines.local import LocalEngine

SECTIONS = {
    name: (title, section)
    for name, title, section in (
        *((part.NAME, part.TITLE, part.write) for part in (table_2, figure_9)),
        *((figure.name, figure.title, figure.write) for figure in FIGURES),
    )
}
RATIOS = (0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)


def main() -> None:
    names = list(SECTIONS)
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, default=Path("docs/studies/paper.md"))
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="SECTION")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small graphs, one seed, few ratios")
    parser.add_argument("--points", type=Path, help="folder where measurements are kept and found")
    arguments = parser.parse_args()
    threads = LocalEngine().threads
    settings = Settings(
        seeds=1 if arguments.quick else arguments.seeds,
        graphs=QUICK if arguments.quick else ALL,
        ratios=(0.01, 0.1, 0.3) if arguments.quick else RATIOS,
        pictures=arguments.out.with_suffix(""),
        threads="1 thread" if threads == 1 else f"{threads} threads",
        points=arguments.points,
    )
    machine = (
        f"{os.cpu_count()} cores, {settings.threads} (`NUMBA_NUM_THREADS`), {platform.machine()}, "
        f"Python {platform.python_version()}, {settings.seeds} seeds."
    )
    write(arguments.out, [machine], "machine")
    for name in arguments.only:
        title, section = SECTIONS[name]
        write(arguments.out, [f"## {title}", "", *section(settings)], name)
        print(f"{name} is on the page", flush=True)


if __name__ == "__main__":
    main()
