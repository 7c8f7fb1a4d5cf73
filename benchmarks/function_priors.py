"""Make the bundled runs of common functions, which are weak evidence.

    python -m benchmarks.function_priors make RUNS.jsonl [--minutes 8]
    python -m benchmarks.function_priors write RUNS.jsonl

`make` goes on where it was stopped; `write` makes the file of the package.

Each function runs on parts of some graphs, of a size at which a call takes 0.02 s to a second, in
processor seconds; two sizes of each graph are kept, with the drivers of the graph.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

from benchmarks.common import kept
from benchmarks.functions import cut, timed
from predict_graph.functions import shipped
from predict_graph.functions.drivers import DRIVERS, drivers_of
from predict_graph.functions.naming import check_function
from predict_graph.graph import check_graph

GRAPHS = ("facebook", "epinions", "small world", "preferential", "enron", "notredame")
SIZES = [100 * 2**power for power in range(9)]
WANTED, LEAST = 0.25, 0.02  # seconds
KEPT = 2  # sizes of a graph
FEWEST_GRAPHS = 2  # for runs to be worth shipping

NETWORKX = """
betweenness_centrality edge_betweenness_centrality load_centrality closeness_centrality
harmonic_centrality eigenvector_centrality pagerank clustering triangles square_clustering
core_number connected_components diameter eccentricity average_shortest_path_length
all_pairs_shortest_path_length global_efficiency louvain_communities label_propagation_communities
asyn_lpa_communities greedy_modularity_communities girvan_newman kernighan_lin_bisection
find_cliques bridges minimum_spanning_tree maximal_matching max_weight_matching jaccard_coefficient
adamic_adar_index constraint voterank dispersion current_flow_betweenness_centrality
"""
IGRAPH = """
betweenness edge_betweenness closeness harmonic_centrality pagerank eccentricity diameter
average_path_length distances transitivity_local_undirected community_infomap community_walktrap
community_multilevel community_label_propagation community_fastgreedy maximal_cliques motifs_randesu
similarity_jaccard
"""
NAMES = [
    *(f"networkx:{name}" for name in NETWORKX.split()),
    *(f"igraph:{name}" for name in IGRAPH.split()),
]


def part(graph, size, needs):
    """Return a part of a graph with about so many vertices, and its drivers; kept."""
    key = (graph, size, needs)
    if key not in _PARTS:
        if graph == "grid":
            side = round(math.sqrt(size))
            made = check_graph(f"grid:rows={side},columns={side}")
        else:
            made = cut(graph, size, needs)
        _PARTS[key] = (made, drivers_of(made, np.random.default_rng(0)))
    return _PARTS[key]


_PARTS: dict = {}


def make(arguments):
    """Run the functions, the ones that have no rows yet first in their turn."""
    out = Path(arguments.file)
    done = {(row["function"], row["graph"]) for row in kept(out)}
    ends = time.perf_counter() + 60.0 * arguments.minutes
    units = [shipped.probe_seconds(compiled=each) for each in (False, True)]
    first: dict[str, int] = {}
    for graph in GRAPHS:
        for name in NAMES:
            if (name, graph) in done:
                continue
            if time.perf_counter() > ends:
                print("time is up", flush=True)
                return
            found = {"function": name, "graph": graph, "units": units}
            found["runs"] = climb(name, graph, first)
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
            told = [f"{each['size']}: {each['seconds']:.3f}" for each in found["runs"]]
            print(name, graph, *told, flush=True)


def climb(name, graph, first):
    """Run a function on growing parts of a graph, until a run takes long enough."""
    function = check_function(name)
    needs, place, found = "", first.get(name, 1), []
    while 0 <= place < len(SIZES):
        made, drivers = part(graph, SIZES[place], needs)
        if found and made.vertices == found[-1]["drivers"]["vertices"]:
            break  # the whole graph
        run = timed(function, made, 1, 1.2)
        if run.state == "error" and needs != "connected":
            words = run.sentence.lower()
            needs = "connected" if "connected" in words or "infinite" in words else "undirected"
            if (made.directed or needs == "connected") and "argument" not in words:
                continue
            break
        if not run.done:
            if found or place == 0 or run.state != "stopped":
                break
            place = max(place - 2, 0)
            continue
        found.append(
            {"size": SIZES[place], "seconds": run.seconds, "peak": run.peak_bytes}
            | {"graph_bytes": run.graph_bytes, "convert": run.convert_seconds}
            | {"needs": needs, "drivers": drivers}
        )
        growth = 4.0
        if len(found) > 1 and found[-2]["seconds"] > 0.005:
            growth = max(found[-1]["seconds"] / found[-2]["seconds"], 2.0)
        if run.seconds * growth > 2.0 * WANTED:
            break
        place += 1
    if found:
        first[name] = max(SIZES.index(found[-1]["size"]) - 1, 0)
    return [each for each in found if each["seconds"] >= LEAST][-KEPT:]


def write(arguments):
    """Write the file that is shipped."""
    graphs, functions = {}, {}
    for row in kept(Path(arguments.file)):
        compiled = not row["function"].startswith("networkx:")
        unit = row["units"][compiled]
        for run in row["runs"]:
            kind = {"": "", "undirected": ", both ways", "connected": ", connected"}[run["needs"]]
            key = f"{row['graph']}{kind} {run['size']}"
            assert shipped.graph_of(key) == row["graph"]
            graphs[key] = [float(f"{run['drivers'][name]:.4g}") for name in DRIVERS]
            shipped_runs = functions.setdefault(row["function"], {"arguments": {}, "runs": []})
            shipped_runs["runs"].append([key, float(f"{run['seconds'] / unit:.3g}")])
    functions = {
        name: found
        for name, found in functions.items()
        if len({shipped.graph_of(key) for key, _ in found["runs"]}) >= FEWEST_GRAPHS
    }
    used = {key for found in functions.values() for key, _ in found["runs"]}
    content = {
        "made": {
            "by": "python -m benchmarks.function_priors",
            "unit": "seconds of a search that predict_graph.functions.shipped times",
            "python": platform.python_version(),
            **{name: version(name) for name in ("networkx", "igraph")},
        },
        "graphs": {key: graphs[key] for key in sorted(used)},
        "functions": {key: functions[key] for key in sorted(functions)},
    }
    place = Path(shipped.__file__).with_name(shipped.FILE)
    text = json.dumps(content, separators=(",", ":")).replace('"],', '"],\n')
    text = text.replace("]]},", "]]},\n").replace('],"', '],\n"')
    place.write_text(text + "\n", encoding="utf-8")
    runs = sum(len(each["runs"]) for each in functions.values())
    print(f"{len(functions)} functions, {runs} runs, {place.stat().st_size / 1024:.0f} KiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("make", "write"))
    parser.add_argument("file")
    parser.add_argument("--minutes", type=float, default=8.0)
    arguments = parser.parse_args()
    (make if arguments.what == "make" else write)(arguments)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
