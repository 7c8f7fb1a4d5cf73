"""What a constant matters: predictions with each of them halved and doubled, one at a time.

    PREDICT_GRAPH_DATA=… python benchmarks/constants.py --out docs/studies/constants.md

Two stages that are the same on any machine: how many iterations (against real runs on whole
graphs), and models of clusters (against runs published with C3O). Of a share above a half, what it
leaves of the whole is halved and doubled. No constant was changed by what is seen here.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:] = [str(HERE.parent), *(p for p in sys.path if Path(p or ".").resolve() != HERE)]

from benchmarks.cluster_models import TEST, TRAIN, few_shot, scale_out  # noqa: E402
from benchmarks.cluster_models import evaluate as evaluate_models  # noqa: E402
from benchmarks.common import table, write  # noqa: E402
from benchmarks.estimating import estimated, remote_bytes  # noqa: E402
from costmodels.scaling import AutoScaling  # noqa: E402
from predict_graph.algorithms import check_algorithm  # noqa: E402
from predict_graph.engines.local import LocalEngine  # noqa: E402
from predict_graph.graph import check_graph  # noqa: E402

GRAPHS = ("soc-Epinions1", "email-Enron", "p2p-Gnutella31", "wiki-Vote")
SEEDS = 5
FEW_SEEDS = 2  # where several algorithms are tried
EVERY = 4  # one in so many of the cases of clusters

SPREADING = ("semi-clustering", "topk-ranking", "connected-components", "neighborhood")

# Modules and constants, by what they are tried on: algorithms, or models of clusters.
TRIED: dict[tuple[str, ...], str] = {
    ("pagerank",): """
        predict_graph.iterations.completion.calibration _RATIO _REPLICATES _PASSES _LARGEST
        predict_graph.iterations.completion.calibration _MOST_REPEATS
        predict_graph.iterations.completion.completed _NARROW
        predict_graph.iterations.completion.estimator _METHOD_STD _SMALL_SAMPLE _UNCALIBRATED_STD
        predict_graph.iterations.completion.hubs _LARGEST_FRACTION _NEIGHBOURS_IN_SAMPLE
        predict_graph.iterations.completion.replicates _COUNTS _LARGEST _LARGEST_SHARE
        predict_graph.iterations.completion.replicates _LARGEST_HUB_SHARE FEWEST_VERTICES
        predict_graph.iterations.completion.rewiring _ROUNDS
        predict_graph.iterations.completion.profiles LEVELS
        predict_graph.iterations.budget FREE_EDGES LONG_RUN _LONG_RUN_OVERHEAD
    """,
    SPREADING: """
        predict_graph.iterations.rooted.estimator _METHOD_STD _PILOT_SHARE _FEWEST _EDGE_GROWTH
        predict_graph.iterations.rooted.estimator _WORTH_WHILE
        predict_graph.iterations.budget _LONG_RUN_SHARE
        predict_graph.iterations.rooted.recipes _ENOUGH _HUB_SHARE _TAIL_SHARE
    """,
    ("neighborhood",): "predict_graph.builtin.neighborhood.sampling _HOLDERS",
    ("topk-ranking",): "predict_graph.builtin.topk_ranking.sampling _MOST_RANK_ROOTS",
    ("semi-clustering",): "predict_graph.builtin.semi_clustering.sampling _SEED_SHARE _MOST_SEEDS",
    ("label-propagation",): """
        predict_graph.builtin.label_propagation.sampling _GENERATIONS _LEVEL_STD
        predict_graph.iterations.rooted.estimator _LASTING
    """,
    ("clusters",): """
        costmodels.scaling.pooled DRIFT
        costmodels.scaling.posterior DRAWS BATCHES WIDER
        costmodels.scaling.shapes PRESSED MOST_RESERVED
        costmodels.scaling.auto STRANGE
    """,
}


def constants_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield module and name of each constant of a list."""
    for line in filter(None, map(str.strip, text.splitlines())):
        home, *names = line.split()
        yield from ((home, name) for name in names)


@dataclass(frozen=True)
class Judged:
    """Errors without a unit, and the share of intervals that hold."""

    errors: np.ndarray
    held: float

    def cells(self) -> list[str]:
        return [f"{np.abs(self.errors).mean():.1%}", f"{self.held:.0%}"]


def _tried_values(value: Any) -> tuple[Any, Any]:
    """Halved and doubled; whole numbers stay whole."""
    if isinstance(value, tuple):
        return tuple(zip(*map(_tried_values, value), strict=True))  # type: ignore[return-value]
    if isinstance(value, int):
        return max(value // 2, 1), 2 * value
    if 0.5 < value < 1.0:
        return 1.0 - 2.0 * (1.0 - value), 1.0 - 0.5 * (1.0 - value)
    return 0.5 * value, 2.0 * value


@contextmanager
def changed(home: str, name: str, value: Any) -> Iterator[None]:
    """Set a constant in its module, and in those that import it."""
    old = getattr(importlib.import_module(home), name)
    holders = [
        module
        for key, module in list(sys.modules.items())
        if key.partition(".")[0] in ("predict_graph", "costmodels", "samplers")
        and (key == home or (not name.startswith("_") and module.__dict__.get(name) is old))
    ]
    for module in holders:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module in holders:
            setattr(module, name, old)


class Iterations:
    """Estimates of iterations of some algorithms on some graphs, by the default methods."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.cases, self.first = [], 0
        self.seeds = FEW_SEEDS if len(names) > 1 else SEEDS
        for name in names:
            for given in GRAPHS:
                job = check_algorithm(name)
                graph = check_graph(given, directed=False if job.undirected else None)
                run = LocalEngine().run(job, graph)
                self.cases.append((job, graph, run))

    def __call__(self) -> Judged:
        errors, inside = [], []
        for job, graph, run in self.cases:
            for seed in range(self.first, self.first + self.seeds):
                found = estimated(graph, job, 0.1, seed)
                errors.append(found.iterations / run.iterations - 1.0)
                if found.counters is not None:
                    sent = float(found.counters["remote_message_bytes"].sum())
                    errors.append(sent / remote_bytes(run) - 1.0)
                inside.append(found.low <= run.iterations <= found.high)
        return Judged(np.array(errors), float(np.mean(inside)))


class Clusters:
    """`auto` on one in some of the cases of the study of cluster models."""

    def __init__(self) -> None:
        data = Path(os.environ["PREDICT_GRAPH_DATA"]) / "cluster"
        self.cases = [*scale_out(data, TRAIN, TEST)][::EVERY] + [*few_shot(data, 4)][:: 2 * EVERY]

    def __call__(self) -> Judged:
        found = evaluate_models(self.cases, {"auto": AutoScaling}).dropna()
        return Judged(found.error.to_numpy() / 100, float(found.held.mean()) / 100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for names, constants in TRIED.items():
        evaluate = Clusters() if names == ("clusters",) else Iterations(names)
        own = [evaluate().cells()]
        if isinstance(evaluate, Iterations):  # what is chance
            evaluate.first = 100
            own.append(evaluate().cells())
            evaluate.first = 0
        title = ", ".join(names) if len(names) == 1 else "four that spread"
        rows.append([f"*{title}*", "", " / ".join(each[0] for each in own), "", own[0][1], ""])
        for home, name in constants_of(constants):
            value = getattr(importlib.import_module(home), name)
            found = []
            for other in _tried_values(value):
                with changed(home, name, other):
                    found.append(evaluate().cells())
            (less, less_held), (more, more_held) = found
            title = f"`{'.'.join(home.split('.')[-2:])}` `{name}`"
            rows.append([title, _shown(value), less, more, less_held, more_held])
            print(rows[-1], flush=True)
    head = ["constant", "value", "error: halved", "doubled", "in interval: halved", "doubled"]
    write(options.out, [*PAGE, *table(head, rows)])


def _shown(value: Any) -> str:
    return ", ".join(map(_shown, value)) if isinstance(value, tuple) else f"{value:.6g}"


PAGE = [
    "# What constants matter",
    "",
    "    python benchmarks/constants.py --out docs/studies/constants.md",
    "",
    "Each constant of two stages is halved and doubled, all others as they are: iterations and",
    f"messages on {', '.join(GRAPHS)}",
    f"({SEEDS} seeds, {FEW_SEEDS} where four algorithms are tried: semi-clustering, top-k ranking,",
    "connected components, neighborhood; mean relative errors of both together), and the model",
    "`auto` of clusters on a part of the cases of [cluster models](cluster-models.md). Of a share",
    "above a half, the rest to one is halved and doubled. Rows in italics have the errors as it",
    "is, and with other seeds: what differs less may be chance. Intervals are those of 90%.",
    "",
]


if __name__ == "__main__":
    main()
