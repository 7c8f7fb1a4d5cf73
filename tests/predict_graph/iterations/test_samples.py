"""Samples are drawn, induced, cut at a budget of edges, and run."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predict_graph.algorithms import PageRank
from predict_graph.engines.local import LocalEngine
from predict_graph.errors import RequestError
from predict_graph.graph import check_graph
from predict_graph.iterations import SAMPLERS, check_ratio, draw_sample, run_sample
from predict_graph.iterations.prefix import edges_by_later_position
from predict_graph.transforms import scaled_threshold


@pytest.fixture(scope="module")
def graph():
    return check_graph("barabasi-albert:n=800,m=4,seed=1")


def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("name", SAMPLERS.names())
def test_the_subgraph_is_the_induced_one(graph, name):
    sample = draw_sample(graph, name, 0.25, rng())
    assert sample.graph.vertices == 200
    assert sample.ratio == 0.25
    whole = graph.to_scipy()
    expected = whole[sample.vertices][:, sample.vertices]
    assert (sample.graph.to_scipy() != expected).nnz == 0
    assert sample.graph.directed == graph.directed


@pytest.mark.parametrize("name", SAMPLERS.names())
@pytest.mark.parametrize("cap", [1, 40, 400])
def test_a_cut_sample_keeps_to_its_edges_and_says_so(graph, name, cap):
    sample = draw_sample(graph, name, 0.5, rng(), max_edges=cap)
    assert 1 <= sample.graph.vertices < 400
    assert sample.graph.edges <= cap
    assert sample.ratio == sample.graph.vertices / graph.vertices
    assert f"ended at {sample.graph.vertices} of 400 vertices" in sample.note


def test_a_cut_sample_is_as_long_as_its_edges_allow(graph):
    whole = draw_sample(graph, "rj", 0.5, rng())
    uncut = draw_sample(graph, "rj", 0.5, rng(), max_edges=10**9)
    np.testing.assert_array_equal(whole.vertices, uncut.vertices)
    assert uncut.note == ""
    near = draw_sample(graph, "rj", 0.5, rng(), max_edges=whole.graph.edges)
    assert near.graph.edges == whole.graph.edges


def test_the_whole_graph_as_a_sample(graph):
    sample = draw_sample(graph, "brj", 1.0, rng())
    assert sample.graph.edges == graph.edges
    assert sample.ratio == 1.0


@pytest.mark.parametrize("ratio", [0, -0.5, 1.01, float("nan"), float("inf")])
def test_wrong_ratios(graph, ratio):
    with pytest.raises(RequestError, match=f"ratio is {ratio}; accepted"):
        check_ratio(ratio)
    with pytest.raises(RequestError, match=f"ratio is {ratio}; accepted"):
        draw_sample(graph, "brj", ratio, rng())


def test_a_wrong_cap_and_a_wrong_name(graph):
    with pytest.raises(RequestError, match="max_edges is 0"):
        draw_sample(graph, "brj", 0.1, rng(), max_edges=0)
    with pytest.raises(RequestError, match="unknown sampler 'jump'; accepted: brj"):
        draw_sample(graph, "jump", 0.1, rng())


def test_the_run_of_a_sample_is_the_run_of_its_graph(graph):
    job, engine = PageRank(epsilon=0.01), LocalEngine(threads=1)
    threshold = job.threshold(graph.vertices)
    sample = draw_sample(graph, "brj", 0.25, rng())
    run = run_sample(sample, job, engine, scaled_threshold, threshold, purpose="iterations")
    assert run.threshold == pytest.approx(job.threshold(sample.graph.vertices))
    assert run.summary.iterations == engine.run(job, sample.graph).iterations
    assert (run.summary.vertices, run.summary.edges) == (200, sample.graph.edges)
    assert run.summary.seconds >= sample.seconds


@settings(max_examples=60)
@given(data=st.data(), n=st.integers(1, 25), seed=st.integers(0, 1000))
def test_edges_inside_each_prefix(data, n, seed):
    graph = nx.gnp_random_graph(n, 0.3, seed=seed, directed=True)
    graph.add_edges_from((v, v) for v in range(0, n, 5))
    ours = check_graph(graph) if graph.number_of_edges() else None
    if ours is None:
        return
    members = np.array(data.draw(st.permutations(range(n)))[: data.draw(st.integers(1, n))])
    filed = np.cumsum(edges_by_later_position(ours.indptr, ours.indices, members))
    for length in range(1, len(members) + 1):
        inside = graph.subgraph(members[:length].tolist()).number_of_edges()
        assert filed[length - 1] == inside
