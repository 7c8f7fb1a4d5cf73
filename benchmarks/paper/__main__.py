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

from benchmarks.paper import (
    extended,
    figure_4,
    figure_5,
    figure_6,
    figure_7,
    figure_8,
    figure_9,
    table_2,
    table_3,
    upper_bounds,
)
from benchmarks.paper.graphs import ALL, LARGE, QUICK
from benchmarks.paper.page import Settings, update
from predict_graph.engines.local import LocalEngine

SECTIONS = [
    module.SECTION
    for module in (
        table_2,
        figure_4,
        upper_bounds,
        figure_5,
        figure_6,
        extended,
        figure_7,
        figure_8,
        figure_9,
        table_3,
    )
]
RATIOS = (0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
QUICK_RATIOS = (0.01, 0.1, 0.3)


def main() -> None:
    names = [section.name for section in SECTIONS]
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
        large=QUICK[:2] if arguments.quick else LARGE,
        ratios=QUICK_RATIOS if arguments.quick else RATIOS,
        pictures=arguments.out.with_suffix(""),
        folder=arguments.out.stem,
        threads="1 thread" if threads == 1 else f"{threads} threads",
        points=arguments.points,
    )
    intro = [
        "# The evaluation of PREDIcT remade",
        "",
        "Section 5 of PREDIcT (VLDB 2013) on the local engine, on other graphs. *Published* is "
        "the method of the paper: the algorithm runs on a sample by biased random jump (BRJ), "
        "with the threshold transformed, and its counters are scaled by e_V and e_E. *Ours* is "
        "the default: completed samples for PageRank, rooted samples for the others "
        "([iterations](../iterations.md)), within the default budget of edges, so that a larger "
        "ratio does not always mean a larger sample. Errors are signed relative errors, "
        "predicted / actual - 1; lines and cells are medians over the seeds, a seed being one "
        "sample of the published method and one whole estimate of ours. Grey bands are 20%. "
        "*Work* is messages of the samples, with the search for them, over messages of the run.",
        "",
        f"    python -m benchmarks.paper --out {arguments.out} --seeds {settings.seeds}",
        "",
        f"{os.cpu_count()} cores, {settings.threads} (`NUMBA_NUM_THREADS`), {platform.machine()}, "
        f"Python {platform.python_version()}.",
    ]
    for section in SECTIONS:
        if section.name in arguments.only:
            lines = [f"## {section.title}", "", *section.write(settings)]
            update(arguments.out, intro, SECTIONS, {section.name: "\n".join(lines).rstrip()})
            print(f"{section.name} is on the page", flush=True)


if __name__ == "__main__":
    main()
