"""Seconds carried over from a staged sample run, and probes."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from predict_graph.algorithms import check_algorithm
from predict_graph.engines import Workload
from predict_graph.engines.local import observed
from predict_graph.engines.local.observed import IterationProbe
from predict_graph.prediction.seconds.local import timed_sample, transfer_evidence
from predict_graph.table import Table

JOB = check_algorithm("connected-components")


def staged(work, whole_work):
    """A staged sample of so much work in each iteration, of which nothing is run."""
    own, whole = np.array(work), np.array(whole_work)
    run = SimpleNamespace(work=own, whole_work=whole, seconds=np.zeros(len(work)))
    return SimpleNamespace(run=run)


def carried(seconds, probed, *, sample_work, work):
    """Seconds of three iterations, of a sample run and probes of one superstep each.

    An iteration without senders takes 0.1 s in the sample, and 0.5 s of the graph.
    """
    probes = [IterationProbe(np.array([0.5 + s]), Table({}), idle_seconds=0.5) for s in probed]
    workload = Workload(JOB, 3, pd.DataFrame(), staged(sample_work, work))
    return transfer_evidence(workload, (np.array(seconds), 0.1), probes)


def test_data_from_far_away_makes_each_unit_of_work_dearer_by_the_same_time():
    job = {"sample_work": [10.0, 10.0, 1.0], "work": [100.0, 50.0, 0.0]}
    found = carried([1.1, 2.1, 0.1], [14.0] * 3, **job)
    # The first iteration: 1.0 s, so 10 s for ten times the work; the probe says 14: 4 s for 100.
    assert found.name == "sample run and probe"
    np.testing.assert_allclose(found.seconds, [0.5 + 14.0, 0.5 + 10.0 + 2.0, 0.5])


def test_between_a_sample_run_and_a_probe_that_says_less_is_the_middle():
    job = {"sample_work": [10.0, 10.0, 10.0], "work": [100.0, 100.0, 100.0]}
    found = carried([1.1, 4.1, 0.1], [2.5] * 3, **job)
    # The first iteration: 10 s for ten times the work of the sample, 2.5 by the probe.
    np.testing.assert_allclose(found.seconds, [0.5 + 5.0, 0.5 + 20.0, 0.5])
    assert found.relative_std > carried([1.1], [10.0] * 3, **job).relative_std


def test_of_several_supersteps_all_but_the_first_count():
    workload = Workload(JOB, 4, pd.DataFrame(), staged([1.0] * 3, [9.0, 10.0, 20.0]))
    probe = IterationProbe(np.array([77.0, 12.0, 24.0]), Table({}))
    found = transfer_evidence(workload, (np.ones(3), 0.0), [probe])
    np.testing.assert_allclose(found.seconds, [9 * 1.2, 12.0, 24.0, 24.0])


def test_without_probes_work_costs_what_it_does_in_the_sample():
    found = carried([1.1, 3.1], [], sample_work=[1.0, 2.0], work=[2.0, 2.0])
    assert found.name == "sample run"
    np.testing.assert_allclose(found.seconds, [2.1, 3.1, 3.1])
    assert found.relative_std > 0.2


def test_a_sample_run_is_repeated_for_its_least_seconds_until_that_is_enough(monkeypatch):
    told = iter([([0.1, 0.3], 0.2), ([0.3, 0.05], 0.1), ([0.0, 0.0], 0.0)])
    threads_seen = []

    def run(*arguments, threads, **options):
        threads_seen.append(threads)
        seconds, idle = next(told)
        return np.array(seconds), idle

    monkeypatch.setattr(observed, "timed_run", run)
    # Of runs, 0.4 s are not enough, and 0.75 are.
    seconds, idle = timed_sample(JOB, staged([1.0] * 2, [1.0] * 2), 3, lambda seconds: True)
    np.testing.assert_allclose(seconds, [0.1, 0.05])
    assert (idle, threads_seen) == (0.1, [3, 3])
