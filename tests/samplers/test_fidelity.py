"""Measured properties against networkx and scipy, and the report."""

import json

import networkx as nx
import numpy as np
import pytest
from scipy.stats import ks_2samp

from samplers import BiasedRandomJump, UniformVertices, fidelity_report, graph_properties
from tests.refusals import invalid


def directed():
    rng, graph = np.random.default_rng(8), nx.DiGraph()
    graph.add_nodes_from(range(63))
    graph.add_edges_from((int(v), int(w)) for v, w in rng.integers(0, 60, (140, 2)))
    graph.add_edges_from((w, v) for v, w in list(graph.edges)[:30])
    graph.add_edge(4, 4)
    return graph


GRAPHS = [directed(), nx.powerlaw_cluster_graph(60, 3, 0.7, seed=3)]


@pytest.mark.parametrize("graph", GRAPHS, ids=["directed", "undirected"])
def test_properties_agree_with_networkx(graph):
    plain = nx.Graph(graph)
    plain.remove_edges_from(list(nx.selfloop_edges(plain)))
    measured = graph_properties(graph, random_state=1)
    n = len(graph)
    assert measured.vertices == n
    assert measured.edges == graph.size() * (1 if graph.is_directed() else 2)
    assert measured.largest_component == max(map(len, nx.connected_components(plain))) / n
    assert measured.pendant == sum(d == 1 for _, d in plain.degree) / n
    assert measured.clustering == pytest.approx(nx.average_clustering(plain), abs=4 * 0.0036)
    out_degrees = [d for _, d in (graph.out_degree if graph.is_directed() else graph.degree)]
    in_degrees = [d for _, d in (graph.in_degree if graph.is_directed() else graph.degree)]
    np.testing.assert_array_equal(measured.out_degrees, out_degrees)
    np.testing.assert_array_equal(measured.in_degrees, in_degrees)
    assert measured.dangling == out_degrees.count(0) / n
    loopless = graph.copy()
    loopless.remove_edges_from(list(nx.selfloop_edges(graph)))
    expected = nx.overall_reciprocity(loopless) if graph.is_directed() else 1.0
    assert measured.reciprocity == pytest.approx(expected)


@pytest.mark.parametrize("graph", GRAPHS, ids=["directed", "undirected"])
def test_hop_plot_from_all_vertices_is_exact(graph):
    paths = nx.all_pairs_shortest_path_length(nx.Graph(graph))
    counts = np.bincount([hops for _, reached in paths for hops in reached.values()])[1:]
    expected = np.cumsum(counts) / counts.sum()
    measured = graph_properties(graph, random_state=1)
    assert measured.hop_sources == len(graph)
    np.testing.assert_allclose(measured.hop_plot, expected)
    hops = range(len(expected) + 1)
    assert np.interp(measured.effective_diameter, hops, [0, *expected]) == pytest.approx(0.9)


def test_walks_are_denser_than_uniform_vertices():
    graph = nx.barabasi_albert_graph(2000, 4, seed=1)
    samplers = BiasedRandomJump(), UniformVertices()
    walk, others = (sampler.sample(graph, 0.1, 1).vertices for sampler in samplers)
    walked = fidelity_report(graph, walk, 1)
    uniform = fidelity_report(graph, others, 1, properties=walked.graph)
    assert uniform.graph is walked.graph
    assert walked.density_ratio > 2 * uniform.density_ratio
    assert walked.sample.largest_component > uniform.sample.largest_component
    degrees = (uniform.graph.in_degrees, uniform.sample.in_degrees)
    assert uniform.in_degree_d == pytest.approx(ks_2samp(*degrees).statistic)


def test_report_as_json_and_text():
    report = fidelity_report(directed(), range(30), 1)
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert values["vertices"] == {"graph": 63, "sample": 30}
    assert values["density_ratio"] == pytest.approx(report.sample.density / report.graph.density)
    assert f"D in-degree{report.in_degree_d:>37.3f}" in repr(report)


def test_graphs_and_samples_without_edges():
    report = fidelity_report(nx.star_graph(5), [1, 2, 3], 0)
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert values["d_statistics"]["hop_plot"] is values["effective_diameter"]["sample"] is None
    assert values["density_ratio"] == 0
    report = fidelity_report(nx.empty_graph(4), [0], 0)
    assert (report.in_degree_d, report.to_dict()["density_ratio"]) == (0, None)


def test_wrong_vertices():
    invalid("no vertices to report on", fidelity_report, directed(), [], 0)
    invalid("vertex 99 does not exist", fidelity_report, directed(), [99], 0)
