"""Which source is bought: by what the run is expected to take on its engine, and by memory."""

import itertools
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from predict_graph import predict
from predict_graph.algorithms import check_algorithm
from predict_graph.budget import Spending
from predict_graph.cores import Load, LoadMeter
from predict_graph.deadline import StopRun, deadline, time_left
from predict_graph.engines import per_iteration
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import check_graph
from predict_graph.iterations.whole_run import checked, continued, whole_run_estimates
from predict_graph.prediction import sources
from predict_graph.prediction.baseline import Baseline
from predict_graph.prediction.case import Case
from predict_graph.prediction.request import check_request

GRAPH = check_graph("rmat:scale=10,edge_factor=8,seed=1")
ENGINE = LocalEngine()
SPARK = SparkEngine("spark://127.0.0.1:9", 2, memory="1g")


def case(compiled, run, **options):
    """The case of a run of so many seconds, that takes so many compiled."""
    request = check_request("pagerank", engine=SPARK, **options)
    found = Case(GRAPH, request, None, Spending(request.budget, run))
    vars(found)["baselines"] = [Baseline(request.algorithm, 10.0, 0.0, compiled, 0, 0.3, True)]
    return found


def runs_in_full(found):
    return found.spending.affords(sources.FullRun().cost(found, []))


def test_a_full_run_stops_at_its_deadline():
    """In the middle of a superstep, too, and in the run before it in a chain."""
    for name in ("pagerank", "topk-ranking"):
        algorithm = check_algorithm(name)
        with deadline(lambda: 1e9):
            whole = ENGINE.run(algorithm, GRAPH)
        assert not whole.stopped
        assert len(whole_run_estimates(whole)) == len(check_request(algorithm).chain)
        iterations = set()
        for looks in range(11):
            left = itertools.chain([1e9] * looks, itertools.repeat(0.0))
            with deadline(left.__next__):  # says at so many looks that enough is left, then none
                stopped = ENGINE.run(algorithm, GRAPH)
            assert stopped.stopped
            assert stopped.algorithm == "pagerank"
            iterations.add(stopped.iterations)
        assert {0, 1} <= iterations


def test_a_run_that_this_machine_made_faster_is_offered():
    found, unread = (
        predict("pagerank", GRAPH, engine=SPARK, history="none", budget=budget)
        for budget in (None, 0)
    )
    assert found.runtime_seconds.predicted > 2.0
    (alternative,) = found.advice
    assert re.fullmatch(r"on this machine alone it took \S+ m?s \(--engine local\)", alternative)
    assert not unread.advice
    assert not predict("pagerank", GRAPH, history="none").advice


def stopped_after(supersteps):
    """Replace the full run by one that is stopped."""

    def stopped(_, case):
        found = LocalEngine().run(case.request.algorithm, case.graph, max_iterations=supersteps)
        return replace(found, stopped=True, converged=False)

    return stopped


@pytest.mark.parametrize("engine", [SPARK, ENGINE])
def test_samples_are_taken_beside_a_run_that_was_stopped(monkeypatch, engine):
    monkeypatch.setattr(sources.FullRun, "run", stopped_after(4))
    found = predict("pagerank", GRAPH, engine=engine, seed=1, budget="10s")
    assert 4 < found.iterations.low < found.iterations.high
    assert found.samples[0].iterations == 4
    assert len(found.samples) > 1


@pytest.mark.parametrize("done", [2, 10])
@pytest.mark.parametrize("name", ["neighborhood", "connected-components", "topk-ranking"])
def test_without_samples_a_stopped_run_is_continued(monkeypatch, name, done):
    """What was counted is exact, and later supersteps take what the first ones show of them."""
    mesh = check_graph("grid:rows=40,columns=40")
    whole = ENGINE.run(check_algorithm(name), mesh)
    monkeypatch.setattr(sources.FullRun, "run", stopped_after(done))
    monkeypatch.setattr(sources, "affordable_levels", lambda *given: [])
    found = predict(name, mesh, seed=1)
    assert found.evidence[0].source == "first supersteps"
    assert done < found.iterations.low < found.iterations.predicted < found.iterations.high
    messages = [
        rows.floats("local_messages", "remote_messages")
        for rows in (found.rows, per_iteration(whole.rows))
    ]
    assert messages[0][:done] == pytest.approx(messages[1][:done])
    assert messages[0][done:].max() <= messages[1][:done].max()
    seconds = found.per_iteration["seconds"].to_numpy()
    assert seconds[done:].max() <= seconds[:done].max() * 1.01
    assert found.phases["superstep"] >= seconds.sum()


def test_a_steady_run_that_was_stopped_may_slow_down(monkeypatch):
    monkeypatch.setattr(sources.FullRun, "run", stopped_after(5))
    monkeypatch.setattr(sources, "affordable_levels", lambda *given: [])
    found = predict("pagerank", "barabasi-albert:n=5000,m=1,seed=1", parameters={"epsilon": 1e-5})
    assert found.iterations.contains(58)  # as many as it takes; 26 to 57 was said


class Passing:
    """A deadline that passes when it has been looked at so many times, and not by a clock."""

    def __init__(self, monkeypatch, looks):
        self.looks = looks
        self.left = 0
        monkeypatch.setattr(sources.FullRun, "cost", lambda *given: math.inf)
        monkeypatch.setattr(Spending, "left_at_most", property(self._look))
        monkeypatch.setattr(Spending, "affords", lambda spending, seconds: seconds < math.inf)

    def _look(self, spending):
        self.left += 1
        return 1e9 if self.left <= self.looks else 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pagerank", "neighborhood", "topk-ranking", "k-core"])
def test_a_prediction_is_put_together_wherever_its_deadline_passes(monkeypatch, name):
    """In the setup, in any sample and in any probe."""
    looks, sources_used = 0, set()
    while True:
        passing = Passing(monkeypatch, looks)
        found = predict(name, GRAPH, seed=1, budget="5s")
        assert found.iterations.low <= found.iterations.predicted <= found.iterations.high
        assert 0.0 < found.runtime_seconds.low <= found.runtime_seconds.high
        sources_used.add(found.evidence[-1].source)
        if passing.left <= looks:  # it did not pass
            break
        assert passing.left - looks <= 60  # what is left to do does not go on for long
        looks = max(looks + 1, int(looks * 1.3))
    assert sources_used > {"baseline estimate"}


def test_iterations_are_sampled_where_no_superstep_is_affordable_beside(monkeypatch):
    """A graph of 65 million edges had baseline iterations, 78% off, in a budget of 2 seconds."""
    monkeypatch.setattr(sources.FullRun, "cost", lambda *given: math.inf)
    monkeypatch.setattr(sources, "survey_seconds", lambda case, level: math.inf)
    found = predict("pagerank", GRAPH, seed=1)
    assert found.method["name"] == "completion"
    assert [each.source for each in found.evidence] == ["baseline estimate"]


def test_a_sample_that_is_stopped_leaves_the_smaller_one(monkeypatch):
    """With --within, samples grow: one that does not end in time once undid what there was."""
    estimated = sources.estimates_of
    calls = []

    def once(*given):
        calls.append(given)
        if len(calls) > 1:
            raise StopRun
        return estimated(*given)

    Passing(monkeypatch, 10**9)
    monkeypatch.setattr(sources, "load_compiled", lambda *given: None)
    monkeypatch.setattr(sources, "estimates_of", once)
    found = predict("neighborhood", GRAPH, seed=1, budget="5s", within="0.1%")
    assert len(calls) > 1
    assert found.method["name"] == "rooted"


@pytest.mark.parametrize(("budget", "stops"), [("5s", True), ("0.001s", False)])
def test_what_is_named_has_a_deadline_unless_the_budget_is_too_small_for_it(
    monkeypatch, budget, stops
):
    estimated, left = sources.estimates_of, []

    def looking(*given):
        left.append(time_left())
        return estimated(*given)

    monkeypatch.setattr(sources, "load_compiled", lambda *given: None)
    monkeypatch.setattr(sources, "estimates_of", looking)
    options = {"seed": 1, "budget": budget, "probe": True}
    assert predict("pagerank", GRAPH, **options).method["name"] != "baseline estimate"
    assert [math.isfinite(each) for each in left] == [stops]


@pytest.mark.parametrize("fits", [None, False])
def test_no_compiled_run_is_bought_that_may_not_fit(monkeypatch, fits):
    monkeypatch.setattr(sources, "peak_memory", lambda *given, **more: SimpleNamespace(fits=fits))
    assert not runs_in_full(case(0.1, 100.0, budget="none"))


def test_on_a_busy_machine_less_is_affordable(monkeypatch):
    found = []
    for load in (Load(), Load(waited=0.9)):
        monkeypatch.setattr(LoadMeter, "read", lambda meter, since=None, load=load: load)
        here = case(1.0, 100.0, budget="2s")
        found.append((sources.cost_of_samples(here, 0.6), runs_in_full(here)))
    assert found[1][0] == pytest.approx(10.0 * found[0][0])
    assert [bought for _, bought in found] == [True, False]


def test_samples_for_another_engine_are_as_large_as_the_budget_affords():
    cases = [case(1e9, run, budget="5%") for run in (0.01, 1e4)]
    levels = [sources.affordable_levels(each) for each in cases]
    assert levels == [[sources.LEVELS[0]], [cases[0].request.max_overhead]]


CITING = np.repeat(np.arange(20_000), 8)
CITED = (np.random.default_rng(1).random(160_000) * CITING).astype(int)
NEAR = (CITING + np.tile(range(1, 9), 20_000)) % 20_000
NEAR = np.where(np.arange(160_000) % 20, NEAR, np.random.default_rng(2).permutation(NEAR))
UNLIKE_SAMPLES = {
    **dict.fromkeys(("pagerank", "personalised-pagerank"), np.column_stack((CITING, NEAR))),
    "topk-ranking": np.column_stack((CITING, CITED))[8:],
    "label-propagation": "path:n=20000",
}


@pytest.mark.parametrize("probe", [None, False])
@pytest.mark.parametrize("name", UNLIKE_SAMPLES)
def test_samples_that_mix_faster_than_the_graph_are_found_out(name, probe):
    graph = check_graph(UNLIKE_SAMPLES[name], directed=False if name[0] == "l" else None)
    job = check_algorithm(name, {"epsilon": 1e-4} if "pagerank" in name else {})
    truth = ENGINE.run(job, graph)
    found = predict(job, graph, ratio=0.1, probe=probe, history="none", seed=1)
    assert found.iterations.contains(truth.iterations)
    if probe is None and name == "pagerank":  # six supersteps show how fast
        assert found.iterations.predicted == pytest.approx(truth.iterations, rel=0.3)
        assert found.rows.floats("convergence")[:6] == pytest.approx(truth.convergence[:6])


def test_samples_that_mix_like_the_graph_are_believed():
    job = check_algorithm("pagerank")
    curve = ENGINE.run(job, GRAPH).convergence
    (own,) = sources.estimates_of(GRAPH, check_request(job, ratio=0.1, seed=1).chain)
    found = checked(own, job, curve[:4], GRAPH)
    assert (found.low, found.iterations, found.high) == (max(own.low, 5), own.iterations, own.high)
    few = replace(own, crossing=2.5, iterations=3, low=2, high=3)
    assert checked(few, check_algorithm("neighborhood"), np.ones(4), GRAPH).high == 500
    one = ENGINE.run(job, GRAPH, max_iterations=1)
    assert continued(own, job, one, GRAPH).iterations == own.iterations
    rising = replace(ENGINE.run(job, GRAPH, max_iterations=2), convergence=np.array([1.0, 2.0]))
    alike = checked(replace(own, curve=np.ones(own.iterations)), job, np.ones(2), GRAPH)
    assert alike.iterations == own.iterations  # the samples do not converge at first, either
    for each in (own, replace(own, samples=[])):
        assert continued(each, job, rising, GRAPH).high == 500
    ended = checked(own, job, curve, GRAPH)
    assert ended.low == ended.iterations == ended.high == len(curve)
    limited = predict(check_algorithm("pagerank", {"max_iterations": 2}), GRAPH, ratio=0.1)
    assert [*limited.iterations, len(limited.per_iteration)] == [2, 2, 2]


@pytest.mark.parametrize("limit", [6, 500])
def test_samples_that_have_ended_at_once_do_not_end_a_run_that_goes_on(limit):
    job = check_algorithm("pagerank", {"epsilon": 1e-7, "max_iterations": limit})
    found = predict(job, "path:n=900", directed=False, ratio=0.1, history="none", seed=1)
    assert found.iterations.high == limit  # the run takes 62
    assert any("limit" in text for text in found.warnings) is (limit == 6)
