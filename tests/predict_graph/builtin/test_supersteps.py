"""Every compiled kernel beside a slow program, superstep by superstep."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import ALGORITHMS, check_algorithm
from predict_graph.builtin import merging
from predict_graph.engines import COUNTERS, OUT_EDGES
from predict_graph.engines.local import LocalEngine, kernel
from predict_graph.engines.local.tally import worker_of
from predict_graph.graph import check_graph
from tests.graphs import job_and_graph
from tests.predict_graph.builtin.references import PROGRAMS
from tests.predict_graph.builtin.small import DIRECTED, UNDIRECTED, edges

WORKERS = 3
undirected = partial(edges, directed=False)
MORE = UNDIRECTED | {
    "weights": undirected(
        *((0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 4)), weights=[4, 0.25, 2, 0.5, 8, 3]
    ),
    "weights that cancel out": undirected((0, 1), (0, 2), (0, 3), weights=[-1, -2, -1]),
    "communities": check_graph("powerlaw-cluster:n=60,m=3,p=0.6,seed=1", directed=False),
}
DRAWN = {
    "pagerank": {"epsilon": [0.05, 0.001], "damping": [0.5, 0.85], "dangling": ["uniform", "drop"]},
    "personalised-pagerank": {
        "epsilon": [0.05],
        "source": [None, "0"],
        "dangling": ["source", "drop"],
    },
    "topk-ranking": {"k": [1, 3, 6], "tau": [1e-9, 0.3]},
    "connected-components": {},
    "label-propagation": {"tau": [1e-9, 0.05, 0.3]},
    "neighborhood": {"registers": [16, 32, 64, 128], "tau": [1e-9, 0.001, 0.3]},
    "shortest-paths": {"landmarks": [None, "0", "0,0"]},
    "k-core": {},
    "triangle-count": {},
    "semi-clustering": {
        "c_max": [1, 2, 4],
        "s_max": [1, 3],
        "v_max": [2, 5, 10],
        "boundary_factor": [0.05, 0.5],
        "tau": [1e-9, 0.2],
    },
}
"""The parameters of random cases."""


def bulk_synchronous(program, graph, threshold, limit):
    """Run a program message by message; return aggregates, and counters by superstep and worker."""
    worker = worker_of(np.arange(graph.vertices), WORKERS).tolist()
    aggregates, steps = [], []
    while len(aggregates) < limit:
        counts = {name: [0] * WORKERS for name in COUNTERS}
        inboxes = [[] for _ in range(graph.vertices)]
        for v in range(graph.vertices):
            message = program.message(v)
            if message is None:
                continue
            counts["active_vertices"][worker[v]] += 1
            for w in graph.neighbors(v).tolist():
                where = "local" if worker[v] == worker[w] else "remote"
                counts[f"{where}_messages"][worker[v]] += 1
                counts[f"{where}_message_bytes"][worker[v]] += program.size(message)
                inboxes[w].append((v, message))
        for v, inbox in enumerate(inboxes):
            program.receive(v, inbox)
        aggregates.append(program.aggregate())
        steps.append(counts)
        if aggregates[-1] < threshold:
            break
    return aggregates, steps


def run_by_threads(algorithm, graph):
    """Return the run of a kernel, which is the same to the bit with 1, 2 and 3 threads."""
    engines = (LocalEngine(workers=WORKERS, threads=threads) for threads in (1, 2, 3))
    profile, *others = (engine.run(algorithm, graph) for engine in engines)
    for other in others:
        assert other.values.tobytes() == profile.values.tobytes()
        assert other.convergence.tobytes() == profile.convergence.tobytes()
        assert other.result == profile.result
        assert other.table[list(COUNTERS)].equals(profile.table[list(COUNTERS)])
    return profile


def check(algorithm, graph):
    """Compare the kernel with the slow program."""
    profile = run_by_threads(algorithm, graph)
    prior = None if profile.prior is None else profile.prior.values
    program = PROGRAMS[algorithm.name](graph, algorithm.on(graph), prior)
    threshold = algorithm.threshold(graph.vertices)
    aggregates, steps = bulk_synchronous(program, graph, threshold, algorithm.max_iterations)
    assert profile.convergence == pytest.approx(aggregates, rel=1e-9, abs=1e-15)
    assert profile.converged == (aggregates[-1] < threshold)
    for name in COUNTERS:
        assert profile.table[name].tolist() == [n for step in steps for n in step[name]], name
    worker = worker_of(np.arange(graph.vertices), WORKERS)
    for name, each in (("total_vertices", None), (OUT_EDGES, graph.out_degrees)):
        held = np.bincount(worker, each, WORKERS).tolist()
        assert profile.table[name].tolist() == held * profile.iterations, name
    table = profile.table
    sent = table["local_messages"] + table["remote_messages"]
    size = table["local_message_bytes"] + table["remote_message_bytes"]
    assert (table["average_message_bytes"] * sent).tolist() == pytest.approx(size.tolist())
    if algorithm.name == "semi-clustering":
        found = [{each for each in row if each >= 0} for row in profile.values.tolist()]
        assert found == program.values()
    else:
        assert profile.values == pytest.approx(np.array(program.values()), rel=1e-9, abs=1e-15)
    if algorithm.name == "neighborhood":
        assert profile.result["neighborhood_function"][-1] == pytest.approx(sum(program.values()))
    else:
        expected = program.result()
        assert {name: profile.result[name] for name in expected} == pytest.approx(expected)
    return profile


@pytest.fixture
def _small_blocks(monkeypatch):
    """Cut the smallest graphs into blocks, so that threads share them."""
    monkeypatch.setattr(kernel, "row_blocks", partial(kernel.row_blocks, most=8))


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("few", [0, 10**9], ids=["pushed", "pulled"])
@pytest.mark.parametrize("name", ["topk-ranking", "neighborhood", "shortest-paths"])
def test_pushed_and_pulled_rows_are_the_same(name, few, monkeypatch):
    monkeypatch.setattr(merging, "_FEW", few)
    for graph in DIRECTED.values():
        check(check_algorithm(name), graph)


@pytest.mark.parametrize("name", ALGORITHMS.names())
def test_a_large_graph_gives_the_same_whatever_the_threads(name):
    few = {"c_max": 2, "s_max": 2} if "semi" in name else {}
    job, graph = job_and_graph(name, "rmat:scale=13,edge_factor=8,seed=1", **few)
    assert run_by_threads(job, graph).iterations > 1


@pytest.mark.slow
@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("name", DRAWN)
@given(data=st.data(), n=st.integers(1, 14))
def test_supersteps_are_those_of_a_slow_program(name, data, n):
    """On random graphs, and on those that are special."""
    drawn = {key: data.draw(st.sampled_from(values)) for key, values in DRAWN[name].items()}
    if name != "triangle-count":
        drawn["max_iterations"] = data.draw(st.sampled_from([1, 2, 12, 200]))
    algorithm = check_algorithm(name, drawn)
    if data.draw(st.booleans()):
        shapes = MORE if algorithm.undirected else DIRECTED
        shape = data.draw(st.sampled_from(list(shapes)))
        # Scores are bounded, so that look-ups can be skipped, if no weight is negative.
        if (name, shape) != ("semi-clustering", "weights that cancel out"):
            check(algorithm, shapes[shape])
        return
    vertex = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=50))
    # Sums of quarters are exact, so that equal scores are equal in any order of additions.
    quarters = st.lists(st.integers(1, 16), min_size=len(pairs), max_size=len(pairs))
    weights = None
    if name in ("label-propagation", "semi-clustering"):
        weights = data.draw(st.none() | quarters.map(lambda found: [each / 4 for each in found]))
    directed = not algorithm.undirected and data.draw(st.booleans())
    check(algorithm, edges(*pairs, n=n, directed=directed, weights=weights))
