"""Runs that are followed: callback, what was expected, and the command line."""

import json
from dataclasses import replace
from functools import partial
from time import perf_counter
from types import SimpleNamespace

import pytest

import predict_graph
from predict_graph import stopwatch
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from tests.refusals import refused

GRAPH = "rmat:scale=10,edge_factor=8,seed=1"


def followed(algorithm, graph=GRAPH, **options):
    """Run an algorithm; return its profile, and what a callback heard of it."""
    heard = []
    return predict_graph.run(algorithm, graph, progress=heard.append, **options), heard


def test_a_callback_hears_of_every_superstep():
    profile, heard = followed("pagerank")
    assert [each.state for each in heard] == ["before", *["running"] * profile.iterations, "ended"]
    assert [each.done for each in heard[1:-1]] == list(range(1, profile.iterations + 1))
    assert [each.aggregate for each in heard[1:-1]] == list(profile.convergence)
    assert all(each.remaining is not None for each in heard)
    assert all(each.first == heard[0].first for each in heard)
    assert heard[0].by == "baseline estimate"
    assert sorted(each.elapsed for each in heard) == [each.elapsed for each in heard]


def test_a_graph_in_memory_is_not_read_again():
    graph = replace(check_graph(GRAPH), read_seconds=1000.0)
    found = predict_graph.predict("pagerank", graph, history="none", seed=1)
    _, heard = followed("pagerank", graph, history="none", expect=found)
    assert heard[0].first == found.runtime_seconds.predicted > 1000.0
    assert heard[0].remaining.predicted < 500.0


class Closing(LocalEngine):
    """An engine that has something to close after its runs, as Spark has."""

    def run(self, *args, **options):
        profile = super().run(*args, **options)
        stopwatch.time.closing += 1000.0
        return profile


def test_closing_is_no_part_of_a_run(monkeypatch):
    clock = SimpleNamespace(closing=0.0, perf_counter=lambda: perf_counter() + clock.closing)
    monkeypatch.setattr(stopwatch, "time", clock)
    _, heard = followed("pagerank", engine=Closing(), history="none")
    assert heard[-1].elapsed - heard[-2].elapsed < 500.0


def test_a_callback_hears_of_both_runs_of_a_chain():
    profile, heard = followed("topk-ranking")
    ran = [each.algorithm for each in heard if each.state == "running"]
    assert ran == ["pagerank"] * profile.prior.iterations + ["topk-ranking"] * profile.iterations


def test_an_earlier_run_says_how_many_supersteps(history):
    profile = predict_graph.run("connected-components", GRAPH, history=history)
    _, heard = followed("connected-components", history=history)
    assert heard[0].by == "earlier runs of this graph"
    assert all(each.of.predicted == profile.iterations for each in heard[1:])


def test_a_prediction_is_where_it_starts():
    found = predict_graph.predict("pagerank", GRAPH, seed=1, budget="none")
    for expect in (found, found.to_dict()):
        _, heard = followed("pagerank", expect=expect)
        assert heard[0].first == found.runtime_seconds.predicted
        assert heard[1].of.predicted == pytest.approx(found.iterations.predicted, abs=2)


def test_what_is_expected_of_another_run_is_refused():
    document = predict_graph.predict("pagerank", GRAPH, seed=1).to_dict()
    call = {"algorithm": "pagerank", "graph": GRAPH, "expect": document, "progress": lambda _: None}
    run, epsilon = partial(predict_graph.run, **call), {"epsilon": 0.5}
    said = "of the algorithm pagerank, but the run has neighborhood"
    refused(said, run, algorithm="neighborhood")
    refused("of the number of vertices 1024, but the run has 512", run, graph="rmat:scale=9,seed=1")
    refused("of the parameter epsilon 0.001, but the run has 0.5", run, parameters=epsilon)
    refused("of the threads", run, threads=7)
    refused("expect is not a prediction of an algorithm", run, expect={"schema": 1})
    refused("there is no file nowhere.json", run, expect="nowhere.json")
    refused("expect is read where progress is given", run, progress=None)


def test_the_command_line_writes_events_and_a_last_line(program, tmp_path):
    expected, events = tmp_path / "expected.json", tmp_path / "events.ndjson"
    program("predict", "pagerank", GRAPH, "--seed", "1", "--json", expected, status=0)
    ran = program("run", "pagerank", GRAPH, "--expect", expected, "--events", events, status=0)
    first = json.loads(expected.read_text())["runtime_seconds"]["predicted"]
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    kinds = [line["event"] for line in lines]
    assert (kinds[0], kinds[-1]) == ("start", "end")
    assert set(kinds[1:-1]) == {"superstep"}
    assert {line["first_prediction_seconds"] for line in lines} == {first}
    last = ran.lines[-1]
    assert last.startswith("pagerank took ")
    assert "; the first prediction was " in last
    assert str(expected) in last
