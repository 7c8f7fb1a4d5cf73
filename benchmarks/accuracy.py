"""How well are iterations, bytes and runtime predicted, by what evidence and for what cost?

All graphs x jobs x seeds, predicted first and run second, with several kinds of evidence: the
default budget, the full one, samples alone (the default method by its name, which never runs the
job), for PageRank the published method (PREDIcT, section 3.2: biased random jump, 10% of the
vertices, or the share that is named), any other budget, and the default budget after runs of other
graphs. The default runs a short job itself; what samples are worth is a question of longer jobs,
and in rows of their own.

    PREDICT_GRAPH_DATA=… python -m benchmarks.accuracy --out docs/studies/accuracy.md
    … --groups shared,large --settings 'default,1%,10s,published 0.2,after 5 runs'
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

import predict_graph
from benchmarks.common import Row, spread, study_parser, table, write
from predict_graph.algorithms import check_algorithm
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.build import symmetric
from predict_graph.iterations import methods_for

DIRECTED = ("web-NotreDame", "uk-2007-05@100000", "soc-Epinions1", "wiki-Vote", "p2p-Gnutella31")
UNDIRECTED = ("email-Enron", "musae_facebook", "musae_git", "deezer_HU")
_ONE_WAY = ("kg-wn18rr", "blogs-political")
FILES = (  # of the folder of data
    *("road-sf", "mesh-fe_body", "power-activsg10k", "loc-brightkite", "twitch-de"),
    *("wiki-squirrel", "facebook-reed", "protein-human", "checkins-nyc"),
    *_ONE_WAY,
)
GENERATED = (
    "rmat:scale=15,edge_factor=8,seed=11",
    "rmat:scale=17,edge_factor=32,seed=7",
    "rmat:scale=18,edge_factor=16,seed=1",
    "powerlaw-cluster:n=40000,m=5,p=0.4,seed=3",
    "barabasi-albert:n=100000,m=10,seed=5",
)
LARGE = (
    *("rmat:scale=20,edge_factor=16,seed=1", "rmat:scale=21,edge_factor=8,seed=3"),
    "watts-strogatz:n=2000000,k=16,p=0.05,seed=1",
)
_BY_DEFAULT = (
    *("personalised-pagerank", "connected-components", "label-propagation", "k-core"),
    *("neighborhood", "shortest-paths", "semi-clustering", "topk-ranking", "triangle-count"),
)
JOBS: dict[str, tuple[str, dict[str, float]]] = {
    **{f"pagerank, ε = {e:g}": ("pagerank", {"epsilon": e}) for e in (1e-2, 1e-3, 1e-4)},
    **{name: (name, {}) for name in _BY_DEFAULT},
}
OTHERS = (  # runs that a history has seen, in this order; none is a graph of the groups
    "rmat:scale=14,edge_factor=12,seed=5",
    "barabasi-albert:n=50000,m=6,seed=8",
    "rmat:scale=16,edge_factor=32,seed=6",
    "watts-strogatz:n=60000,k=8,p=0.1,seed=9",
    "rmat:scale=17,edge_factor=8,seed=7",
    "grid:rows=300,columns=300",
    "rmat:scale=19,edge_factor=8,seed=10",
)


@dataclass(frozen=True)
class Case:
    """A graph of a group, and how it is read."""

    name: str
    group: str
    graph: Graph


def cases(groups: set[str]) -> Iterator[Case]:
    """Yield the graphs of some groups: shared, other, generated, large, mesh."""
    folder = Path(os.environ.get("PREDICT_GRAPH_DATA", ".")) / "graphs"
    listed: dict[str, list[tuple[str, str, bool | None]]] = {
        "shared": [
            *((name, name, True) for name in DIRECTED),
            *((f"{name} (undirected)", name, False) for name in DIRECTED),
            *((name, name, False) for name in UNDIRECTED),
        ],
        "other": [(name, str(folder / f"{name}.txt.gz"), name in _ONE_WAY) for name in FILES],
        "generated": [(name, name, None) for name in GENERATED],
        "large": [(name, name, None) for name in LARGE],
        "mesh": [("wing", "wing", None)],
    }
    for group in [group for group in listed if group in groups]:
        for name, source, directed in listed[group]:
            graph = check_graph(source, directed=directed)
            yield Case(name, group, graph.described_as(labels=None))


def options_of(setting: str, algorithm: Any) -> Row | None:
    """Return the options of a setting; None where it is none of an algorithm."""
    name, _, number = setting.partition(" ")
    if name == "published":
        if algorithm.name != "pagerank":
            return None
        return {"method": name, "sampler": "brj"} | ({"ratio": float(number)} if number else {})
    if name == "samples":
        return {"method": methods_for(algorithm)[0]}
    if name == "after":
        return {"history": history_of(algorithm.name, int(number.split()[0]))}
    return {"budget": {"default": None, "full budget": "none"}.get(setting, setting)}


@cache
def history_of(name: str, count: int) -> str:
    """Return the file of a history that has seen so many runs of an algorithm."""
    file = Path(tempfile.mkdtemp(prefix="accuracy-")) / "history.sqlite"
    undirected = check_algorithm(name).undirected
    for source in OTHERS[:count]:
        graph = check_graph(source, directed=False if undirected else None)
        predict_graph.run(name, graph, history=str(file))
    return str(file)


def jobs_of(case: Case) -> Iterator[tuple[str, Any, Graph]]:
    """Yield each job with its algorithm, and the graph as that needs it.

    A graph without directions has none that would be the same on the directed one.
    """
    for job, (name, parameters) in JOBS.items():
        algorithm = check_algorithm(name, parameters)
        if not algorithm.undirected:
            yield job, algorithm, case.graph
        elif not case.name.endswith("(undirected)"):
            yield job, algorithm, symmetric(case.graph) if case.graph.directed else case.graph


def study(case: Case, settings: list[str], seeds: int) -> Iterator[Row]:
    """Yield the predictions of all jobs on one graph, each beside a run after it."""
    for (job, algorithm, graph), setting in product(jobs_of(case), settings):
        options = options_of(setting, algorithm)
        if options is None:
            continue
        for seed in range(seeds):
            # Each with a graph of its own: what one derives from it, the other would find.
            given = {"history": "none", "seed": seed} | options
            found = predict_graph.predict(algorithm, graph.fresh(), **given).to_dict()
            truth = predict_graph.run(algorithm, graph.fresh(), history="none").to_dict()
            # Neither reads the graph.
            truth["runtime_seconds"] -= truth["phases"]["read"]
            found["runtime_seconds"] = {
                name: value - found["phases"]["read"]
                for name, value in found["runtime_seconds"].items()
            }
            yield result((case.name, case.group, job, setting), found, truth)


def result(names: tuple[str, str, str, str], found: Row, truth: Row) -> Row:
    """Return a prediction beside the run of the job, both as JSON."""
    said, sent = (each["features_total"]["remote_message_bytes"] for each in (found, truth))
    iterations, runtime = found["iterations"], found["runtime_seconds"]
    seconds, overhead = truth["runtime_seconds"], found["overhead"]["seconds"]
    return {
        **dict(zip(("case", "group", "job", "setting"), names, strict=True)),
        "error": iterations["predicted"] / truth["iterations"] - 1.0,
        "iterations_inside": iterations["low"] <= truth["iterations"] <= iterations["high"],
        "bytes_error": said / sent - 1.0 if sent else 0.0,
        "runtime_error": runtime["predicted"] / seconds - 1.0,
        "runtime_inside": runtime["low"] <= seconds <= runtime["high"],
        "overhead": overhead,
        "share": overhead / seconds,
        "full_run": found["method"]["name"] == "whole-run",
    }


def summary(results: list[Row], by: str) -> list[str]:
    """Return a table with a row for each value of a field and each setting."""
    rows = []
    for (value, setting), own in pd.DataFrame(results).groupby([by, "setting"], sort=False):
        errors = spread(own.bytes_error)
        overhead, share = (f"{each:.2f}" for each in own[["overhead", "share"]].median())
        cells = [str(value), str(setting), str(len(own)), *spread(own.error)]
        cells += [f"{own.iterations_inside.mean():.0%}", errors[0], errors[2]]
        cells += [*spread(own.runtime_error), f"{own.runtime_inside.mean():.0%}"]
        rows.append([*cells, overhead, share, f"{own.full_run.mean():.0%}"])
    head = [by, "evidence", "n", "iterations: median", "90%", "worst", "in interval"]
    head += ["remote bytes: median", "worst", "runtime: median", "90%", "worst", "in interval"]
    return table([*head, "overhead, s", "overhead / run", "full runs"], rows, text_columns=2)


def main() -> None:
    """Run the study and write its page."""
    parser = study_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--groups", default="shared,other,generated,large,mesh")
    parser.add_argument("--settings", default="default,full budget,samples,published")
    arguments = parser.parse_args()
    results: list[Row] = []
    for case in cases(set(arguments.groups.split(","))):
        results += study(case, arguments.settings.split(","), arguments.seeds)
        print(case.name, flush=True)
    lines = ["## By group of graphs", "", *summary(results, "group")]
    if "," in arguments.groups:
        lines += ["", "## By job", "", *summary(results, "job")]
    write(arguments.out, lines, "errors")


if __name__ == "__main__":
    main()
