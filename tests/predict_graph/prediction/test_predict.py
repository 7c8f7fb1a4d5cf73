"""Predicting, running and comparing, end to end."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import predict_graph
from predict_graph.calibration import usual_of
from predict_graph.engines import COUNTERS, PHASES
from predict_graph.graph import check_graph
from predict_graph.history import History
from predict_graph.intervals import Interval
from predict_graph.reports.json_output import to_json
from tests.graphs import graphs
from tests.refusals import refused

GRAPH = "rmat:scale=12,edge_factor=8,seed=3"
PER_RUN = ("features_total", "per_iteration", "processor_seconds")
FIELDS = {
    *("schema", "algorithm", "graph", "engine", "seed", "iterations", "runtime_seconds", "phases"),
    *("samples", "cost_model", "evidence", "overhead", "warnings", *PER_RUN),
}


def predict(graph=GRAPH, *, seed=1, method="completion", **options):
    return predict_graph.predict("pagerank", graph, seed=seed, method=method, **options)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A history that a comparison is the first to use."""
    return History(tmp_path_factory.mktemp("kept") / "history.sqlite")


@pytest.fixture(scope="module")
def comparison(kept):
    return predict_graph.validate("pagerank", GRAPH, history=kept, seed=1, method="completion")


@given(
    graph=graphs(),
    way=st.sampled_from(
        [{"method": "completion"}]
        + [{"method": "published", "sampler": name} for name in ("brj", "rj", "mhrw", "rwr")]
    ),
    probe=st.booleans(),
    dangling=st.sampled_from(["uniform", "drop"]),
)
def test_any_small_graph(graph, way, probe, dangling):
    is_whole(predict(graph, **way, probe=probe, parameters={"dangling": dangling}))


def is_whole(found):
    assert found.iterations.low <= found.iterations.predicted <= found.iterations.high
    runtime = found.runtime_seconds
    assert 0 < runtime.low <= runtime.predicted <= runtime.high < float("inf")
    assert len(found.per_iteration) == found.iterations.predicted
    assert np.isfinite(found.per_iteration.to_numpy(float)).all()
    assert (found.per_iteration[list(COUNTERS)] >= 0).all(axis=None)
    assert runtime.predicted == pytest.approx(sum(found.phases.values()))
    assert found.phases["superstep"] == pytest.approx(found.per_iteration["seconds"].sum())
    assert all(isinstance(text, str) and "\n" not in text for text in found.warnings)
    assert sum(each.weight for each in found.evidence) == pytest.approx(1.0)
    assert all(each.seconds >= 0.0 and each.log_std > 0.0 for each in found.evidence)
    json.loads(to_json(found.to_dict()))


def test_the_whole_prediction(comparison):
    found = comparison.prediction
    is_whole(found)
    assert tuple(found.phases) == PHASES
    assert found.overhead_seconds > 0
    assert {sample.purpose for sample in found.samples} == {"iterations"}


def test_it_is_near_the_truth_and_the_run_is_kept(comparison, kept):
    errors = comparison.errors()
    assert comparison.prediction.evidence[0].source == "probe"
    assert kept.runs(kind="run")["iterations"].tolist() == [comparison.actual.iterations]
    assert abs(comparison.prediction.iterations.predicted - comparison.actual.iterations) <= 1
    assert comparison.inside()["iterations"]
    # PageRank sends the same in every iteration: the counters are wrong by what the number is.
    for name in ("active_vertices", "local_messages", "remote_messages"):
        assert errors["features_total"][name] == pytest.approx(errors["iterations"], abs=0.03)


def test_the_dictionary_has_every_field(comparison):
    found = comparison.to_dict()
    assert set(found) >= FIELDS | {"actual", "errors"}
    assert found["schema"] == 2
    assert set(found["graph"]) == {"name", "vertices", "edges", "directed", "fingerprint", "notes"}
    assert all(isinstance(value, int) for value in found["iterations"].values())
    assert list(found["phases"]) == list(PHASES)
    each, real = (one["per_iteration"][0] for one in (found, found["actual"]))
    assert {"iteration", "seconds", *COUNTERS} < set(each) == set(real)
    of_sample = {"sampler", "ratio", "vertices", "edges", "iterations", "seconds"}
    assert of_sample <= set(found["samples"][0])
    assert {"name", "terms", "r2"} <= set(found["cost_model"])
    assert {"seconds", "fraction_of_predicted"} <= set(found["overhead"])
    actual, errors = found["actual"], found["errors"]
    assert set(actual) == {"iterations", "runtime_seconds", "phases", "peak_memory_bytes", *PER_RUN}
    assert len(actual["per_iteration"]) == actual["iterations"]
    ratio = found["runtime_seconds"]["predicted"] / actual["runtime_seconds"]
    assert errors["runtime_seconds"] == pytest.approx(ratio - 1.0)
    for name in COUNTERS:
        assert found["features_total"][name] == sum(row[name] for row in found["per_iteration"])
        assert errors["features_total"][name] is not None


def without_seconds(found):
    kept = found if isinstance(found, dict) else found.to_dict()
    if kept["prior"] is not None:
        kept["prior"] = without_seconds(kept["prior"])
    for name in ("runtime_seconds", "phases", "cost_model", "evidence", "overhead", "verdict"):
        del kept[name]
    for row in (*kept["per_iteration"], *kept["samples"]):
        del row["seconds"]
    del kept["engine"]["threads"], kept["engine"]["cores"]
    return kept


def test_earlier_runs_under_another_quota_are_no_evidence(history, monkeypatch):
    def source():
        return predict_graph.predict("pagerank", GRAPH, history=history).evidence[0].source

    predict_graph.run("pagerank", GRAPH, history=history)
    assert source() == "earlier runs of this graph"
    monkeypatch.setattr("predict_graph.engines.local.engine.cores_allowed", lambda: 0.3)
    assert source() != "earlier runs of this graph"


METHODS = [
    ("pagerank", "completion"),
    ("pagerank", "published"),
    ("neighborhood", "rooted"),
    ("neighborhood", "published"),
    ("semi-clustering", "rooted"),
    ("topk-ranking", "rooted"),
]


@pytest.mark.parametrize(("algorithm", "method"), METHODS)
def test_same_seed_same_prediction_whatever_the_threads(algorithm, method):
    def found(**options):
        return without_seconds(predict_graph.predict(algorithm, GRAPH, method=method, **options))

    first, second = (found(threads=threads, seed=5) for threads in (1, 2))
    assert first == second
    assert found(threads=1, seed=6) != first


def test_a_generator_without_a_seed_takes_that_of_the_request():
    one, two = (predict("rmat:scale=8", seed=4).graph["fingerprint"] for _ in range(2))
    assert one == two
    assert predict("rmat:scale=8", seed=5).graph["fingerprint"] != one


SOURCES = [
    ({}, {"probe": 1.0}, None),
    ({"probe": False}, {"regression": 1.0}, "forward-nnls"),
    ({"cost_model": "nnls"}, {"regression": 1.0}, "nnls"),
]


@pytest.mark.parametrize(("options", "sources", "model"), SOURCES)
def test_where_the_seconds_came_from_is_told(options, sources, model):
    """Measured on the graph, unless a cost model is named, which decides alone."""
    found = predict(**options)
    assert {each.source: each.weight for each in found.evidence} == sources
    assert found.phases["superstep"] == pytest.approx(found.evidence[-1].seconds)
    assert (found.cost_model["name"], found.cost_model["weight"]) == (model, float(bool(model)))
    (line,) = [line for line in str(found).splitlines() if line.startswith("estimated from: ")]
    named = [each.source.replace("probe", "first supersteps") in line for each in found.evidence]
    assert named == [*map(bool, sources.values())]
    fits = [text for name, text in found.answer.details if name == "cost model"]
    assert ["R²" in text for text in fits] == [True] * bool(model)


def test_a_short_run_is_predicted_by_the_run_itself():
    found = predict_graph.validate("pagerank", GRAPH, seed=1)
    prediction = found.prediction
    assert [each.source for each in prediction.evidence] == ["full local run"]
    assert prediction.iterations == Interval(*3 * (found.actual.iterations,))
    assert set(found.errors()["features_total"].values()) == {0.0}
    assert prediction.warnings == []  # those of samples do not concern it


@pytest.mark.parametrize("options", [{"budget": 0}, {"budget": "5%"}, {}, {"ratio": 0.3}])
@pytest.mark.parametrize("name", ["triangle-count", "k-core", "topk-ranking"])
def test_a_job_that_converges_is_not_said_to_stop_at_its_limit(name, options):
    found = predict_graph.predict(name, GRAPH, seed=1, **options)
    assert not [text for text in found.warnings if "stop at its limit" in text]


USUAL = int(usual_of("pagerank").iterations)


LIMITS = [(0, 5, True), ("0", USUAL, True), ("0s", USUAL + 1, False)]


@pytest.mark.parametrize(("budget", "limit", "said"), LIMITS)
def test_a_budget_of_nothing_measures_nothing_and_says_of_a_low_limit(budget, limit, said):
    options = {"parameters": {"max_iterations": limit}, "seed": 1, "budget": budget}
    found = predict_graph.predict(predict_graph.algorithms.PageRank, GRAPH, **options)
    assert found.method["name"] == "baseline estimate"
    assert found.samples == []
    assert found.iterations.predicted == min(limit, USUAL)
    assert any("stop at its limit" in text for text in found.warnings) is said


def test_overhead_can_be_capped():
    graph = check_graph("barabasi-albert:n=20000,m=5,seed=1")
    tight = predict(graph, max_overhead=0.1, probe=False)
    assert sum(s.edges for s in tight.samples if s.purpose == "cost") <= 0.1 * graph.edges
    assert not tight.more  # a larger budget would not raise the cap


def test_the_published_method_draws_its_samples_in_full():
    found = predict(method="published", ratio=0.1, train_ratios=[0.1, 0.2], sampler="rj")
    assert found.method["name"] == "published"
    costs = [sample for sample in found.samples if sample.purpose == "cost"]
    assert [round(sample.ratio, 2) for sample in costs] == [0.1, 0.2]
    assert {sample.sampler for sample in found.samples} == {"rj"}


# History


def test_runs_are_kept_and_learned_from(history):
    predict_graph.run("pagerank", "rmat:scale=11,seed=1", history=history)
    assert len(history) == 1
    assert predict(history=history, probe=False).cost_model["history_runs"] == 1
    # Runs of the graph itself are the answer, not the training.
    predict_graph.run("pagerank", GRAPH, history=history)
    assert predict(history=history, probe=False).cost_model["history_runs"] == 1


def test_a_run_from_other_vertices_is_no_evidence(history):
    """The ids of a path make no difference to its fingerprint, but to where its landmark is."""
    for first in (0, 7):
        path = [(v, v + 1) for v in range(first, first + 20)]
        for source in ("full local run", "earlier runs of this graph"):
            asked = {"parameters": {"landmarks": 12}, "history": history}
            found = predict_graph.predict("shortest-paths", path, **asked)
            assert found.evidence[0].source == source
            predict_graph.run("shortest-paths", path, **asked)


def test_a_history_may_be_a_path_and_is_made_by_the_first_run(tmp_path, monkeypatch):
    named, usual = (tmp_path / f"{name}.sqlite" for name in ("named", "usual"))
    monkeypatch.setenv("PREDICT_GRAPH_HISTORY", str(usual))
    for options in ({"history": str(named)}, {}, {"history": "none"}):
        predict_graph.run("pagerank", "star:n=20", **options)
    assert len(History(named)) == len(History(usual)) == 1


# Picture


def test_the_picture_shows_prediction_and_truth(comparison):
    pytest.importorskip("matplotlib")
    figure = comparison.plot()
    convergence, seconds = figure.axes[:2]
    labels = {line.get_label(): line for line in convergence.lines}
    assert {"predicted", "real"} <= set(labels)
    np.testing.assert_allclose(labels["real"].get_ydata(), comparison.actual.convergence)
    assert len(seconds.lines) == 2
    assert len(seconds.collections) == 1  # the band
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[2:] == ["Where the time goes", "Memory at the peak"]
    assert all(axes.get_xlabel() for axes in figure.axes)
    assert len(comparison.prediction.plot().axes[1].lines) == 1


# Chains, and undirected algorithms


def test_a_chain_adds_up_and_is_compared_part_by_part():
    found = predict_graph.validate("topk-ranking", GRAPH, method="rooted", seed=1)
    prediction, first = found.prediction, found.prediction.prior
    assert prediction.method["name"] == "rooted"
    assert abs(found.errors()["features_total"]["remote_message_bytes"]) < 0.25
    assert len(prediction.per_iteration) == prediction.iterations.predicted
    assert first.algorithm["name"] == "pagerank"
    assert prediction.phases["superstep"] > first.phases["superstep"]
    assert prediction.phases["read"] == first.phases["read"]  # the graph is read once
    runtime = prediction.runtime_seconds
    assert runtime.predicted == pytest.approx(sum(prediction.phases.values()))
    assert runtime.low < runtime.predicted < runtime.high
    assert prediction.to_dict()["prior"]["iterations"]["predicted"] > 0
    assert "includes pagerank" in str(prediction)
    assert abs(prediction.iterations.predicted - found.actual.iterations) <= 1
    written = found.to_dict()
    assert written["actual"]["prior"]["iterations"] == found.actual.prior.iterations
    assert abs(written["errors"]["prior"]["iterations"]) < 0.2


def test_each_run_of_a_chain_is_kept_by_itself(history):
    profile = predict_graph.run("topk-ranking", GRAPH, history=history)
    kept = history.runs()
    assert set(kept["algorithm"]) == {"pagerank", "topk-ranking"}
    spent = kept["seconds"].sum() - profile.phases["read"]
    assert spent == pytest.approx(profile.runtime_seconds, rel=1e-6)


@pytest.mark.parametrize("algorithm", ["connected-components", "semi-clustering"])
def test_directions_are_dropped_where_an_algorithm_has_no_use_for_them(algorithm):
    profile = predict_graph.run(algorithm, GRAPH)
    assert profile.graph["directed"] is False
    for function in (predict_graph.run, predict_graph.predict, predict_graph.validate):
        refused(f"{algorithm} ignores the direction", function, algorithm, GRAPH, directed=True)
    prediction = predict_graph.predict(algorithm, GRAPH, max_overhead=0.6, seed=0)
    assert prediction.graph["fingerprint"] == profile.graph["fingerprint"]
