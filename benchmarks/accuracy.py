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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import predict_graph
from benchmarks.common import Row, spread, study_parser, table, write
from predict_graph.algorithms import check_algorithm
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.build import symmetric
from predict_graph.iterations import methods_for

DIRECTED = ("web-NotreDame", "uk-2007-05@100000", "soc-Epinions1", "wiki-Vote", "p2p-Gnutella31")
UNDIRECTED = ("email-Enron", "musae_facebook", "musae_git", "deezer_HU")
FILES = {  # of the folder of data: whether they are directed
    "road-sf": False,
    "mesh-fe_body": False,
    "power-activsg10k": False,
    "loc-brightkite": False,
    "twitch-de": False,
    "wiki-squirrel": False,
    "facebook-reed": False,
    "protein-human": False,
    "checkins-nyc": False,
    "kg-wn18rr": True,
    "blogs-political": True,
}
GENERATED = (
    "rmat:scale=15,edge_factor=8,seed=11",
    "rmat:scale=17,edge_factor=32,seed=7",
    "rmat:scale=18,edge_factor=16,seed=1",
    "powerlaw-cluster:n=40000,m=5,p=0.4,seed=3",
    "barabasi-albert:n=100000,m=10,seed=5",
)
LARGE = ("rmat:scale=20,edge_factor=16,seed=1", "rmat:scale=21,edge_factor=8,seed=3")
JOBS: dict[str, tuple[str, dict[str, float]]] = {
    **{f"pagerank, ε = {e:g}": ("pagerank", {"epsilon": e}) for e in (1e-2, 1e-3, 1e-4)},
    **{
        name: (name, {})
        for name in (
            "personalised-pagerank",
            "connected-components",
            "label-propagation",
            "k-core",
            "neighborhood",
            "shortest-paths",
            "semi-clustering",
            "topk-ranking",
            "triangle-count",
        )
    },
}
SETTINGS = ("default", "full budget", "samples", "published")
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


@dataclass(frozen=True)
class Result:
    """One prediction beside the run."""

    case: str
    group: str
    job: str
    setting: str
    truth: int
    iterations: float
    iterations_inside: bool
    bytes_error: float
    runtime_error: float
    runtime_inside: bool
    overhead: float
    share: float
    full_run: bool

    @property
    def error(self) -> float:
        return self.iterations / self.truth - 1.0


def cases(groups: set[str]) -> Iterator[Case]:
    """Yield the graphs of some groups: shared, other, generated, large, mesh."""
    folder = Path(os.environ.get("PREDICT_GRAPH_DATA", ".")) / "graphs"
    listed: list[tuple[str, str, str, bool | None]] = []
    if "shared" in groups:
        listed += [(name, name, "shared", True) for name in DIRECTED]
        listed += [(f"{name} (undirected)", name, "shared", False) for name in DIRECTED]
        listed += [(name, name, "shared", False) for name in UNDIRECTED]
    if "other" in groups:
        listed += [
            (name, str(folder / f"{name}.txt.gz"), "other", directed)
            for name, directed in FILES.items()
        ]
    if "generated" in groups:
        listed += [(name, name, "generated", None) for name in GENERATED]
    if "large" in groups:
        listed += [(name, name, "large", None) for name in LARGE]
    if "mesh" in groups:
        listed.append(("wing", "wing", "mesh", None))
    for name, source, group, directed in listed:
        yield Case(name, group, check_graph(source, directed=directed))


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
    if name == "default":
        return {}
    return {"budget": "none" if setting == "full budget" else setting}


@cache
def history_of(name: str, count: int) -> str:
    """Return the file of a history that has seen so many runs of an algorithm."""
    file = Path(tempfile.mkdtemp(prefix="accuracy-")) / "history.sqlite"
    undirected = check_algorithm(name).undirected
    for source in OTHERS[:count]:
        graph = check_graph(source, directed=False if undirected else None)
        predict_graph.run(name, graph, history=str(file))
    return str(file)


def graph_for(case: Case, algorithm: Any) -> Graph:
    """Return the graph as an algorithm needs it."""
    undirected = algorithm.undirected and case.graph.directed
    return symmetric(case.graph) if undirected else case.graph


def study(case: Case, settings: list[str], seeds: int) -> Iterator[Result]:
    """Yield the predictions of all jobs on one graph, each beside a run after it."""
    for job, (name, parameters) in JOBS.items():
        algorithm = check_algorithm(name, parameters)
        if case.name.endswith("(undirected)") and algorithm.undirected:
            continue  # the same as the directed one
        graph = graph_for(case, algorithm)
        for setting in settings:
            options = options_of(setting, algorithm)
            if options is None:
                continue
            for seed in range(seeds):
                # Each with a graph of its own: what one derives from it, the other would find.
                mine, own = (
                    Graph(graph.indptr, graph.indices, directed=graph.directed) for _ in range(2)
                )
                given = {"history": "none", "seed": seed} | options
                found = predict_graph.predict(algorithm, mine, **given).to_dict()
                truth = predict_graph.run(algorithm, own, history="none").to_dict()
                # Neither reads the graph.
                for each in (found, truth):
                    drop_reading(each)
                yield result((case.name, case.group, job, setting), found, truth)


def drop_reading(answer: Row) -> None:
    """Take the time to read the graph out of a runtime."""
    read, runtime = answer["phases"]["read"], answer["runtime_seconds"]
    if isinstance(runtime, dict):
        answer["runtime_seconds"] = {name: value - read for name, value in runtime.items()}
    else:
        answer["runtime_seconds"] = runtime - read


def result(names: tuple[str, str, str, str], found: Row, truth: Row) -> Result:
    """Return a prediction beside the run of the job, both as JSON."""
    sent = truth["features_total"]["remote_message_bytes"]
    iterations, runtime = found["iterations"], found["runtime_seconds"]
    seconds, overhead = truth["runtime_seconds"], found["overhead"]["seconds"]
    return Result(
        *names,
        truth["iterations"],
        iterations["predicted"],
        iterations["low"] <= truth["iterations"] <= iterations["high"],
        found["features_total"]["remote_message_bytes"] / sent - 1.0 if sent else 0.0,
        runtime["predicted"] / seconds - 1.0,
        runtime["low"] <= seconds <= runtime["high"],
        overhead,
        overhead / seconds,
        found["method"]["name"] == "whole-run",
    )


def summary(results: list[Result], by: str, settings: Sequence[str]) -> list[str]:
    """Return a table with a row for each value of a field and each setting."""
    rows = []
    for value in dict.fromkeys(getattr(each, by) for each in results):
        for setting in settings:
            own = [r for r in results if getattr(r, by) == value and r.setting == setting]
            if own:
                errors = spread([r.bytes_error for r in own])
                rows.append(
                    [
                        *(value, setting, str(len(own)), *spread([r.error for r in own])),
                        f"{np.mean([r.iterations_inside for r in own]):.0%}",
                        *(errors[0], errors[2], *spread([r.runtime_error for r in own])),
                        f"{np.mean([r.runtime_inside for r in own]):.0%}",
                        f"{np.median([r.overhead for r in own]):.2f}",
                        f"{np.median([r.share for r in own]):.2f}",
                        f"{np.mean([r.full_run for r in own]):.0%}",
                    ]
                )
    head = [by, "evidence", "n", "iterations: median", "90%", "worst", "in interval"]
    head += ["remote bytes: median", "worst", "runtime: median", "90%", "worst", "in interval"]
    return table([*head, "overhead, s", "overhead / run", "full runs"], rows, text_columns=2)


def main() -> None:
    """Run the study and write its page."""
    parser = study_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--groups", default="shared,other,generated,large,mesh")
    parser.add_argument("--settings", default=",".join(SETTINGS))
    arguments = parser.parse_args()
    settings = arguments.settings.split(",")
    results: list[Result] = []
    for case in cases(set(arguments.groups.split(","))):
        results += study(case, settings, arguments.seeds)
        own = [r.error for r in results if r.case == case.name and r.setting == settings[0]]
        print(f"{case.name}: {settings[0]}, iterations {spread(own)}", flush=True)
    lines = ["## By group of graphs", "", *summary(results, "group", settings), ""]
    lines += ["## By job", "", *summary(results, "job", settings)]
    write(arguments.out, lines, "errors")


if __name__ == "__main__":
    main()
