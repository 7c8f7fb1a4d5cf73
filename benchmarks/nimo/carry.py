"""Does the profile of a capped machine predict runtimes of graph algorithms on it?

    PREDICT_GRAPH_DATA=… python -m benchmarks.nimo.carry --out docs/studies/nimo.md

Each prediction is made here, on all there is, and carried; then the run, with the cap. Nothing but
``calibrate`` runs on the capped machine before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common import study_parser, table, write
from benchmarks.cpu_quota import CannotEmulateError, CpuQuota

CPUS = (0.3, 0.5, 0.8, 1.2)
GRAPHS = ("soc-Epinions1", "web-NotreDame", "rmat:scale=18,edge_factor=16,seed=1")
ALGORITHMS = ("pagerank", "connected-components", "topk-ranking")


def capped(quota: CpuQuota, cpu: float | None, *arguments: str) -> None:
    """Run the program with a share of a core, or with all there is."""
    quota.limit(cpu)
    command = [sys.executable, "-m", "predict_graph", *arguments]
    environment = {**os.environ, "PREDICT_GRAPH_HISTORY": "none"}
    settings = {"capture_output": True, "text": True, "env": environment}
    done = subprocess.run(command, preexec_fn=quota.enter, check=False, **settings)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)} failed: {done.stderr.strip()}")


def study(quota: CpuQuota, folder: Path, graphs: list[str], repeats: int) -> pd.DataFrame:
    """Predict, carry, run, compare."""
    here = folder / "here.json"
    capped(quota, None, "calibrate", "--no-disk", "--out", str(here))
    for cpu in CPUS:
        target = str(folder / f"{cpu}.json")
        capped(quota, cpu, "calibrate", "--no-disk", "--out", target)
    rows = []
    for graph, algorithm, cpu in product(graphs, ALGORITHMS, CPUS):
        said, done = folder / "said.json", folder / "done.json"
        profiles = ["--profile", str(here), "--target-profile", str(folder / f"{cpu}.json")]
        words = ["predict", algorithm, graph, "--seed", "0", *profiles, "--json", str(said)]
        capped(quota, None, *words)
        seconds = []
        for _ in range(repeats):
            capped(quota, cpu, "run", algorithm, graph, "--json", str(done))
            seconds.append(json.loads(done.read_text())["runtime_seconds"])
        predicted = json.loads(said.read_text())["runtime_seconds"]
        actual = float(np.median(seconds))
        rows.append(
            {
                "graph": graph,
                "algorithm": algorithm,
                "cores": cpu,
                "predicted, s": predicted["predicted"],
                "actual, s": actual,
                "error": predicted["predicted"] / actual - 1.0,
                "inside": predicted["low"] <= actual <= predicted["high"],
            }
        )
        print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def main() -> None:
    parser = study_parser(__doc__)
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    try:
        quota = CpuQuota(f"predict-graph-{os.getpid()}")
    except CannotEmulateError as error:
        sys.exit(f"skipped: {error}")
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = study(quota, Path(folder), given.graphs, given.repeats)
    finally:
        quota.remove()
    rows = []
    for name, part in [*found.groupby("algorithm", sort=False), ("all", found)]:
        sizes = part["error"].abs()
        held = f"{part['inside'].sum()} of {len(part)}"
        rows.append([str(name), f"{sizes.median():.1%}", f"{sizes.max():.1%}", held])
    write(given.out, table(["algorithm", "error: median", "worst", "in interval"], rows), "carried")


if __name__ == "__main__":
    main()
