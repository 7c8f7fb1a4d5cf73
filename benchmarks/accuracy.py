"""How well are iterations predicted? All shared graphs x methods x tolerances x seeds.

Figure 4 of PREDIcT as a table and a picture: the relative error of the predicted number of PageRank
iterations, by our default method and by the published one with several samplers. The truth is a
real run on the whole graph, which no method sees.

    PREDICT_GRAPH_DATA=… python -m benchmarks.accuracy --out docs/studies/accuracy.md
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.estimating import estimated
from predict_graph.algorithms import PageRank
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import Graph, check_graph
from predict_graph.iterations import draw_sample, run_sample
from predict_graph.transforms import default_transform

TOLERANCES = (1e-2, 1e-3, 1e-4)
SAMPLERS = ("brj", "rj", "mhrw")
DIRECTED = ("web-NotreDame", "uk-2007-05@100000", "soc-Epinions1", "wiki-Vote", "p2p-Gnutella31")
UNDIRECTED = ("email-Enron", "musae_facebook", "musae_git", "deezer_HU")
GENERATED = (
    "rmat:scale=16,edge_factor=16,seed=1",
    "rmat:scale=18,edge_factor=16,seed=1",
    "rmat:scale=20,edge_factor=16,seed=1",
    "barabasi-albert:n=50000,m=4,seed=1",
)
UNSEEN = (  # not looked at while the method was made
    "rmat:scale=17,edge_factor=32,seed=7",
    "rmat:scale=15,edge_factor=8,seed=11",
    "powerlaw-cluster:n=40000,m=5,p=0.4,seed=3",
    "barabasi-albert:n=100000,m=10,seed=5",
)
MESHES = ("wing",)


@dataclass(frozen=True)
class Case:
    name: str
    group: str
    graph: Graph


@dataclass(frozen=True)
class Result:
    case: str
    group: str
    method: str
    epsilon: float
    seed: int
    truth: int
    predicted: int
    inside: bool
    seconds: float
    edges: float  # edge visits / those of the real run

    @property
    def error(self) -> float:
        return self.predicted / self.truth - 1.0


def cases(groups: set[str]) -> list[Case]:
    listed: list[tuple[str, str, bool | None]] = []
    if "shared" in groups:
        listed += [(name, "shared", True) for name in DIRECTED]
        listed += [(name, "shared", False) for name in (*DIRECTED, *UNDIRECTED)]
    if "generated" in groups:
        listed += [(name, "generated", None) for name in GENERATED]
    if "unseen" in groups:
        listed += [(name, "unseen", None) for name in UNSEEN]
    if "mesh" in groups:
        listed += [(name, "mesh", None) for name in MESHES]
    found = []
    for name, group, directed in listed:
        graph = check_graph(name, directed=directed)
        label = name if directed is not False or name in UNDIRECTED else f"{name} (undirected)"
        found.append(Case(label, group, graph))
    return found


def study(case: Case, seeds: int, ratio: float) -> list[Result]:
    graph, engine, transform = case.graph, LocalEngine(), default_transform("absolute")
    results = []
    for epsilon in TOLERANCES:
        algorithm = PageRank(epsilon=epsilon)
        truth = engine.run(algorithm, graph).iterations
        work = float(truth * graph.edges)
        for seed in range(seeds):
            started = time.perf_counter()
            estimate = estimated(graph, algorithm, ratio, seed)
            results.append(
                Result(
                    case.name,
                    case.group,
                    "completion",
                    epsilon,
                    seed,
                    truth,
                    estimate.iterations,
                    estimate.low <= truth <= estimate.high,
                    time.perf_counter() - started,
                    estimate.edge_steps / work,
                )
            )
            for sampler in SAMPLERS:
                started = time.perf_counter()
                sample = draw_sample(graph, sampler, ratio, np.random.default_rng(seed))
                run = run_sample(
                    sample,
                    algorithm,
                    engine,
                    transform,
                    algorithm.threshold(graph.vertices),
                    purpose="iterations",
                )
                results.append(
                    Result(
                        case.name,
                        case.group,
                        sampler,
                        epsilon,
                        seed,
                        truth,
                        run.profile.iterations,
                        False,
                        time.perf_counter() - started,
                        sample.graph.edges * run.profile.iterations / work,
                    )
                )
    return results


def quantiles(errors: np.ndarray) -> str:
    if not len(errors):
        return ""
    sizes = np.abs(errors)
    return (
        f"{np.median(sizes):.1%} | {np.quantile(sizes, 0.9):.1%} | {sizes.max():.1%} | "
        f"{np.mean(errors):+.1%}"
    )


def summary(results: list[Result]) -> list[str]:
    lines = [
        "| graphs | method | median | 90th percentile | worst | mean (signed) | in 90% interval |"
        " edge visits / run | seconds |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    groups = [
        ("all but meshes", {"shared", "generated", "unseen"}),
        ("shared", {"shared"}),
        ("generated", {"generated"}),
        ("unseen in development", {"unseen"}),
        ("meshes", {"mesh"}),
    ]
    for title, members in groups:
        for method in ("completion", *SAMPLERS):
            chosen = [r for r in results if r.group in members and r.method == method]
            if not chosen:
                continue
            inside = f"{np.mean([r.inside for r in chosen]):.1%}" if method == "completion" else ""
            label = "default (completion)" if method == "completion" else f"published, {method}"
            errors = np.array([r.error for r in chosen])
            lines.append(
                f"| {title} | {label} | {quantiles(errors)} | {inside} | "
                f"{np.median([r.edges for r in chosen]):.2f} | "
                f"{np.median([r.seconds for r in chosen]):.2f} |"
            )
    return lines


def by_tolerance(results: list[Result]) -> list[str]:
    lines = [
        "| method | epsilon | median | 90th percentile | worst | mean (signed) |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for method in ("completion", *SAMPLERS):
        for epsilon in TOLERANCES:
            errors = np.array(
                [
                    r.error
                    for r in results
                    if r.method == method and r.epsilon == epsilon and r.group != "mesh"
                ]
            )
            lines.append(f"| {method} | {epsilon:g} | {quantiles(errors)} |")
    return lines


def by_graph(results: list[Result]) -> list[str]:
    head = " | ".join(f"{method} {eps:g}" for method in ("completion", "brj") for eps in TOLERANCES)
    lines = [
        f"| graph | truth | {head} |",
        "|---|---|" + "---|" * (2 * len(TOLERANCES)),
    ]
    for case in dict.fromkeys(r.case for r in results):
        own = [r for r in results if r.case == case]
        truth = " / ".join(
            str(next(r.truth for r in own if r.epsilon == epsilon)) for epsilon in TOLERANCES
        )
        cells = []
        for method in ("completion", "brj"):
            for epsilon in TOLERANCES:
                found = [r.predicted for r in own if r.method == method and r.epsilon == epsilon]
                low, high = min(found), max(found)
                cells.append(f"{low}" if low == high else f"{low}–{high}")
        lines.append(f"| {case} | {truth} | {' | '.join(cells)} |")
    return lines


def picture(results: list[Result], path: Path) -> None:
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(r.case for r in results))
    figure = Figure(figsize=(11, 0.32 * len(names) + 1.6), layout="constrained")
    axes = figure.subplots(1, len(TOLERANCES), sharey=True)
    styles = {"completion": ("o", "#1f6f8b"), "brj": ("x", "#d1495b")}
    for panel, epsilon in zip(axes, TOLERANCES, strict=True):
        for method, (marker, color) in styles.items():
            chosen = [r for r in results if r.method == method and r.epsilon == epsilon]
            panel.plot(
                [100 * r.error for r in chosen],
                [names.index(r.case) for r in chosen],
                marker,
                color=color,
                markersize=4,
                label="default" if method == "completion" else "published, BRJ",
            )
        panel.axvspan(-25, 25, color="0.92", zorder=0)
        panel.axvline(0, color="0.4", linewidth=0.8)
        panel.set(title=f"epsilon = {epsilon:g}", xlabel="error, %", xlim=(-80, 80))
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(names)), names, fontsize=8)
    axes[0].invert_yaxis()
    axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="markdown file; the picture goes beside it")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--ratio", type=float, default=0.1)
    parser.add_argument("--groups", default="shared,generated,unseen,mesh")
    arguments = parser.parse_args()
    results: list[Result] = []
    for case in cases(set(arguments.groups.split(","))):
        results += study(case, arguments.seeds, arguments.ratio)
        own = [r.error for r in results if r.case == case.name and r.method == "completion"]
        print(f"{case.name}: default {quantiles(np.array(own))}", flush=True)
    command = "python -m benchmarks.accuracy " + (
        f"--out {arguments.out} " if arguments.out else ""
    )
    command += f"--seeds {arguments.seeds} --ratio {arguments.ratio:g} --groups {arguments.groups}"
    lines = [
        "# Accuracy of predicted iterations",
        "",
        f"PageRank, damping 0.85, samples of {arguments.ratio:.0%}, {arguments.seeds} seeds, "
        "epsilon 1e-2, 1e-3, 1e-4 (the threshold is epsilon / N). Predicted first, run second.",
        "",
        f"    {command}",
        "",
        "## Summary",
        "",
        *summary(results),
        "",
        "## By tolerance, meshes left out",
        "",
        *by_tolerance(results),
        "",
        "## By graph: lowest and highest prediction over the seeds",
        "",
        *by_graph(results),
    ]
    if arguments.out:
        figure = arguments.out.with_suffix(".png")
        picture(results, figure)
        lines += ["", f"![errors by graph]({figure.name})"]
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
