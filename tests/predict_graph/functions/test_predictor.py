"""Predictions of calls whose time is a formula: the same on any machine."""

import networkx as nx
import pytest

from tests.refusals import failed
from tests.steps import predict_by_formula

GRAPH = nx.barabasi_albert_graph(900, 3, seed=1)


def predicted(seconds, **options):
    """Predict a call that takes what a formula says."""
    return predict_by_formula(seconds, GRAPH, **options)


def power(seconds, exponent):
    """Return a time that grows with a power of the vertices."""
    return lambda vertices: seconds * vertices**exponent


CONSTANT, CUBE = power(0.4, 0), power(2e-7, 3)


@pytest.mark.parametrize("seconds", [CONSTANT, power(2.1, 0)])
def test_what_does_not_grow_is_not_scaled_by_vertices(seconds):
    """A sample that was stopped says that the run takes longer than that, and no more."""
    said = predicted(seconds).runtime_seconds
    assert said.low <= seconds(len(GRAPH)) <= said.high
    assert seconds(len(GRAPH)) / 1.5 < said.predicted < 1.5 * seconds(len(GRAPH))
    assert said.high / said.low < 10.0


def test_no_more_is_run_once_the_interval_is_as_narrow_as_asked():
    """The run itself would be affordable."""
    assert [each.source for each in predicted(CONSTANT).evidence] == ["run"]
    near = predicted(CONSTANT, within=1.0)
    assert [each.source for each in near.evidence] == ["samples"]
    runtime = near.runtime_seconds
    assert runtime.high - runtime.low <= 2.0 * runtime.predicted


def test_smaller_samples_follow_one_that_does_not_end():
    long_cube = power(2e-4, 3)
    said = predicted(long_cube)
    states = [row.state for row in said.samples]
    assert states[0] == "stopped"
    assert "done" in states
    assert said.runtime_seconds.low < long_cube(len(GRAPH)) < said.runtime_seconds.high
    failed(r"did not come to its end on a sample of .*larger budget", predicted, power(1e9, 0))


def test_where_the_smallest_sample_takes_all_smaller_ones_tell_how_it_grows():
    seconds = power(2.2e-6, 3)
    said = predicted(seconds)
    assert len({row.vertices for row in said.samples}) >= 3
    assert min(row.vertices for row in said.samples) < 60
    assert seconds(len(GRAPH)) / 3.0 < said.processor_seconds < 3.0 * seconds(len(GRAPH))


def test_a_run_that_outgrows_all_powers_may_not_finish():
    said = predicted(lambda n: 2.5e-8 * 2.0 ** min(n / 3, 900))
    assert "may not finish: it had not ended on a sample of" in said.verdict.sentence
    assert "its time may be exponential" in said.verdict.sentence
    assert said.to_dict()["verdict"]["may_not_finish"]
    assert said.overhead_seconds < 150.0
    assert max(row.vertices for row in said.samples) <= 300
    assert not predicted(CUBE).to_dict()["verdict"]["may_not_finish"]


def test_a_run_that_samples_say_nothing_of_is_tried():
    """As of all paths between two vertices, which samples do not connect."""
    said = predicted(lambda n: 1e9 if n == len(GRAPH) else 3e-4)
    assert "may not finish: it had not ended on the graph after" in said.verdict.sentence
    assert said.runtime_seconds.low > 1.0
