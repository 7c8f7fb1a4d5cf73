import signal
import time

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import predict_graph
from predict_graph.errors import JobError
from predict_graph.functions.naming import check_function
from predict_graph.functions.subject import WALKS, Subject
from predict_graph.functions.track import run_tracked
from tests.steps import calls_by, counted, counted_call

pytestmark = pytest.mark.slow  # starts processes

GRAPH = nx.barabasi_albert_graph(300, 3, seed=1)


def work(calls):
    """Take two steps for each call: 20 microseconds where they are counted."""
    for number in range(calls):
        abs(number)


def vertex_by_vertex(graph: nx.Graph):
    for _vertex in graph:
        work(2 * len(graph))
    return len(graph)


def one_loop_before_another(graph: nx.Graph):
    for _vertex in graph:
        work(len(graph) // 30)
    for _vertex in graph:
        work(2 * len(graph))


def predicted(function, graph=GRAPH, budget="0.5s", seed=1, **options):
    """Predict a call that takes counted steps."""
    with calls_by(counted_call):
        return predict_graph.predict(function, graph, budget=budget, seed=seed, **options)


def neighbour_by_neighbour(graph: nx.Graph):
    """Begin with the hubs, so that the first part takes more than its expected share."""
    for vertex in graph:
        work(20 * sum(graph.degree(other) for other in graph[vertex]))


LOOPS = [
    (vertex_by_vertex, 300, 0.5),
    (one_loop_before_another, 300, 0.5),
    (neighbour_by_neighbour, 600, 8.0),
]


@pytest.mark.parametrize(("function", "vertices", "budget"), LOOPS)
def test_a_function_of_loops_is_predicted_by_the_first_part_of_its_run(function, vertices, budget):
    graph = nx.barabasi_albert_graph(vertices, 3, seed=1)
    said = predicted(function, graph, budget)
    seconds = counted_call(lambda: graph, function).seconds
    assert 0.8 * seconds < said.processor_seconds < 1.25 * seconds
    assert said.runtime_seconds.low < said.runtime_seconds.predicted < said.runtime_seconds.high
    weights = {each.source: each.weight for each in said.evidence}
    assert weights.keys() == {"samples", "prefix"}
    assert sum(weights.values()) == pytest.approx(1.0)
    assert weights["prefix"] > 0.5
    assert "<table>" in said._repr_html_()
    assert (said.verdict.memory.fits, said.overhead_seconds < 1.25 * budget) == (True, True)


CHEAP = [("networkx:triangles", GRAPH), ("scipy:dijkstra", nx.to_scipy_sparse_array(GRAPH))]


@pytest.mark.parametrize(("function", "graph"), CHEAP)
def test_a_run_that_is_cheap_is_done(function, graph):
    said = predict_graph.predict(function, graph)
    assert [each.source for each in said.evidence] == ["run"]
    assert said.phases["convert"] == 0.0  # the graph is the library's already


def test_runs_on_other_graphs_are_learned_from(history):
    for n in (250, 350):
        with counted():
            predict_graph.track(vertex_by_vertex, nx.path_graph(n), history=history)
    said = predicted(vertex_by_vertex, history=history)
    assert len(history.runs(algorithm=said.algorithm["name"], kind="run")) == 2
    assert len(history.runs(kind="sample")) >= 1
    assert any("2 on other graphs" in each.detail for each in said.evidence)
    seconds = history.record(1).rows.records()[0]["seconds"]
    again = predict_graph.predict(vertex_by_vertex, nx.path_graph(250), history=history, budget=0)
    assert [each.source for each in again.evidence] == ["earlier runs of this graph"]
    assert again.phases["call"] == pytest.approx(seconds)
    assert again.runtime_seconds.low < 0.9 * seconds


def connected_only(graph: nx.Graph):
    if graph and not nx.is_connected(graph.to_undirected()):
        raise nx.NetworkXError("Graph is not connected")
    vertex_by_vertex(graph)


@pytest.mark.parametrize("create_using", [nx.Graph, nx.DiGraph])
def test_samples_of_connected_graphs_are_connected(create_using):
    graph = nx.path_graph(300, create_using)
    graph.add_edges_from(nx.watts_strogatz_graph(300, 4, 0.05, seed=1).edges)
    said = predicted(connected_only, graph)
    first = {each.state for each in said.samples if each.sampler == "completed"}
    assert {"done"} <= first <= {"done", "time", "stopped"}


def test_arguments_that_are_vertices_are_in_every_sample():
    def from_one(graph: nx.Graph, source):
        return sum(len(nx.single_source_shortest_path_length(graph, source)) for _ in range(5))

    said = predicted(from_one, budget=None, keywords={"source": 299})
    assert {(row.state, row.sampler) for row in said.samples} <= {("done", "mhrw"), ("done", "rj")}
    grid, length = nx.grid_2d_graph(20, 20), nx.single_source_shortest_path_length
    for graph, place in ((grid, (3, 4)), (nx.cycle_graph(400), np.int64(84))):
        subject = Subject(check_function(length, [place]), graph, directed=None, ids=None, seed=1)
        part = subject.sample("mhrw", 100, np.random.default_rng(1))
        assert part.call(part.build())[place] == 0
    subject = Subject(check_function(lambda graph, t: t, [5]), "grid:rows=20,columns=20", seed=1)
    assert subject.sample("mhrw", 100, np.random.default_rng(1)).call(None) == 5  # a time
    way = nx.DiGraph(nx.path_graph(9))
    subject = Subject(check_function(len), way, directed=False, ids=None, seed=1)
    assert not subject.whole(np.arange(9)).build().is_directed()


def summed(graph: nx.Graph):
    return float(sum(data["length"] for _, _, data in graph.edges(data=True)))


def refuses_large_ones(graph: nx.Graph):
    if len(graph) > 100:
        raise ValueError("too large for this")


RAISING = [(summed, "KeyError: 'length'"), (refuses_large_ones, "ValueError: too large for this")]


@pytest.mark.parametrize(("function", "error"), RAISING)
def test_what_a_function_raises_on_samples_is_named(function, error):
    with pytest.raises(JobError, match=f"fails on .*networkx.*: {error}"):
        predict_graph.predict(function, nx.barabasi_albert_graph(1500, 3, seed=1), seed=1)


def test_what_a_function_raises_on_small_samples_alone_is_no_warning():
    said = predicted(lambda g: vertex_by_vertex(g) if len(g) > 61 else 1 / 0, budget="2s")
    assert "error" in {row.state for row in said.samples}
    assert not any("raised an error" in text for text in said.warnings)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_parallel_edges_and_attributes_are_kept(kind):
    graph = kind(name="streets", crs="epsg:4326")
    for one, other in nx.barabasi_albert_graph(400, 3, seed=2).edges:
        for length in (1.0, 2.0):
            graph.add_edge(one, other, length=length)
    nx.set_node_attributes(graph, 7, "height")
    subject = Subject(check_function(summed), graph, directed=None, ids=None, seed=1)
    assert Subject(check_function(len), nx.Graph(GRAPH, crs=7), seed=1).samplers == WALKS
    rng = np.random.default_rng(1)
    cases = [subject.sample(each, 100, rng) for each in subject.samplers]
    for case in [*cases, subject.whole(np.arange(400)[::-1])]:
        made = case.build()
        assert (type(made), made.graph["crs"]) == (kind, "epsg:4326")
        assert set(nx.get_node_attributes(made, "height").values()) == {7}
        for ends in made.edges():
            assert made.number_of_edges(*ends) == graph.number_of_edges(*ends)
        assert case.call(made) == summed(made) > 0.0


def test_attributes_of_igraph_are_kept():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph.Barabasi(400, 3)
    graph.add_edges(graph.get_edgelist()[:600])
    graph.vs["name"] = [f"v{vertex}" for vertex in range(400)]
    graph.es["ends"] = [{f"v{vertex}" for vertex in edge.tuple} for edge in graph.es]

    def ends(graph: igraph.Graph, source):
        near = graph.es[graph.incident(source)]
        assert all({graph.vs[v]["name"] for v in edge.tuple} == edge["ends"] for edge in near)
        return [edge["ends"] for edge in near]

    function = check_function(ends, keywords={"source": "v7"}, graph=graph)
    subject = Subject(function, graph, directed=None, ids=None, seed=1)
    part = subject.sample("mhrw", 200, np.random.default_rng(1))
    assert all("v7" in each for each in part.call(part.build()))
    whole = subject.whole(np.arange(400)[::-1])
    assert sorted(map(sorted, whole.call(whole.build()))) == sorted(map(sorted, ends(graph, "v7")))


def loads(graph: nx.Graph):
    import antigravity_of_test

    return int(antigravity_of_test.SIZE) + len(graph)


def test_what_a_function_loads_is_loaded_once(tmp_path, monkeypatch):
    """Else each run on a sample would, and a budget of a second were spent on it."""
    log = tmp_path / "log"
    (tmp_path / "antigravity_of_test.py").write_text(
        f"import os\nSIZE = 1\nprint(os.getpid(), file=open({str(log)!r}, 'a'))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    said = predict_graph.predict(loads, nx.barabasi_albert_graph(900, 3, seed=1), seed=1)
    assert len(said.samples) > 1
    assert len(log.read_text().split()) == 2  # of the first child, and of this process


def test_tracking_returns_the_result(capsys):
    with counted():
        tracked = run_tracked(check_function(vertex_by_vertex), GRAPH)
    assert tracked.result == 300
    assert "took" in capsys.readouterr().err
    shares = [each.share for each in tracked.said]
    assert shares == sorted(shares)
    assert shares[-1] > 0.9


def two_loops(graph: nx.Graph):
    for _vertex in graph:
        work(300)
    left = 2
    while left:  # nothing tells how often
        work(300 * len(graph))
        left -= 1


def test_a_loop_that_is_over_says_no_more_of_what_remains():
    with counted():
        tracked = run_tracked(check_function(two_loops), GRAPH, show=False)
    assert [said for said in tracked.said if said.elapsed < 0.3 * tracked.seconds]
    assert not [said for said in tracked.said if said.elapsed > 0.7 * tracked.seconds]


def test_an_iterator_is_a_list_or_how_many_there_were():
    function, graph = check_function(nx.find_cliques), nx.path_graph(30)
    kept, drawn = (run_tracked(function, graph, show=False, keep=keep) for keep in (True, False))
    assert (kept.generator, drawn.generator, drawn.result) == (True, True, 29)
    assert sorted(map(sorted, kept.result)) == [[place, place + 1] for place in range(29)]


@pytest.mark.parametrize("kind", [np.ndarray, pd.DataFrame])
def test_a_function_has_the_table_that_it_wants(kind):
    def call(table: kind, **more):
        return type(table)

    given = pd.DataFrame({"source": range(9), "isDirected": range(1, 10), "ecount": True})
    assert predict_graph.track(call, given, graph=1, function=2) is kind
    subject = Subject(check_function(call), given, directed=False, seed=1)
    made = subject.sample("mhrw", 4, np.random.default_rng(1)).build()
    assert (len(made) < 9, made.shape[1]) == (True, 3 if kind is pd.DataFrame else 2)


@pytest.mark.parametrize("change", [nx.Graph.clear, lambda g: g.remove_nodes_from(range(200))])
def test_a_tracked_function_that_changes_its_graph_has_its_result(history, change):
    with counted():
        call = lambda graph: (vertex_by_vertex(graph), change(graph))  # noqa: E731
        assert predict_graph.track(call, nx.path_graph(250), history=history) == (250, None)
    assert len(history) == 0


@pytest.mark.usefixtures("interruptible")
def test_what_a_tracked_function_raises_comes_through():
    with pytest.raises(nx.NetworkXError, match="not connected"):
        predict_graph.track(nx.diameter, nx.empty_graph(3))
    with pytest.raises(KeyboardInterrupt, match="was interrupted after"):
        predict_graph.track(lambda _: signal.raise_signal(signal.SIGINT), GRAPH)


def test_a_long_call_gets_advice():
    pytest.importorskip("igraph")
    names = ("betweenness_centrality", "k_core")
    calls = [(f"networkx:{name}", size) for name in names for size in (1e2, 1e5)]
    found = [predict_graph.predict(name, predict_graph.GraphSize(n, 10 * n)) for name, n in calls]
    advised = [[each for each in one.advice if "(alike" in each] for one in found]
    assert [len(each) for each in advised] == [0, 1, 0, 0]
    (advice,) = advised[1]
    assert advice.startswith("igraph:betweenness (alike, perhaps scaled otherwise) takes about")
    assert ("alternative", advice) in found[1].answer.facts


def test_what_igraph_reports_is_tracked_and_its_handler_taken_away(monkeypatch):
    igraph = pytest.importorskip("igraph")
    handlers = []
    monkeypatch.setattr(igraph, "set_progress_handler", handlers.append)
    graph = igraph.Graph.Barabasi(400, 4)
    tracked = run_tracked(check_function("igraph:betweenness"), graph, show=False)
    assert tracked.result == graph.betweenness()
    assert [*map(callable, handlers)] == [True, False]


def test_time_in_which_a_function_sleeps_is_predicted():
    def fetch(graph: nx.Graph):
        time.sleep(5e-4 * len(graph))

    graph = nx.barabasi_albert_graph(1500, 3, seed=1)
    assert predict_graph.predict(fetch, graph, budget="unlimited", seed=1).processor_seconds > 0.4
    assert run_tracked(check_function(fetch), graph, show=False).processor_seconds > 0.7


def test_the_interval_of_a_call_on_several_cores_contains_its_point_estimate():
    def square(graph: nx.Graph):
        matrix = nx.to_numpy_array(graph)
        matrix @ matrix @ matrix

    graph = nx.barabasi_albert_graph(1200, 3, seed=1)
    runtime = predict_graph.predict(square, graph, seed=1).runtime_seconds
    assert runtime.low <= runtime.predicted <= runtime.high
