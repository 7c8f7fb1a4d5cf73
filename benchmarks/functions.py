r"""Graph functions of Python libraries: how far off predictions of runs are, and what they cost.

Truths are runs to the end in a child process, on parts of the shared graphs (balls of a
breadth-first search, which no sampler here draws) and on generated graphs, each cut to a size at
which the function takes seconds to minutes.

    python benchmarks/functions.py truths FILE.jsonl [--only NAME …] [--graphs N] [--seconds 8]
    python benchmarks/functions.py predict FILE.jsonl OUT.jsonl [--budgets 5%,1%,10%]
    python benchmarks/functions.py predict FILE.jsonl OUT.jsonl --history
    python benchmarks/functions.py hand FILE.jsonl HAND.jsonl
    python benchmarks/functions.py remaining TRACKED.jsonl
    python benchmarks/functions.py memory PEAKS.jsonl
    python benchmarks/functions.py long --keep FOLDER [--again]
    python benchmarks/functions.py long-report --keep FOLDER
    python benchmarks/functions.py report FILE.jsonl OUT.jsonl --hand HAND.jsonl \
        --tracked TRACKED.jsonl
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
from scipy.sparse.csgraph import breadth_first_order, connected_components

HERE = Path(__file__).resolve().parent
sys.path[:] = [str(HERE.parent), *(p for p in sys.path if Path(p or ".").resolve() != HERE)]

from predict_graph.errors import PredictGraphError  # noqa: E402
from predict_graph.functions.child import (  # noqa: E402
    ChildRun,
    Limits,
    Look,
    forget_peak,
    processor_seconds,
    resident_peak,
    run_in_child,
)
from predict_graph.functions.drivers import drivers_of  # noqa: E402
from predict_graph.functions.forms import build  # noqa: E402
from predict_graph.functions.memory import foretell_memory  # noqa: E402
from predict_graph.functions.naming import check_function  # noqa: E402
from predict_graph.functions.records import keep_run  # noqa: E402
from predict_graph.functions.sampling import connected_part, draw, spread_order  # noqa: E402
from predict_graph.functions.watch import Seen  # noqa: E402
from predict_graph.graph import check_graph  # noqa: E402
from predict_graph.graph.build import symmetric  # noqa: E402
from predict_graph.history import History  # noqa: E402

OWN = HERE / "functions_own.py"

# name: (function, keywords, driver that sizes it, needs: "undirected", "connected")
FUNCTIONS = {
    "nx betweenness": ("networkx:betweenness_centrality", {}, "reached_edges", ""),
    "nx betweenness k=200": ("networkx:betweenness_centrality", {"k": 200, "seed": 1}, "edges", ""),
    "nx closeness": ("networkx:closeness_centrality", {}, "reached_edges", ""),
    "nx harmonic": ("networkx:harmonic_centrality", {}, "reached_edges", ""),
    "nx load": ("networkx:load_centrality", {}, "reached_edges", ""),
    "nx edge betweenness": ("networkx:edge_betweenness_centrality", {}, "reached_edges", ""),
    "nx square clustering": ("networkx:square_clustering", {}, "two_hop", "undirected"),
    "nx clustering": ("networkx:clustering", {}, "squares", "undirected"),
    "nx dispersion": ("networkx:dispersion", {}, "two_hop", "undirected"),
    "nx core number": ("networkx:core_number", {}, "edges", "undirected"),
    "nx average path length": (
        "networkx:average_shortest_path_length",
        {},
        "reached_edges",
        "connected",
    ),
    "nx global efficiency": ("networkx:global_efficiency", {}, "reached_edges", "undirected"),
    "nx diameter": ("networkx:diameter", {}, "reached_edges", "connected"),
    "nx all path lengths": ("networkx:all_pairs_shortest_path_length", {}, "reached_edges", ""),
    "nx louvain": ("networkx:louvain_communities", {"seed": 1}, "edges", ""),
    "nx label propagation": ("networkx:asyn_lpa_communities", {"seed": 1}, "edges", ""),
    "nx greedy modularity": (
        "networkx:greedy_modularity_communities",
        {},
        "edges_log",
        "undirected",
    ),
    "nx jaccard": ("networkx:jaccard_coefficient", {}, "vertices_squared", "undirected"),
    "nx eigenvector": (
        "networkx:eigenvector_centrality",
        {"max_iter": 1000},
        "edges",
        "undirected",
    ),
    "nx cliques": ("networkx:find_cliques", {}, "wedges", "undirected"),
    "nx voterank": ("networkx:voterank", {"number_of_nodes": 500}, "vertices", "undirected"),
    "igraph betweenness": ("igraph:betweenness", {}, "reached_edges", ""),
    "igraph closeness": ("igraph:closeness", {}, "reached_edges", ""),
    "igraph infomap": ("igraph:community_infomap", {}, "edges", ""),
    "igraph walktrap": ("igraph:community_walktrap", {}, "vertices_edges", "undirected"),
    "igraph distances": ("igraph:distances", {}, "reached_edges", ""),
    "networkit betweenness": ("networkit:centrality.Betweenness", {}, "reached_edges", ""),
    "own spectral": (f"{OWN}:spectral", {}, "edges", "undirected"),
    "own reach": (f"{OWN}:reach_two", {}, "two_hop", ""),
    "own rounds": (f"{OWN}:rounds", {}, "edges", ""),
    "own exemplars": (f"{OWN}:exemplars", {}, "vertices_squared", "undirected"),
}
SHARED = {
    "facebook": "musae_facebook_edges.csv.gz",
    "github": "musae_git_edges.csv.gz",
    "deezer": "gemsec_deezer_HU_edges.csv.gz",
    "enron": "email-Enron.txt.gz",
    "epinions": "soc-Epinions1.txt.gz",
    "wiki-vote": "wiki-Vote.txt.gz",
    "gnutella": "p2p-Gnutella31.txt.gz",
    "notredame": "web-NotreDame.txt.gz",
    "wing": "wing.graph.gz",
}
GENERATED = {
    "preferential": "barabasi-albert:n={n},m=5,seed=7",
    "small world": "watts-strogatz:n={n},k=8,p=0.05,seed=7",
    "clustered": "powerlaw-cluster:n={n},m=6,p=0.5,seed=7",
}
DIRECTED = ("epinions", "wiki-vote", "gnutella", "notredame")
GRAPHS = (*SHARED, *GENERATED)
LADDER = (0.01, 0.02, 0.04, 0.08, 0.16)
MOST_VERTICES = 60_000


def whole(name):
    """Read a shared graph; kept, because cuts of many sizes are made of it."""
    if name not in _READ:
        path = Path(os.environ["PREDICT_GRAPH_DATA"]) / "graphs" / SHARED[name]
        _READ[name] = check_graph(path, directed=name in DIRECTED)
    return _READ[name]


_READ: dict = {}


def cut(name, size, needs):
    """Return a graph of about so many vertices."""
    size = int(min(max(size, 60), MOST_VERTICES))
    if name in GENERATED:
        graph = check_graph(GENERATED[name].format(n=size))
    else:
        graph = whole(name)
        if size < graph.vertices:
            graph = graph.subgraph(ball(name, graph, size))
    if graph.directed and needs:
        graph = symmetric(graph)
    return connected_part(graph) if needs == "connected" else graph


def ball(name, graph, size):
    """Return the first vertices of a breadth-first search that ignores directions."""
    if name not in _BALLS:
        both = (symmetric(graph) if graph.directed else graph).to_scipy()
        _, labels = connected_components(both, directed=False)
        largest = np.flatnonzero(labels == np.bincount(labels).argmax())
        start = int(np.random.default_rng(seed_of(name)).choice(largest))
        _BALLS[name] = breadth_first_order(both, start, return_predecessors=False)
    return np.sort(_BALLS[name][:size])


_BALLS: dict = {}


def seed_of(*parts):
    """Return a seed that is the same in every run."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=4).digest(), "big")


def described(name, needs=""):
    """Return function, keywords, driver and needs of a name of the list, or of a function."""
    return FUNCTIONS.get(name, (name, {}, "edges", needs))


def function_of(name):
    text, keywords, driver, needs = described(name)
    return check_function(text, (), keywords), driver, needs


def progress_of(form):
    from predict_graph.functions.reported import reporter

    return reporter(form)


def timed(function, graph, seed, seconds=120.0):
    order = spread_order(graph, np.random.default_rng(seed))
    return run_in_child(
        lambda: build(graph, function.form, order),
        function,
        Limits(seconds=seconds, wall=4 * seconds + 30, memory=8 * 2**30),
        progress=progress_of(function.form),
    )


def unit_of(name, units):
    """Return seconds a unit of the driver, by a small run; only to choose sizes."""
    if name not in units:
        function, driver, needs = function_of(name)
        size = 300
        while True:
            graph = cut("facebook", size, needs or "undirected")
            run = timed(function, graph, 5, 30.0)
            if run.seconds > 0.25 or size > 20_000:
                break
            size *= 2
        units[name] = run.seconds / drivers_of(graph, np.random.default_rng(0))[driver]
    return units[name]


def sized(name, graph_name, seconds, units):
    """Return a cut on which the function should take about so many seconds."""
    _, driver, needs = function_of(name)
    unit = unit_of(name, units)
    size = 2000.0
    for _ in range(5):
        graph = cut(graph_name, size, needs)
        found = unit * drivers_of(graph, np.random.default_rng(0))[driver]
        power = (
            2.0
            if "reached" in driver or driver in ("two_hop", "vertices_squared", "vertices_edges")
            else 1.2
        )
        factor = (seconds / found) ** (1.0 / power)
        if 0.8 < factor < 1.25:
            break
        size = min(max(size * factor, 60), MOST_VERTICES)
    return graph


def pairs(only, graphs):
    """Return pairs of function and graph: each function on some of the graphs, in a fixed draw."""
    listed = []
    for name in only or FUNCTIONS:
        drawn = np.random.default_rng(seed_of("graphs", name)).permutation(len(GRAPHS))[:graphs]
        listed += [(name, GRAPHS[each]) for each in drawn]
    order = np.random.default_rng(3).permutation(len(listed))
    return [listed[each] for each in order]


def longer(arguments):
    """Predict functions whose short runs are kept on larger parts of their graphs, and run them.

    One right after the other, because a busy machine is not the same half an hour later.
    """
    out, short = Path(arguments.file), rows(Path(arguments.like))
    done = {(row["function"], row["graph"]) for row in rows(out)}
    ends = time.perf_counter() + arguments.minutes * 60.0
    order = np.random.default_rng(seed_of("longer")).permutation(len(short))
    used: dict = {}
    for row in (short[each] for each in order):
        name, graph_name, runs = row["function"], row["graph"], row["runs"]
        if used.get(name, 0) >= arguments.graphs or len(runs) < 2 or graph_name == "grid":
            continue
        power = np.log(runs[-1]["seconds"] / runs[0]["seconds"]) / np.log(
            runs[-1]["size"] / runs[0]["size"]
        )
        more = (arguments.seconds / runs[-1]["seconds"]) ** (1.0 / max(power, 0.8))
        size, needs = int(runs[-1]["size"] * more), runs[-1]["needs"]
        if size > MOST_VERTICES:
            continue
        used[name] = used.get(name, 0) + 1
        if (name, graph_name) in done or time.perf_counter() > ends:
            continue
        graph = cut(graph_name, size, needs)
        said = said_of(
            {"function": name, "graph": graph_name, "seconds": 0, "peak": 0},
            "5%",
            False,
            None,
            graph,
        )
        run = timed(check_function(name), graph, 1, 3.0 * arguments.seconds)
        found = {"function": name, "graph": graph_name, "size": size, "needs": needs}
        found |= {"state": run.state, "seconds": run.seconds, "looks": thinned(run.looks)}
        found |= {"peak": run.peak_bytes + run.graph_bytes, "directed": graph.directed}
        found["drivers"] = drivers_of(graph, np.random.default_rng(0))
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
        if run.done:
            append(Path(arguments.said), said | {"seconds": run.seconds, "peak": found["peak"]})


def truths(arguments):
    out, wanted = Path(arguments.file), arguments.ladder
    done = {(row["function"], row["graph"]) for row in rows(out)}
    units = {}
    for name, graph_name in pairs(arguments.only, arguments.graphs):
        if (name, graph_name) in done:
            continue
        rng = np.random.default_rng(seed_of("target", name, graph_name))
        target = arguments.seconds * float(np.exp(0.5 * rng.standard_normal()))
        try:
            graph = sized(name, graph_name, target, units)
        except Exception as error:
            print(name, graph_name, "no graph:", error, flush=True)
            continue
        function, _, _ = function_of(name)
        run = timed(function, graph, 1)
        row = {
            "function": name,
            "graph": graph_name,
            "size": graph.vertices,
            "state": run.state,
            "error": run.sentence,
            "seconds": run.seconds,
            "wall": run.wall,
            "convert": run.convert_seconds,
            "peak": run.peak_bytes + run.graph_bytes,
            "drivers": drivers_of(graph, np.random.default_rng(0)),
            "directed": graph.directed,
            "looks": thinned(run.looks),
            "ladder": ladder(function, graph, run.seconds) if wanted and run.done else [],
        }
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(
            f"{name} on {graph_name} ({graph.vertices}): {run.state} {run.seconds:.2f} s, "
            f"ladder {len(row['ladder'])} {run.sentence}",
            flush=True,
        )


def ladder(function, graph, seconds):
    """Run samples of growing size, each kind until it has used a tenth of the run."""
    found = []
    for sampler in ("completed", "mhrw", "rj"):
        spent = 0.0
        for ratio in LADDER:
            size = round(ratio * graph.vertices)
            if size < 30:
                continue
            rng = np.random.default_rng(seed_of(sampler, ratio))
            sample = draw(graph, sampler, size, rng)
            run = timed(function, sample, 2, max(0.2 * seconds, 0.5))
            connected = False
            if run.state == "error":
                sample, connected = connected_part(sample), True
                if sample.vertices < 20:
                    continue
                run = timed(function, sample, 2, max(0.2 * seconds, 0.5))
            spent += run.seconds
            found.append(
                {
                    "sampler": sampler,
                    "ratio": ratio,
                    "connected": connected,
                    "state": run.state,
                    "seconds": run.seconds,
                    "convert": run.convert_seconds,
                    "peak": run.peak_bytes,
                    "graph_bytes": run.graph_bytes,
                    "drivers": drivers_of(sample, rng),
                    "looks": thinned(run.looks, 60),
                }
            )
            if spent > 0.1 * seconds or not run.done:
                break
    return found


def thinned(looks, most=600):
    step = max(len(looks) // most, 1)
    return [
        [look.seconds, [[s.loop, s.done, s.total, s.bounded, s.early] for s in look.loops]]
        for look in looks[::step]
    ]


def predict(arguments):
    """Predict each run whose truth is known, as a person would, and write what came of it."""
    out = Path(arguments.out)
    done = {(row["function"], row["graph"], row["budget"], row["history"]) for row in rows(out)}
    known = [row for row in rows(Path(arguments.file)) if row["state"] == "done"]
    known = [row for row in known if row["seconds"] >= arguments.least]
    ends = time.perf_counter() + 60.0 * arguments.minutes
    with tempfile.TemporaryDirectory() as place:
        for row, budget in ((row, b) for b in arguments.budgets.split(",") for row in known):
            if (row["function"], row["graph"], budget, arguments.history) in done:
                continue
            if time.perf_counter() > ends:
                break
            text, _, _, needs = described(row["function"], row.get("needs", ""))
            graph = cut(row["graph"], row["size"], needs)
            function, _, _ = function_of(row["function"])
            history = None
            if arguments.history:
                others = [r for r in known if r["function"] == row["function"] and r is not row]
                if not others:
                    continue
                history = History(Path(place) / f"{seed_of(text, row['graph'], budget)}.sqlite")
                for other in others[:3]:
                    whole_graph = cut(other["graph"], other["size"], needs)
                    keep_run(
                        history, function, whole_graph, other["drivers"], seconds=other["seconds"]
                    )
            append(out, said_of(row, budget, arguments.history, history, graph))


def said_of(row, budget, with_history, history, graph):
    """Predict a run as a person would; the truth is written beside it."""
    from predict_graph.functions import predict_function

    text, keywords, _, _ = described(row["function"])
    clock = time.perf_counter()
    found = {"function": row["function"], "graph": row["graph"], "budget": budget}
    found |= {"history": with_history, "seconds": row["seconds"]}
    try:
        said = predict_function(
            text, graph, keywords=keywords, budget=budget, seed=11, history=history or "none"
        )
    except PredictGraphError as error:
        return found | {"error": str(error)}
    clocks = said.processor_seconds / said.call_seconds.predicted
    return found | {
        "predicted": said.processor_seconds,
        "low": said.call_seconds.low * clocks,
        "high": said.call_seconds.high * clocks,
        "spent": said.overhead_seconds,
        "wall": time.perf_counter() - clock,
        "evidence": [each.to_dict() for each in said.evidence],
        "samples": [each.to_dict() for each in said.samples],
        "peak": row["peak"],
        "peak_predicted": said.peak_bytes.to_dict(),
        "convert": said.convert_seconds.predicted,
    }


def append(out, found):
    """Write a row, and tell it."""
    with out.open("a", encoding="utf-8") as file:
        file.write(json.dumps(found) + "\n")
    factor = found.get("predicted", float("nan")) / found["seconds"]
    print(
        f"{found['function']} on {found['graph']}, {found['budget']}: {found['seconds']:.2f} s, "
        f"x{factor:.2f}, spent {found.get('spent', 0) / found['seconds']:.1%} "
        f"{[each['rung'] for each in found.get('evidence', [])]}",
        flush=True,
    )


def by_hand(arguments):
    """Extrapolate a power law through runs on growing samples, as people do by hand."""
    out = Path(arguments.out)
    done = {(row["function"], row["graph"]) for row in rows(out)}
    known = [row for row in rows(Path(arguments.file)) if row["state"] == "done"]
    for row in known:
        if (row["function"], row["graph"]) in done or row["seconds"] < arguments.least:
            continue
        function, _, needs = function_of(row["function"])
        graph = cut(row["graph"], row["size"], needs)
        found = {name: row[name] for name in ("function", "graph", "seconds")}
        for way in ("uniform", "first"):
            spent, size, sizes, seconds = 0.0, 60, [], []
            while spent < 0.05 * row["seconds"] and size < graph.vertices:
                rng = np.random.default_rng(seed_of(way, size))
                kept = (
                    np.arange(size)
                    if way == "first"
                    else np.sort(rng.permutation(graph.vertices)[:size])
                )
                part = graph.subgraph(kept)
                if needs == "connected":
                    part = connected_part(part)
                run = timed(function, part, 3, 10.0) if part.edges else None
                if run is not None and run.done and run.seconds > 0.001:
                    sizes.append(part.vertices)
                    seconds.append(run.seconds)
                spent += 0.0 if run is None else run.seconds
                size = int(1.6 * size)
            if len(set(sizes[-4:])) >= 2:
                power, level = np.polyfit(np.log(sizes[-4:]), np.log(seconds[-4:]), 1)
                found[way] = float(np.exp(level) * graph.vertices**power)
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
        print(found, flush=True)


def remaining(arguments):
    """Run functions with ``track`` as they are, and see what was said at parts of the run."""
    from predict_graph.functions.track import run_tracked

    out = Path(arguments.out)
    done = {(row["function"], row["graph"]) for row in rows(out)}
    ends = time.perf_counter() + arguments.seconds
    for name, graph_name, size in TRACKED_JUDGED if arguments.judged else TRACKED:
        if (name, graph_name) in done or time.perf_counter() > ends:
            continue
        function, _, needs = function_of(name)
        graph = build(cut(graph_name, size, needs), function.form)
        tracked = run_tracked(function, graph, show=False, keep=False)
        said = {}
        for part in PARTS:
            near = [each for each in tracked.said if each.elapsed <= part * tracked.seconds]
            if near:
                said[str(part)] = near[-1].total / tracked.seconds - 1.0
        trail = [(each.elapsed, each.done, each.of.predicted) for each in tracked.said if each.of]
        found = {"function": name, "graph": graph_name, "size": size, "said": said}
        found |= {"seconds": tracked.seconds, "processor": tracked.processor_seconds}
        found["trail"] = trail[:: max(len(trail) // 400, 1)]
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
        print(name, graph_name, f"{tracked.seconds:.1f} s", said, flush=True)


def memory(arguments):
    """Run functions to their end and on samples, and compare peaks with what samples foretell."""
    out = Path(arguments.out)
    done = {(row["function"], row["graph"]) for row in rows(out)}
    ends = time.perf_counter() + arguments.seconds
    for text, graph_name, size, needs in JUDGED if arguments.judged else MEMORY:
        if (text, graph_name) in done or time.perf_counter() > ends:
            continue
        function = check_function(text)
        graph = cut(graph_name, size, needs)
        run = timed(function, graph, 1)
        if run.done:
            row = {"function": text, "graph": graph_name, "peak": run.peak_bytes}
            row |= {"graph_bytes": run.graph_bytes, "seconds": run.seconds}
            row["drivers"] = drivers_of(graph, np.random.default_rng(0))
            row["ladder"] = ladder(function, graph, run.seconds)
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    told = [told_memory(row) for row in rows(out)]
    for each in told:
        print("| {} | {} | {:.0f} MiB | {:.0f} MiB | {:.2f} | {:.0f} to {:.0f} |".format(*each))
    factors = np.array([factor(each[2], each[3]) for each in told])
    held = np.mean([each[5] <= each[2] <= each[6] for each in told])
    print(
        f"{len(told)}: median {np.median(factors):.2f}, p90 {np.quantile(factors, 0.9):.2f}, "
        f"within 2x {np.mean(factors < 2):.0%}, 90% intervals held {held:.0%}"
    )


def told_memory(row, share=0.05, free=1.0):
    """Return what samples that a budget pays for foretell of a run's peak, beside the truth."""
    runs, spent = [], 0.0
    allowed = max(share * row["seconds"], free)
    for each in sorted(row["ladder"], key=lambda each: each["ratio"]):
        spent += each["seconds"]
        if each["state"] == "done" and (spent <= allowed or len(runs) < 3):
            run = ChildRun("done", peak_bytes=each["peak"], graph_bytes=each["graph_bytes"])
            runs.append((each["drivers"], run))
    found = foretell_memory(runs, row["drivers"], None, None, converted=True)
    true = row["peak"] + row["graph_bytes"]
    figures = [each / 2**20 for each in (true, found.predicted)]
    ends = [each / 2**20 for each in (found.low, found.high)]
    return (row["function"], row["graph"], *figures, found.predicted / true, *ends)


# The constants of the model were chosen on the first of these, and it is judged by the others.
MEMORY = (
    ("networkx:pagerank", "epinions", 10_000, ""),
    ("networkx:core_number", "enron", 20_000, "undirected"),
    ("networkx:bridges", "deezer", 8_000, "undirected"),
    ("networkx:constraint", "small world", 8_000, "undirected"),
    ("networkx:minimum_spanning_tree", "github", 6_000, "undirected"),
    ("networkx:louvain_communities", "preferential", 8_000, ""),
    ("networkx:triangles", "wing", 40_000, "undirected"),
    ("networkx:label_propagation_communities", "notredame", 8_000, "undirected"),
    ("networkx:clustering", "deezer", 20_000, "undirected"),
    ("igraph:distances", "gnutella", 2_500, ""),
    ("igraph:community_multilevel", "enron", 30_000, "undirected"),
    ("igraph:maximal_cliques", "deezer", 20_000, "undirected"),
    ("igraph:similarity_jaccard", "wing", 1_500, "undirected"),
    ("igraph:community_walktrap", "facebook", 2_000, "undirected"),
)
JUDGED = (
    ("networkx:kernighan_lin_bisection", "enron", 8_000, "undirected"),
    ("networkx:biconnected_components", "small world", 12_000, "undirected"),
    ("networkx:greedy_color", "preferential", 20_000, ""),
    ("networkx:connected_components", "facebook", 12_000, "undirected"),
    ("networkx:maximal_matching", "wing", 40_000, "undirected"),
    ("networkx:hits", "epinions", 8_000, ""),
    ("networkx:eigenvector_centrality", "preferential", 6_000, ""),
    ("networkx:floyd_warshall", "clustered", 250, "undirected"),
    ("networkx:k_core", "gnutella", 20_000, "undirected"),
    ("networkx:effective_size", "deezer", 1_500, "undirected"),
    ("igraph:pagerank", "notredame", 60_000, ""),
    ("igraph:community_fastgreedy", "github", 4_000, "undirected"),
    ("igraph:community_infomap", "preferential", 6_000, ""),
    ("igraph:similarity_dice", "clustered", 1_500, "undirected"),
    ("igraph:transitivity_local_undirected", "github", 15_000, "undirected"),
)
PARTS = (0.25, 0.5, 0.75)
TRACKED = (
    ("nx betweenness", "wiki-vote", 1500),
    ("nx closeness", "facebook", 2000),
    ("nx load", "small world", 1000),
    ("nx clustering", "github", 6000),
    ("nx harmonic", "deezer", 2500),
    ("nx square clustering", "preferential", 8000),
    ("nx all path lengths", "enron", 2500),
    ("nx dispersion", "github", 900),
    ("nx edge betweenness", "epinions", 1500),
    ("nx global efficiency", "gnutella", 1500),
)


TRACKED_JUDGED = (
    ("nx average path length", "deezer", 1700),
    ("nx betweenness", "preferential", 1000),
    ("nx closeness", "notredame", 3000),
    ("nx edge betweenness", "enron", 700),
    ("nx clustering", "clustered", 30_000),
    ("nx square clustering", "enron", 1500),
    ("nx load", "gnutella", 1500),
    ("nx harmonic", "wiki-vote", 2500),
)


# Functions and pairs of none of the studies above, sized by runs of some seconds to take minutes.
LONG = (
    ("networkx:percolation_centrality", "gnutella", 12_000, ""),
    ("igraph:community_edge_betweenness", "deezer", 2_050, "undirected"),
    ("networkx:local_efficiency", "epinions", 1_000, "undirected"),
    ("networkx:community.girvan_newman", "facebook", 260, "undirected"),
    ("own exemplars", "wing", 5_000, "undirected"),
    ("networkx:average_node_connectivity", "clustered", 360, "undirected"),
    ("igraph:community_spinglass", "github", 6_000, "connected"),
)


def long_runs(arguments):
    """Predict runs of minutes, then track them; each case in a process of its own, and kept."""
    keep = Path(arguments.keep)
    keep.mkdir(parents=True, exist_ok=True)
    ends = time.perf_counter() + 60.0 * arguments.minutes
    for number, case in enumerate(LONG):
        file = keep / f"{number}.json"
        if arguments.case not in (None, number):
            continue
        if arguments.again:
            if "run" in kept_row(file):
                foretell_again(file, *case)
        elif arguments.case is not None:
            long_run(file, *case)
        elif time.perf_counter() < ends and "run" not in kept_row(file):
            command = [sys.executable, __file__, "long", "--keep", str(keep)]
            subprocess.run([*command, "--case", str(number)], check=False)


def kept_row(file):
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def long_run(file, name, graph_name, size, needs):
    """Say what a run will take, by two budgets, before it is run; then run it, tracked."""
    from predict_graph.functions.track import run_tracked

    found = kept_row(file)
    source = cut(graph_name, size, needs)
    found |= {"function": name, "graph": graph_name, "vertices": source.vertices}
    found |= {"edges": source.edges, "said": found.get("said", [])}
    for budget in LONG_BUDGETS[len(found["said"]) :]:
        clock = time.perf_counter()
        row = {"function": name, "graph": graph_name, "seconds": 0.0, "peak": 0.0}
        said = said_of(row, budget, False, None, source)
        said |= {"wall": time.perf_counter() - clock, "at": time.strftime("%H:%M:%S")}
        found["said"].append(said)
        file.write_text(json.dumps(found), encoding="utf-8")
        print(
            name, graph_name, budget, {k: said.get(k) for k in ("predicted", "spent")}, flush=True
        )
    function, _, _ = function_of(name)
    before = psutil.Process().memory_info().rss
    forget_peak()  # of what sizing and predicting took
    graph = build(source, function.form)
    clocks, ended = [(time.perf_counter(), processor_seconds())], threading.Event()

    def beside():
        while not ended.wait(0.5):
            clocks.append((time.perf_counter(), processor_seconds()))

    thread = threading.Thread(target=beside, daemon=True)
    thread.start()
    tracked = run_tracked(function, graph, show=False, keep=False)
    ended.set()
    thread.join()
    clocks.append((time.perf_counter(), processor_seconds()))
    peak = resident_peak() - before
    moments = [
        (each.elapsed, each.remaining.predicted, each.remaining.low, each.remaining.high)
        for each in tracked.said
        if each.remaining is not None
    ]
    found["run"] = {
        "seconds": tracked.processor_seconds,
        "wall": tracked.seconds,
        "first": tracked.first,
        "looking": tracked.looking,
        "peak": peak,
        "moments": moments[:: max(len(moments) // 1000, 1)],
        "clocks": [
            (wall - clocks[0][0], processor - clocks[0][1])
            for wall, processor in [*clocks[:: max(len(clocks) // 1000, 1)], clocks[-1]]
        ],
        "at": time.strftime("%H:%M:%S"),
    }
    file.write_text(json.dumps(found), encoding="utf-8")
    print(name, graph_name, tracked.processor_seconds, tracked.seconds, flush=True)


def foretell_again(file, name, graph_name, size, needs):
    """Say of a run that is known what the program as it is now foretells."""
    found, source = kept_row(file), cut(graph_name, size, needs)
    found.setdefault("again", [])
    for budget in LONG_BUDGETS[len(found["again"]) :]:
        row = {"function": name, "graph": graph_name, "seconds": 0.0, "peak": 0.0}
        found["again"].append(said_of(row, budget, False, None, source))
        file.write_text(json.dumps(found), encoding="utf-8")


def long_report(arguments):
    """Write the section of long runs, here and into the study."""
    known = [kept_row(file) for file in sorted(Path(arguments.keep).glob("*.json"))]
    known = [row for row in known if "run" in row]
    lines = ["## Long runs", "", *(HERE / "functions_long_head.md").read_text().splitlines(), ""]
    lines += [
        "| function | graph | vertices, edges | processor | clock | as it was: 5% | 1% | "
        "as it is: 5% | 1% |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in known:
        seconds, wall = row["run"]["seconds"], row["run"]["wall"]
        cells = [long_cell(each, seconds) for each in (*row["said"], *row.get("again", []))]
        lines.append(
            f"| {row['function']} | {row['graph']} | {row['vertices']:,}, {row['edges']:,} | "
            f"{seconds / 60:.1f} min | {wall / 60:.1f} min | {' | '.join(cells)} |"
        )
    lines += [
        "",
        "| what `track` said was left, less what was | at 25% | at 50% | at 75% | looking |",
    ]
    lines += ["|---|---|---|---|---|"]
    told = [(row, *long_errors(row["run"])) for row in known]
    for row, by_clock, by_processor in told:
        cost = f"{row['run']['looking'] / row['run']['seconds']:.1%}"
        for name, errors in (("processor", by_processor), ("clock", by_clock)):
            cells = " | ".join("–" if each is None else f"{each:+.1%}" for each in errors)
            lines.append(f"| {row['function']}, by the {name} | {cells} | {cost} |")
    lines += ["", "| what | bar | as it was | as it is |", "|---|---|---|---|"]
    for number, budget in enumerate(LONG_BUDGETS):
        for name, of in (
            ("median factor", lambda each, s: factor(each["predicted"], s)),
            ("worst factor", lambda each, s: factor(each["predicted"], s)),
            ("most spent", lambda each, s: each["spent"] / s),
            ("intervals that held", lambda each, s: each["low"] <= s <= each["high"]),
        ):
            bar = LONG_BARS.get((budget, name), "")
            cells = []
            for which in ("said", "again"):
                found = [
                    of(row[which][number], row["run"]["seconds"])
                    for row in known
                    if len(row.get(which, [])) > number and "predicted" in row[which][number]
                ]
                cells.append(long_figure(name, found))
            lines.append(f"| {budget}: {name} | {bar} | {' | '.join(cells)} |")
    for number, (part, bar) in enumerate(zip(PARTS, ("10%", "6%", "3%"), strict=True)):
        for name, column in (("processor", 2), ("clock", 1)):
            errors = [abs(e) for each in told if (e := each[column][number]) is not None]
            middle = f"{np.median(errors):.1%} of {len(errors)}" if errors else "–"
            lines.append(f"| `track` at {part:.0%}, by the {name} | {bar} | {middle} | |")
    text = "\n".join(lines) + "\n"
    (HERE / "functions_long.md").write_text(text, encoding="utf-8")
    page = Path(arguments.write)
    before, _, after = page.read_text(encoding="utf-8").partition("## Shipped runs")
    before = before.partition("## Long runs")[0]
    page.write_text(f"{before}{text}\n## Shipped runs{after}", encoding="utf-8")


def long_cell(said, seconds):
    if "predicted" not in said:
        return "none"
    low, mid, high = (said[each] / seconds for each in ("low", "predicted", "high"))
    return f"× {mid:.2f} ({low:.2g} to {high:.2g}), {said['spent'] / seconds:.1%}"


def long_figure(name, found):
    if not found:
        return "–"
    if name == "intervals that held":
        return f"{sum(found)} of {len(found)}"
    if name == "most spent":
        return f"{max(found):.1%}"
    return f"{np.median(found) if name == 'median factor' else max(found):.2f}"


def long_errors(run):
    """Return what was said to be left less what was, as shares of the run, by two clocks.

    By the processor a run is at a quarter when it has used a quarter of its processor seconds, and
    what is said is the part of the whole that is left.
    """
    clocks, wall, seconds = run["clocks"], run["wall"], run["seconds"]
    by_clock, by_processor = [], []
    for part in PARTS:
        near = [each for each in run["moments"] if each[0] <= part * wall]
        at = next(clock for clock, processor in clocks if processor >= part * seconds)
        then = [each for each in run["moments"] if each[0] <= at]
        by_clock.append(
            (max(near[-1][1] - (part * wall - near[-1][0]), 0.0) / wall - (1.0 - part))
            if near
            else None
        )
        by_processor.append(
            then[-1][1] / (then[-1][0] + then[-1][1]) - (1.0 - part) if then else None
        )
    return by_clock, by_processor


LONG_BUDGETS = ("5%", "1%")
LONG_BARS = {
    ("5%", "median factor"): "1.2; one outer loop 1.08",
    ("5%", "worst factor"): "one outer loop 1.7",
    ("5%", "most spent"): "8%",
    ("5%", "intervals that held"): "85 to 95%",
    ("1%", "median factor"): "one outer loop 1.1",
}


def rows(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def calibrate(arguments):
    """Say how much wider intervals must be, by all functions but one, and whether its own hold."""
    said = [row for row in rows(Path(arguments.out)) if "predicted" in row]
    groups = {
        "with a prefix": [row for row in said if has(row, "prefix")],
        "samples alone": [
            row for row in said if [e["rung"] for e in row["evidence"]] == ["samples"]
        ],
    }
    print("| which | runs, functions | wider by | held before | held, function left out |")
    print("|---|---|---|---|---|")
    for name, group in groups.items():
        if len(group) < 5:
            continue
        names = [row["function"] for row in group]
        misses = np.array([missed(row) for row in group])
        held = []
        for each in sorted(set(names)):
            own = np.array([other == each for other in names])
            held += (misses[own] <= wide_enough(misses[~own])).tolist()
        print(
            f"| {name} | {len(group)}, {len(set(names))} | × {wide_enough(misses):.2f} | "
            f"{np.mean(misses <= 1.0):.0%} | {np.mean(held):.0%} |"
        )


def rungs(row):
    return [each["rung"] for each in row["evidence"]]


def missed(row):
    """Return the error of a prediction as a part of half of its interval, in logarithms."""
    error = np.log(row["seconds"] / row["predicted"])
    end = row["high"] if error > 0 else row["low"]
    return float(error / np.log(end / row["predicted"]))


def wide_enough(misses):
    """Return the factor under which 9 of 10 intervals hold, and the next run's with 90%."""
    place = int(np.ceil(0.9 * (len(misses) + 1))) - 1  # split conformal prediction
    return float(np.sort(misses)[min(place, len(misses) - 1)])


def report(arguments):
    """Write the tables of the study."""
    known = [row for row in rows(Path(arguments.file)) if row["state"] == "done"]
    said = [row for row in rows(Path(arguments.out)) if "predicted" in row]
    lines = ["## Runs", ""]
    names = sorted({row["function"] for row in known})
    graphs = sorted({row["graph"] for row in known})
    seconds = np.array([row["seconds"] for row in known])
    lines += [
        f"{len(known)} runs to the end: {len(names)} functions, {len(graphs)} graphs, "
        f"{seconds.min():.1f} to {seconds.max():.0f} processor seconds, median "
        f"{np.median(seconds):.1f}; {int((seconds >= 20).sum())} of them take 20 s or more.",
        "",
        "## The first part of the very run that is foretold",
        "",
        "| first part | runs | median | p90 | worst |",
        "|---|---|---|---|---|",
    ]
    for share in (0.01, 0.05, 0.1, 0.25):
        factors = [f for row in known if (f := own_prefix(row, share)) is not None]
        lines.append(f"| {share:.0%} | {len(factors)} | {three(factors)} |")
    lines += ["", "## As a person has it", "", HEADER, "|---|---|---|---|---|---|---|---|---|---|"]
    for budget in sorted({row["budget"] for row in said}):
        for history in (False, True):
            part = [r for r in said if r["budget"] == budget and r["history"] == history]
            label = f"{budget}{', with runs on other graphs' if history else ''}"
            groups = {
                "all": part,
                "with a prefix": [r for r in part if has(r, "prefix")],
                "samples alone": [
                    r for r in part if [e["rung"] for e in r["evidence"]] == ["samples"]
                ],
                "the run itself": [r for r in part if has(r, "run")],
                "of 20 s or more": [r for r in part if r["seconds"] >= 20],
            }
            for name, group in groups.items():
                if group:
                    lines.append(f"| {label} | {name} | {figures(group)} |")
    if arguments.hand:
        lines += [
            "",
            "## By hand, 5%",
            "",
            "| way | runs | median | p90 | worst |",
            "|---|---|---|---|---|",
        ]
        hand = rows(Path(arguments.hand))
        for way in ("uniform", "first"):
            factors = [factor(row[way], row["seconds"]) for row in hand if way in row]
            lines.append(
                f"| power law through {way} vertices | {len(factors)} | {three(factors)} |"
            )
    lines += [
        "",
        "## Each",
        "",
        "| function | graph | s | factor | 90% interval | spent | by |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in sorted(said, key=lambda r: (r["function"], r["graph"], r["budget"])):
        by = ", ".join(f"{e['rung']} {e['weight']:.0%}" for e in row["evidence"])
        true = row["seconds"]
        lines.append(
            f"| {row['function']} | {row['graph']} | {true:.1f} | {row['predicted'] / true:.2f} | "
            f"{row['low'] / true:.2f} to {row['high'] / true:.2f} | {row['spent'] / true:.1%} of "
            f"{row['budget']} | {by} |"
        )
    if arguments.tracked:
        lines += ["", "## What remains, by `track`", ""]
        lines += [
            "| function | graph | s | at 25% | at 50% | at 75% |",
            "|---|---|---|---|---|---|",
        ]
        listed = rows(Path(arguments.tracked))
        for row in listed:
            at = [row["said"].get(str(part)) for part in PARTS]
            cells = " | ".join("" if each is None else f"{each:+.1%}" for each in at)
            lines.append(f"| {row['function']} | {row['graph']} | {row['seconds']:.1f} | {cells} |")
        medians = [
            np.median([abs(row["said"][p]) for row in listed if p in row["said"]])
            for p in ("0.25", "0.5", "0.75")
        ]
        lines.append(
            f"| median of absolute errors | | | {' | '.join(f'{each:.1%}' for each in medians)} |"
        )
    head, before = (
        (HERE / f"functions_{name}.md").read_text(encoding="utf-8") for name in ("head", "before")
    )
    long = (HERE / "functions_long.md").read_text(encoding="utf-8")
    first, found, rest = head.partition("## Shipped runs")
    text = f"{first}{long}\n{found}{rest}" + "\n".join(lines) + "\n" + before
    Path(arguments.write).write_text(text, encoding="utf-8")
    print("\n".join(lines))


HEADER = (
    "| budget | which | runs | factor: median | p90 | within 2× | 90% intervals that held | "
    "half-width: median | spent: median, p90, most | memory: median, within 2× |"
)


def figures(group):
    factors = [factor(row["predicted"], row["seconds"]) for row in group]
    held = np.mean([row["low"] <= row["seconds"] <= row["high"] for row in group])
    width = np.median([row["high"] / row["predicted"] for row in group])
    spent = np.array([row["spent"] / row["seconds"] for row in group])
    memory = [
        factor(row["peak_predicted"]["predicted"], row["peak"])
        for row in group
        if row["peak"] > 8 * 2**20
    ]
    told = f"{np.median(memory):.2f}, {np.mean(np.array(memory) < 2):.0%}" if memory else ""
    return (
        f"{len(group)} | {np.median(factors):.2f} | {np.quantile(factors, 0.9):.2f} | "
        f"{np.mean(np.array(factors) < 2):.0%} | {held:.0%} | × {width:.2f} | "
        f"{np.median(spent):.1%}, {np.quantile(spent, 0.9):.1%}, {spent.max():.1%} | {told}"
    )


def factor(one, other):
    """Return by how much two figures differ, 1 for not at all."""
    return float(np.exp(abs(np.log(max(one, 1e-9) / max(other, 1e-9)))))


def three(factors):
    if not factors:
        return " | | "
    return f"{np.median(factors):.2f} | {np.quantile(factors, 0.9):.2f} | {max(factors):.2f}"


def has(row, rung):
    return any(each["rung"] == rung for each in row["evidence"])


def own_prefix(row, share):
    """Return the error of the first part of a run, where its loop is one that tells."""
    from predict_graph.functions.prefix import loop_shape, read_prefix

    looks = looks_of(row)
    shape = loop_shape(looks, row["seconds"])
    if not shape.loop:
        return None
    end = share * row["seconds"]
    said = read_prefix([look for look in looks if look.seconds <= end], end, shape)
    return None if said is None else factor(said.seconds, row["seconds"])


def looks_of(row):
    """Return the looks of a run that was kept."""
    return [Look(at, [Seen(*each) for each in loops]) for at, loops in row["looks"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parts = parser.add_subparsers(dest="what", required=True)
    part = parts.add_parser("truths")
    part.add_argument("file")
    part.add_argument("--only", nargs="*")
    part.add_argument("--graphs", type=int, default=6)
    part.add_argument("--ladder", action="store_true", help="run samples too, to choose models by")
    part.add_argument("--seconds", type=float, default=8.0)
    part.set_defaults(call=truths)
    part = parts.add_parser("longer")
    part.add_argument("file")
    part.add_argument("said")
    part.add_argument("like", help="rows of benchmarks/function_priors.py make")
    part.add_argument("--graphs", type=int, default=1)
    part.add_argument("--seconds", type=float, default=6.0)
    part.add_argument("--minutes", type=float, default=3.0)
    part.set_defaults(call=longer)
    part = parts.add_parser("predict")
    part.add_argument("file")
    part.add_argument("out")
    part.add_argument("--budgets", default="5%")
    part.add_argument("--least", type=float, default=0.0, help="seconds of a run, at least")
    part.add_argument("--minutes", type=float, default=1e9, help="after which none is begun")
    part.add_argument("--history", action="store_true", help="with runs on three other graphs")
    part.set_defaults(call=predict)
    part = parts.add_parser("hand")
    part.add_argument("file")
    part.add_argument("out")
    part.add_argument("--least", type=float, default=0.0)
    part.set_defaults(call=by_hand)
    part = parts.add_parser("remaining")
    part.add_argument("out")
    part.add_argument("--seconds", type=float, default=1e9, help="after which none is begun")
    part.add_argument("--judged", action="store_true", help="the pairs that nothing was chosen on")
    part.set_defaults(call=remaining)
    part = parts.add_parser("long")
    part.add_argument("--keep", required=True, help="folder in which each case is kept")
    part.add_argument("--minutes", type=float, default=1e9, help="after which none is begun")
    part.add_argument("--case", type=int, help="this one, in this process")
    part.add_argument("--again", action="store_true", help="foretell runs that are known, now")
    part.set_defaults(call=long_runs)
    part = parts.add_parser("long-report")
    part.add_argument("--keep", required=True)
    part.add_argument("--write", default="docs/studies/functions-earlier.md")
    part.set_defaults(call=long_report)
    part = parts.add_parser("memory")
    part.add_argument("out")
    part.add_argument("--seconds", type=float, default=1e9, help="after which none is begun")
    part.add_argument("--judged", action="store_true", help="the pairs that nothing was chosen on")
    part.set_defaults(call=memory)
    part = parts.add_parser("calibrate")
    part.add_argument("out")
    part.set_defaults(call=calibrate)
    part = parts.add_parser("report")
    part.add_argument("file")
    part.add_argument("out")
    part.add_argument("--hand")
    part.add_argument("--tracked")
    part.add_argument("--write", default="docs/studies/functions-earlier.md")
    part.set_defaults(call=report)
    arguments = parser.parse_args()
    started = time.perf_counter()
    arguments.call(arguments)
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
