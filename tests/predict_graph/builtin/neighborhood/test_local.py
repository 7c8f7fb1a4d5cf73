import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import Neighborhood
from predict_graph.engines.local import LocalEngine, spreading
from predict_graph.errors import RequestError
from predict_graph.graph import check_graph
from tests.predict_graph.builtin.small import DIRECTED, edges, networkx_graph, splitmix64


def counter(v, registers):
    """Return the registers of a HyperLogLog counter of one vertex."""
    bits = registers.bit_length() - 1
    register, rest = splitmix64(v) % registers, splitmix64(v) >> bits
    zeros = (rest & -rest).bit_length() - 1 if rest else 64 - bits
    return tuple(zeros + 1 if r == register else 0 for r in range(registers))


def union(counters):
    return tuple(map(max, zip(*counters, strict=True)))


def estimate(registers):
    """Return what the paper of HyperLogLog says (figure 3)."""
    m = len(registers)
    alpha = {16: 0.673, 32: 0.697, 64: 0.709}.get(m, 0.7213 / (1 + 1.079 / m))
    raw = alpha * m * m / sum(2.0**-value for value in registers)
    empty = registers.count(0)
    return m * math.log(m / empty) if raw <= 2.5 * m and empty else raw


class Program:
    """HADI with HyperLogLog counters, vertex by vertex."""

    def __init__(self, n, registers):
        self.registers = registers
        self.counters = [counter(v, registers) for v in range(n)]
        self.changed = set(range(n))
        self.grown = set()
        self.reached = [self.total()]

    def total(self):
        return sum(map(estimate, self.counters))

    def message(self, v):
        return self.counters[v] if v in self.changed else None

    def size(self, message):
        return 8 + len(message)

    def receive(self, v, messages):
        larger = union([self.counters[v], *(heard for _, heard in messages)])
        if larger != self.counters[v]:
            self.counters[v] = larger
            self.grown.add(v)

    def aggregate(self):
        self.changed, self.grown = self.grown, set()
        self.reached.append(self.total())
        return len(self.changed) / len(self.counters)


def check(held_against, graph, **parameters):
    algorithm = Neighborhood(**parameters)
    profile, program = held_against(
        algorithm, graph, lambda _: Program(graph.vertices, algorithm.registers)
    )
    expected = [estimate(each) for each in program.counters]
    np.testing.assert_allclose(profile.values, expected, rtol=1e-12)
    reached = profile.result["neighborhood_function"]
    np.testing.assert_allclose(reached, program.reached, rtol=1e-12)
    assert len(reached) == profile.iterations + 1
    return profile


def path(n):
    return edges(*((v, v + 1) for v in range(n - 1)))


def exact_function(graph):
    """Return the number of ordered pairs within 0, 1, … hops."""
    found = nx.all_pairs_shortest_path_length(networkx_graph(graph, nx.DiGraph))
    hops = [hop for _, reached in found for hop in reached.values()]
    return np.cumsum(np.bincount(hops))


def exact_diameter(reached):
    """Return where the share of connected pairs crosses 90%, on straight lines between hops."""
    pairs = reached - reached[0]
    return float(np.interp(0.9 * pairs[-1], pairs, np.arange(len(pairs)))) if pairs[-1] else 0.0


SMALL = DIRECTED


@pytest.fixture(params=[0, 16, 10**9], ids=["pushed", "as is", "pulled"])
def way(request, monkeypatch):
    """Let every superstep go the same way, or the kernel choose."""
    monkeypatch.setattr(spreading, "_FEW", request.param)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("registers", [16, 32, 64, 128])
@pytest.mark.parametrize("name", SMALL)
def test_supersteps_are_those_of_a_bulk_synchronous_system(name, registers, held_against):
    check(held_against, SMALL[name], registers=registers)


@pytest.mark.usefixtures("way")
@given(data=st.data(), n=st.integers(1, 30), directed=st.booleans())
def test_random_graphs_too(data, n, directed, held_against):
    vertex = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=80))
    check(
        held_against,
        edges(*pairs, n=n, directed=directed),
        registers=data.draw(st.sampled_from([16, 64])),
        tau=data.draw(st.sampled_from([1e-9, 0.001, 0.3])),
        max_iterations=data.draw(st.sampled_from([1, 2, 500])),
    )


# Beside exact counts


@pytest.mark.parametrize("registers", [64, 256, 1024])
@pytest.mark.parametrize(
    "source",
    [
        "barabasi-albert:n=900,m=3,seed=1",
        "watts-strogatz:n=900,k=4,p=0.05,seed=1",
        "rmat:scale=10,edge_factor=8,seed=3",
        "grid:rows=20,columns=30",
    ],
)
def test_the_neighbourhood_function_is_within_the_error_of_hyperloglog(source, registers):
    graph = check_graph(source)
    exact = exact_function(graph)
    profile = LocalEngine().run(Neighborhood(registers=registers, tau=1e-9), graph)
    found = np.array(profile.result["neighborhood_function"])
    # Counters that grow no more end a run before the last few pairs, or a superstep after them.
    steps = min(len(found), len(exact))
    three_sigma = 3 * 1.04 / math.sqrt(registers)
    np.testing.assert_allclose(found[:steps], exact[:steps], rtol=three_sigma)
    assert found[-1] == pytest.approx(exact[-1], rel=three_sigma)


KNOWN = {
    "path": path(30),
    "path, both ways": check_graph("path:n=30", directed=False),
    "cycle": edges(*((v, (v + 1) % 40) for v in range(40))),
    "star": check_graph("star:n=60", directed=False),
    "grid": check_graph("grid:rows=6,columns=9", directed=False),
}


@pytest.mark.parametrize("name", KNOWN)
def test_the_effective_diameter_is_that_of_exact_counts(name):
    exact = exact_diameter(exact_function(KNOWN[name]))
    profile = LocalEngine().run(Neighborhood(registers=4096, tau=1e-9), KNOWN[name])
    assert profile.result["effective_diameter"] == pytest.approx(exact, rel=0.02)


def test_whoever_reaches_nobody_counts_itself():
    profile = LocalEngine().run(Neighborhood(registers=4096), edges(n=3))
    np.testing.assert_allclose(profile.values, 1.0, rtol=1e-3)
    assert profile.result["effective_diameter"] == 0.0
    assert profile.iterations == 1


@pytest.mark.parametrize("registers", [17, 48, 8, 8192])
def test_registers_are_a_power_of_two(registers):
    with pytest.raises(RequestError, match=f"registers is {registers}; accepted: "):
        Neighborhood(registers=registers)
