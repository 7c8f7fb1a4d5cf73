from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import predict_graph
from predict_graph.errors import JobError
from predict_graph.functions.child import Limits, run_in_child
from predict_graph.functions.forms import build
from predict_graph.functions.naming import check_function
from predict_graph.functions.predictor import predict_function
from predict_graph.functions.subject import check_subject
from predict_graph.graph import check_graph
from predict_graph.history import History

pytestmark = pytest.mark.slow  # measures, waits, and starts processes

PREFERENTIAL = "barabasi-albert:n={n},m=4,seed=2"


def truth(name: str, text: str) -> float:
    function = check_function(name)
    run = run_in_child(
        lambda: build(check_graph(text), function.form), function, Limits(wall=120.0)
    )
    assert run.done
    return run.seconds


def test_a_function_of_one_loop_is_predicted_by_the_first_part_of_its_run() -> None:
    text = PREFERENTIAL.format(n=1300)
    said = predict_function(
        "networkx:closeness_centrality", text, budget="0.7s", history="none", seed=1
    )
    sources = {each.source: each for each in said.evidence}
    seconds = truth("networkx:closeness_centrality", text)
    assert 0.4 * seconds < said.processor_seconds < 2.5 * seconds
    assert said.runtime_seconds.low < said.runtime_seconds.predicted < said.runtime_seconds.high
    assert sum(each.weight for each in said.evidence) == pytest.approx(1.0)
    assert "<table>" in said._repr_html_()
    assert sources.keys() <= {"samples", "prefix", "run"}
    assert said.fits
    assert said.overhead_seconds < 3.0


def test_a_run_that_is_cheap_is_done() -> None:
    said = predict_graph.predict(
        nx.closeness_centrality, nx.barabasi_albert_graph(150, 3, seed=1), history="none"
    )
    assert [each.source for each in said.evidence] == ["run"]
    assert said.convert_seconds.predicted == 0.0  # the graph is networkx's already


def test_keywords_go_to_the_function_and_the_graph_stays() -> None:
    graph = nx.barabasi_albert_graph(200, 3, seed=1)
    edges = sorted(graph.edges)
    said = predict_graph.predict(
        nx.community.louvain_communities, graph, seed=1, resolution=1.2, history="none"
    )
    assert said.function["arguments"] == {"seed": 1, "resolution": 1.2}
    assert said.seed == 1
    assert sorted(graph.edges) == edges


def test_runs_on_other_graphs_are_learned_from(tmp_path: Path) -> None:
    history = History(tmp_path / "runs.sqlite")
    for n in (2100, 2800):
        text = PREFERENTIAL.format(n=n)
        graph = build(check_graph(text), "networkx")
        predict_graph.track(
            "networkx:load_centrality", graph.subgraph(range(n // 2)).copy(), history=history
        )
    said = predict_function(
        "networkx:load_centrality", PREFERENTIAL.format(n=1600), history=history, seed=1
    )
    assert len(history.runs(algorithm="networkx:load_centrality", kind="run")) == 2
    assert len(history.runs(kind="sample")) >= 1
    assert any("2 on other graphs" in each.detail for each in said.evidence)


def test_a_function_that_wants_a_connected_graph() -> None:
    graph = nx.watts_strogatz_graph(900, 6, 0.2, seed=1)
    said = predict_function(
        nx.average_shortest_path_length, graph, history="none", seed=1, budget="0.3s"
    )
    assert said.processor_seconds > 0


def test_arguments_that_are_vertices_are_in_every_sample() -> None:
    def from_one(graph: nx.Graph, source: int) -> int:
        total = 0
        for _ in range(30):
            total += len(nx.single_source_shortest_path_length(graph, source))
        return total

    said = predict_function(
        from_one,
        PREFERENTIAL.format(n=3000),
        keywords={"source": 2999},
        history="none",
        seed=1,
        budget="0.1s",
    )
    assert all(row.state == "done" for row in said.samples)
    assert {row.sampler for row in said.samples} <= {"mhrw", "rj"}


def test_a_function_that_always_fails_says_so() -> None:
    def wants_weights(graph: nx.Graph) -> float:
        return sum(data["weight"] for _, _, data in graph.edges(data=True))

    with pytest.raises(JobError, match="KeyError: 'weight'"):
        predict_function(wants_weights, PREFERENTIAL.format(n=500), history="none")


def summed(graph: nx.Graph) -> float:
    return float(sum(data["length"] for _, _, data in graph.edges(data=True)))


def test_what_a_function_raises_on_samples_is_named() -> None:
    def refuses_large_ones(graph: nx.Graph) -> None:
        if len(graph) > 100:
            raise ValueError("too large for this")

    graph = nx.barabasi_albert_graph(1500, 3, seed=1)
    with pytest.raises(JobError, match="KeyError: 'length'"):
        predict_function(summed, graph, history="none", seed=1)
    with pytest.raises(JobError, match="fails on networkx: ValueError: too large for this"):
        predict_function(refuses_large_ones, graph, history="none", seed=1)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_parallel_edges_and_attributes_are_kept(kind: Any) -> None:
    graph = kind(name="streets", crs="epsg:4326")
    for one, other in nx.barabasi_albert_graph(400, 3, seed=2).edges:
        for length in (1.0, 2.0):
            graph.add_edge(one, other, length=length)
    nx.set_node_attributes(graph, 7, "height")
    subject = check_subject(check_function(summed), graph, directed=None, ids="integer", seed=1)
    rng = np.random.default_rng(1)
    cases = [subject.sample(each, 100, rng, connected=False) for each in subject.samplers]
    for case in [*cases, subject.whole(np.arange(400)[::-1])]:
        made = case.build()
        assert type(made) is kind
        assert made.graph["crs"] == "epsg:4326"
        assert set(nx.get_node_attributes(made, "height").values()) == {7}
        assert all(
            made.number_of_edges(*ends) == graph.number_of_edges(*ends) for ends in made.edges()
        )
        assert case.call(made) == summed(made) > 0.0


def test_attributes_of_igraph_are_kept() -> None:
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph.Barabasi(400, 3)
    graph.add_edges(graph.get_edgelist()[:600])
    graph.vs["name"] = [f"v{vertex}" for vertex in range(400)]
    graph.es["ends"] = [{f"v{vertex}" for vertex in edge.tuple} for edge in graph.es]

    def ends(graph: igraph.Graph, source: str) -> list[set[str]]:
        near = graph.es[graph.incident(source)]
        assert all({graph.vs[v]["name"] for v in edge.tuple} == edge["ends"] for edge in near)
        return [edge["ends"] for edge in near]

    function = check_function(ends, keywords={"source": "v7"}, graph=graph)
    subject = check_subject(function, graph, directed=None, ids="integer", seed=1)
    rng = np.random.default_rng(1)
    part = subject.sample("mhrw", 200, rng, connected=False)
    assert all("v7" in each for each in part.call(part.build()))
    whole = subject.whole(np.arange(400)[::-1])
    assert sorted(map(sorted, whole.call(whole.build()))) == sorted(map(sorted, ends(graph, "v7")))


def test_a_function_that_never_ends_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("predict_graph.functions.predictor._FIRST_PATIENCE", 0.2)

    def forever(graph: nx.Graph) -> None:
        while len(graph) > 60 or True:
            pass

    def slow_start(graph: nx.Graph) -> None:
        if len(graph) < 60 or graph.number_of_edges() > 60:
            forever(graph)

    with pytest.raises(JobError, match="did not come to its end on a sample of"):
        predict_function(slow_start, PREFERENTIAL.format(n=500), history="none")


def test_an_iterator_is_said_to_be_drawn() -> None:
    said = predict_function(
        "networkx:all_pairs_shortest_path_length", PREFERENTIAL.format(n=200), history="none"
    )
    assert any("returns an iterator" in text for text in said.warnings)


def loads(graph: nx.Graph) -> int:
    import antigravity_of_test

    return int(antigravity_of_test.SIZE) + len(graph)


def test_what_a_function_loads_is_loaded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each run on a sample would, and a budget of a second were spent on it."""
    log = tmp_path / "log"
    (tmp_path / "antigravity_of_test.py").write_text(
        f"import os, pathlib\nSIZE = 1\nwith pathlib.Path({str(log)!r}).open('a') as file:\n"
        "    print(os.getpid(), file=file)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    said = predict_function(loads, nx.barabasi_albert_graph(900, 3, seed=1), history="none", seed=1)
    assert len(said.samples) > 1
    assert len(log.read_text().split()) == 2  # of the first child, and of this process


def dear_where_hubs_are(graph: nx.Graph) -> float:
    return float(sum(heavy(20 * graph.degree(vertex) ** 2) for vertex in graph))


def test_samples_are_gone_through_in_an_order_like_that_of_the_run() -> None:
    """A loop over a preferential graph in its own order would seem to get cheaper, hubs first."""
    function = check_function(dear_where_hubs_are)
    graph = check_graph("barabasi-albert:n=3000,m=4,seed=1")
    for given in (graph, build(graph, "networkx")):
        subject = check_subject(function, given, directed=None, ids="integer", seed=1)
        for sampler in subject.samplers:
            rng = np.random.default_rng(1)
            made = subject.sample(sampler, 600, rng, connected=False).build()
            degrees = np.array([degree for _, degree in made.degree()], dtype=float)
            first = degrees[: len(degrees) // 4].mean()
            assert 0.7 < first / degrees.mean() < 1.4, sampler


def test_tracking_returns_the_result_and_predicts_what_remains(capsys: Any) -> None:
    from predict_graph.functions.track import run_tracked

    graph = nx.barabasi_albert_graph(900, 4, seed=1)
    tracked = run_tracked(check_function(nx.betweenness_centrality), graph)
    assert tracked.result == nx.betweenness_centrality(graph)
    assert "took" in capsys.readouterr().err
    late = [said for said in tracked.said if said.elapsed > 0.6 * tracked.seconds]
    assert late
    wrong = [abs(said.total / tracked.seconds - 1.0) for said in late]
    assert math.fsum(wrong) / len(wrong) < 0.3
    assert [each.share for each in tracked.said] == sorted(each.share for each in tracked.said)


def two_loops(graph: nx.Graph) -> None:
    for _vertex in graph:
        heavy(150_000)
    left = 2
    while left:  # nothing tells how often
        heavy(150_000 * len(graph))
        left -= 1


def test_a_loop_that_is_over_says_no_more_of_what_remains() -> None:
    from predict_graph.functions.track import run_tracked

    tracked = run_tracked(check_function(two_loops), nx.path_graph(300), show=False)
    early = [said for said in tracked.said if said.elapsed < 0.3 * tracked.seconds]
    late = [said for said in tracked.said if said.elapsed > 0.7 * tracked.seconds]
    assert early
    assert not late


def test_an_iterator_is_a_list_or_how_many_there_were() -> None:
    from predict_graph.functions.track import run_tracked

    function, graph = check_function(nx.find_cliques), nx.path_graph(30)
    kept = run_tracked(function, graph, show=False)
    counted = run_tracked(function, graph, show=False, keep=False)
    assert kept.generator
    assert counted.generator
    assert sorted(map(sorted, kept.result)) == [[place, place + 1] for place in range(29)]
    assert counted.result == 29


def test_what_a_tracked_function_raises_comes_through() -> None:
    with pytest.raises(nx.NetworkXError, match="not connected"):
        predict_graph.track(nx.diameter, nx.empty_graph(3), history="none")


def test_a_long_call_gets_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten minutes are too long for a test: what counts as long is made short."""
    monkeypatch.setattr("predict_graph.functions.predictor.LONG", 2.0)
    graph = nx.barabasi_albert_graph(1500, 4, seed=1)
    found = predict_graph.predict(nx.betweenness_centrality, graph, seed=1, history="none")
    assert found.runtime_seconds.predicted > 2.0
    (advice,) = [text for text in found.advice if text.startswith("k=")]
    assert "would take about" in advice
    assert ("instead", advice) in found.answer.facts
    assert found.to_dict()["advice"] == found.advice
    short = predict_graph.predict(nx.clustering, graph, seed=1, history="none")
    assert short.advice == []


def heavy(left: int) -> None:
    """Take half a second for twenty million, about."""
    while left:
        left -= 1


def vertex_by_vertex(graph: nx.Graph) -> None:
    for _vertex in graph:
        heavy(5000 * len(graph))


def test_a_loop_is_seen_for_a_little_where_samples_say_little() -> None:
    graph = nx.barabasi_albert_graph(600, 3, seed=1)
    said = predict_function(vertex_by_vertex, graph, history="none", seed=1)
    assert "prefix" in {each.source for each in said.evidence}


def one_loop_before_another(graph: nx.Graph) -> None:
    for _vertex in graph:
        heavy(3 * len(graph))
    for _vertex in graph:
        heavy(160 * len(graph))


def test_the_loop_before_the_one_that_takes_long_stops_nothing() -> None:
    graph = nx.barabasi_albert_graph(2000, 3, seed=1)
    said = predict_function(one_loop_before_another, graph, history="none", seed=1)
    assert {each.source: each.weight for each in said.evidence}.get("prefix", 0.0) > 0.5


def test_what_igraph_reports_is_tracked_and_its_handler_taken_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    igraph = pytest.importorskip("igraph")
    from predict_graph.functions.track import run_tracked

    handlers = []
    change = igraph.set_progress_handler
    monkeypatch.setattr(
        igraph, "set_progress_handler", lambda each: handlers.append(each) or change(each)
    )
    graph = igraph.Graph.Barabasi(4000, 4)
    tracked = run_tracked(check_function("igraph:betweenness"), graph, show=False)
    assert tracked.result == graph.betweenness()
    assert tracked.said
    assert tracked.said[-1].of.predicted == 1000.0
    assert abs(tracked.said[-1].total / tracked.seconds - 1.0) < 0.3
    assert len(handlers) == 2
    assert handlers[-1] is None


def test_what_there_is_already_is_no_work_for_the_garbage_collector_of_a_tracked_run() -> None:
    import gc

    counts = []

    def counting(graph: nx.Graph) -> None:
        counts.append(gc.get_freeze_count())

    assert gc.get_freeze_count() == 0
    predict_graph.track(counting, nx.path_graph(3), history="none")
    assert counts[0] > 10_000
    assert gc.get_freeze_count() == 0
    gc.freeze()  # as the user may have done, and what comes later is theirs to free
    try:
        predict_graph.track(counting, nx.path_graph(3), history="none")
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()
