"""How well are the key input features predicted? All algorithms x all graphs x seeds.

The features are the number of iterations and the remote message bytes of the whole run (figure 6 of
PREDIcT, for six algorithms instead of one): by our default method and by the published one (BRJ at
10%, factors e_V and e_E). The truth is a real run on the whole graph, which no method sees.

    PREDICT_GRAPH_DATA=… python -m benchmarks.features --out docs/studies/features.md
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.accuracy import Case, cases
from benchmarks.estimating import estimated
from predict_graph.algorithms import Algorithm, check_algorithm
from predict_graph.engines import RunProfile
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import Graph, check_graph
from predict_graph.iterations import IterationEstimate, draw_sample, run_sample
from predict_graph.prediction import Extrapolator
from predict_graph.transforms import default_transform

ALGORITHMS = (
    "pagerank",
    "semi-clustering",
    "topk-ranking",
    "connected-components",
    "neighborhood",
    "label-propagation",
)
RATIO = 0.1
LONG = 20


@dataclass(frozen=True)
class Result:
    case: str
    group: str
    algorithm: str
    method: str
    seed: int
    truth: int
    predicted: int
    inside: bool
    bytes_error: float
    sample_share: float  # edge visits of sample runs / messages of the run (and of its prior)
    search_share: float  # edges looked at to find the samples / messages of the run
    seconds: float

    @property
    def error(self) -> float:
        return self.predicted / self.truth - 1.0


def messages(profile: RunProfile) -> float:
    total = profile.features_total()
    own = float(total["local_messages"] + total["remote_messages"])
    return own + (0.0 if profile.prior is None else messages(profile.prior))


def remote_bytes(profile: RunProfile) -> float:
    return float(profile.features_total()["remote_message_bytes"])


def sampled(estimate: IterationEstimate, graph: Graph, run: RunProfile) -> float:
    """Edge visits of the sample runs: those of the search are not among them."""
    if estimate.counters is None:
        return estimate.edge_steps
    counters = estimate.counters
    predicted = float((counters["local_messages"] + counters["remote_messages"]).sum())
    return sum(
        min(predicted * sample.edges / graph.edges, float(sample.edges * sample.iterations))
        for sample in estimate.samples
    )


def ours(case: Case, graph: Graph, job: Algorithm, truth: RunProfile, seed: int) -> Result:
    started = time.perf_counter()
    estimate = estimated(graph, job, RATIO, seed)
    seconds = time.perf_counter() - started
    if estimate.counters is None:  # every iteration sends the same
        predicted = remote_bytes(truth) / truth.iterations * estimate.iterations
    else:
        predicted = float(estimate.counters["remote_message_bytes"].sum())
    runs = sampled(estimate, graph, truth)
    return Result(
        case.name,
        case.group,
        job.name,
        estimate.method,
        seed,
        truth.iterations,
        estimate.iterations,
        estimate.low <= truth.iterations <= estimate.high,
        predicted / remote_bytes(truth) - 1.0,
        runs / messages(truth),
        (estimate.edge_steps - runs) / messages(truth),
        seconds,
    )


def published(case: Case, graph: Graph, job: Algorithm, truth: RunProfile, seed: int) -> Result:
    started = time.perf_counter()
    sample = draw_sample(graph, "brj", RATIO, np.random.default_rng(seed))
    run = run_sample(
        sample,
        job,
        LocalEngine(),
        default_transform(job.convergence),
        job.threshold(graph.vertices),
        purpose="iterations",
    )
    profile, small = run.profile, sample.graph
    scale = Extrapolator.between(graph.vertices, graph.edges, small.vertices, small.edges)
    table = scale.extrapolate(profile.per_iteration(), profile.iterations)
    return Result(
        case.name,
        case.group,
        job.name,
        "published",
        seed,
        truth.iterations,
        profile.iterations,
        False,
        float(table["remote_message_bytes"].sum()) / remote_bytes(truth) - 1.0,
        messages(profile) / messages(truth),
        0.0,
        time.perf_counter() - started,
    )


def study(case: Case, job: Algorithm, seeds: int) -> list[Result]:
    graph = check_graph(case.graph, directed=False) if job.undirected else case.graph
    truth = LocalEngine().run(job, graph)
    truth = replace(truth, values=np.empty(0))
    return [
        method(case, graph, job, truth, seed)
        for seed in range(seeds)
        for method in (ours, published)
    ]


def figures(values: Iterable[float]) -> str:
    sizes = np.abs(np.array(list(values)))
    if not len(sizes):
        return " | | "
    return f"{np.median(sizes):.1%} | {np.quantile(sizes, 0.9):.1%} | {sizes.max():.1%}"


def summary(title: str, results: list[Result]) -> list[str]:
    lines = [
        f"## {title}",
        "",
        "| algorithm | method | cases | iterations: median | p90 | worst | remote bytes: median |"
        " p90 | worst | inside 90% |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in dict.fromkeys(result.algorithm for result in results):
        for theirs in (False, True):
            chosen = [
                result
                for result in results
                if result.algorithm == name and (result.method == "published") is theirs
            ]
            if not chosen:
                continue
            inside = f"{np.mean([r.inside for r in chosen]):.0%}" if not theirs else ""
            lines.append(
                f"| {name} | {'BRJ, published' if theirs else chosen[0].method} | {len(chosen)} | "
                f"{figures(r.error for r in chosen)} | {figures(r.bytes_error for r in chosen)} | "
                f"{inside} |"
            )
    return [*lines, ""]


def overheads(results: list[Result]) -> list[str]:
    lines = [
        f"## Overhead of runs of {LONG} iterations or more",
        "",
        "Edge visits over the messages of the real run; with top-k ranking, those of its PageRank "
        "too. Finding the samples means breadth-first searches, done once.",
        "",
        "| algorithm | cases | sample runs: median | worst | finding samples: median | worst |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name in dict.fromkeys(result.algorithm for result in results):
        chosen = [
            r
            for r in results
            if r.algorithm == name and r.method != "published" and r.truth >= LONG
        ]
        if chosen:
            runs = [r.sample_share for r in chosen]
            search = [r.search_share for r in chosen]
            lines.append(
                f"| {name} | {len(chosen)} | {np.median(runs):.1%} | {max(runs):.1%} | "
                f"{np.median(search):.1%} | {max(search):.1%} |"
            )
    return [*lines, ""]


def by_graph(results: list[Result]) -> list[str]:
    lines = [
        "## By graph",
        "",
        "Medians over seeds; the published method in brackets.",
        "",
        "| graph | algorithm | iterations | predicted | error | remote bytes | seconds |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for key in dict.fromkeys((result.case, result.algorithm) for result in results):
        chosen = [r for r in results if (r.case, r.algorithm) == key]
        mine = [r for r in chosen if r.method != "published"]
        theirs = [r for r in chosen if r.method == "published"]
        counts = sorted({r.predicted for r in mine})
        spread = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        lines.append(
            f"| {key[0]} | {key[1]} | {mine[0].truth} | {spread} "
            f"({np.median([r.predicted for r in theirs]):.0f}) | "
            f"{np.median([r.error for r in mine]):+.0%} "
            f"({np.median([r.error for r in theirs]):+.0%}) | "
            f"{np.median([r.bytes_error for r in mine]):+.0%} "
            f"({np.median([r.bytes_error for r in theirs]):+.0%}) | "
            f"{np.median([r.seconds for r in mine]):.2f} |"
        )
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--algorithms", nargs="*", default=list(ALGORITHMS))
    parser.add_argument("--groups", nargs="*", default=["shared", "generated", "mesh"])
    arguments = parser.parse_args()
    results: list[Result] = []
    seen: set[tuple[str, str]] = set()
    for case in cases(set(arguments.groups)):
        for name in arguments.algorithms:
            job = check_algorithm(name)
            plain = case.name.removesuffix(" (undirected)")
            if job.undirected and (plain, name) in seen:
                continue  # the same job, whichever way the graph was read
            seen.add((plain, name))
            found = study(case, job, arguments.seeds)
            results += found
            mine = [r for r in found if r.method != "published"]
            print(
                f"{case.name:32s} {name:22s} {mine[0].truth:4d} {[r.predicted for r in mine]} "
                f"bytes {[round(r.bytes_error, 2) for r in mine]}",
                flush=True,
            )
    scale_free = [r for r in results if r.group != "mesh"]
    text = [
        "# Key input features of six algorithms",
        "",
        "Iterations and remote message bytes at a sampling ratio of 10% and default settings; "
        "relative errors. The published method counts the iterations of a BRJ sample and scales "
        "its bytes by the ratio of edges.",
        "",
        f"    python -m benchmarks.features --seeds {arguments.seeds}",
        "",
        *summary("Scale-free graphs", scale_free),
        *summary("Shared graphs alone", [r for r in results if r.group == "shared"]),
        *summary(
            "Graphs not looked at while the methods were made",
            [r for r in results if r.group == "unseen"],
        ),
        *summary("A mesh (wing): not scale-free", [r for r in results if r.group == "mesh"]),
        *overheads(scale_free),
        *by_graph(results),
    ]
    if arguments.out:
        arguments.out.write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text[: text.index("## By graph")]))


if __name__ == "__main__":
    main()
