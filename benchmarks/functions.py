"""Graph functions of Python libraries, the graphs they run on, and how one is predicted and run.

Graphs are parts of the shared ones (balls of a breadth-first search, which no sampler here draws)
and generated ones, each cut to a size at which the function takes seconds to minutes.
``benchmarks.functions_study`` is the study.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, connected_components

from predict_graph import timing
from predict_graph.errors import PredictGraphError
from predict_graph.functions.child import Limits, run_in_child
from predict_graph.functions.forms import build
from predict_graph.functions.naming import check_function
from predict_graph.functions.predictor import FunctionCase
from predict_graph.functions.reported import reporter
from predict_graph.functions.sampling import connected_vertices, spread_order
from predict_graph.functions.track import run_tracked
from predict_graph.graph import check_graph
from predict_graph.graph.build import symmetric

OWN = Path(__file__).with_name("functions_own.py")

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
        "edges",
        "undirected",
    ),
    "nx jaccard": ("networkx:jaccard_coefficient", {}, "vertices_squared", "undirected"),
    "nx eigenvector": (
        "networkx:eigenvector_centrality",
        {"max_iter": 1000},
        "edges",
        "undirected",
    ),
    "nx cliques": ("networkx:find_cliques", {}, "squares", "undirected"),
    "nx voterank": ("networkx:voterank", {"number_of_nodes": 500}, "vertices", "undirected"),
    "igraph betweenness": ("igraph:betweenness", {}, "reached_edges", ""),
    "igraph closeness": ("igraph:closeness", {}, "reached_edges", ""),
    "igraph infomap": ("igraph:community_infomap", {}, "edges", ""),
    "igraph walktrap": ("igraph:community_walktrap", {}, "vertices_squared", "undirected"),
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
    connected = needs == "connected"
    return graph.subgraph(connected_vertices(graph, "strong")) if connected else graph


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


def function_of(name):
    """Return a function of the list, and what its graphs must be."""
    text, keywords, _, needs = FUNCTIONS[name]
    return check_function(text, (), keywords), needs


def timed(function, graph, seed, seconds=120.0):
    """Run a function to its end in a child process."""
    order = spread_order(graph, np.random.default_rng(seed))
    return run_in_child(
        lambda: build(graph.subgraph(order), function.form),
        function,
        Limits(seconds=seconds, memory=8 * 2**30),
        progress=reporter(function.form),
    )


PARTS = (0.25, 0.5, 0.75)
BUDGETS = ("5%", "1%")


def predicted(name, graph, budget):
    """Predict a call without a history."""
    text, keywords, _, _ = FUNCTIONS[name]
    clock = time.perf_counter()
    try:
        options = {"keywords": keywords, "budget": budget, "seed": 11, "history": "none"}
        found = FunctionCase(text, graph, **options).predict()
    except PredictGraphError as error:
        return {"error": str(error)}
    call = found.phases["call"]
    convert, clocks = found.phases["convert"], found.processor_seconds / call
    return {
        "predicted": found.processor_seconds,
        "low": (found.runtime_seconds.low - convert) * clocks,
        "high": (found.runtime_seconds.high - convert) * clocks,
        "spent": found.overhead_seconds,
        "wall": time.perf_counter() - clock,
        "evidence": [asdict(each) for each in found.evidence],
    }


def predict_and_track(file, name, graph_name, size):
    """Predict a call by each budget, then run it under `track`; each is kept as it is known."""
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    function, needs = function_of(name)
    source = cut(graph_name, size, needs)
    found |= {"function": name, "graph": graph_name, "vertices": source.vertices}
    found |= {"edges": source.edges, "said": found.get("said", [])}
    for budget in BUDGETS[len(found["said"]) :]:
        found["said"].append(predicted(name, source, budget))
        file.write_text(json.dumps(found), encoding="utf-8")
    graph = build(source, function.form)
    clocks, ended = [(time.perf_counter(), timing.clock.processor())], threading.Event()

    def beside():
        while not ended.wait(0.5):
            clocks.append((time.perf_counter(), timing.clock.processor()))

    thread = threading.Thread(target=beside, daemon=True)
    thread.start()
    tracked = run_tracked(function, graph, show=False, keep=False)
    ended.set()
    thread.join()
    clocks.append((time.perf_counter(), timing.clock.processor()))
    moments = [
        (each.elapsed, each.remaining.predicted)
        for each in tracked.said
        if each.remaining is not None
    ]
    found["run"] = {
        "seconds": tracked.processor_seconds,
        "wall": tracked.seconds,
        "looking": tracked.looking,
        "moments": moments[:: max(len(moments) // 1000, 1)],
        "clocks": [
            (wall - clocks[0][0], processor - clocks[0][1])
            for wall, processor in [*clocks[:: max(len(clocks) // 1000, 1)], clocks[-1]]
        ],
    }
    file.write_text(json.dumps(found), encoding="utf-8")


def remaining_errors(run):
    """Return errors of the remaining time as shares of the run, by clock and by processor.

    By the processor a run is at a quarter when it has used a quarter of its processor seconds, and
    what is predicted is the part of the whole that is left.
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


def factor(one, other):
    """Return by how much two figures differ, 1 for not at all."""
    return float(np.exp(abs(np.log(max(one, 1e-9) / max(other, 1e-9)))))
