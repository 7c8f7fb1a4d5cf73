import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from predict_graph.prediction.seconds.cluster.record_sizes import record_sizes
from predict_graph.table import Table
from tests.predict_graph.prediction.seconds.cluster.made_up_cluster import cluster_run

# Supersteps of jobs on two workers, on samples, and of the real runs on four and six.
MEASURED = pd.read_csv(Path(__file__).with_name("measured_records.csv"))


def run_of(
    messages, records, written, *, sampler="folded", edges=100_000, cold=False, converged=False
):
    """A sample run on two workers with these supersteps."""
    run = cluster_run(10_000, edges, 2, iterations=len(messages))
    table = run.profile.table.copy()
    table["local_messages"] = 0.0
    for name, column in (
        ("remote_messages", messages),
        ("shuffle_write_records", records),
        ("shuffle_write_bytes", written),
    ):
        table[name] = np.repeat(np.asarray(column, float) / 2, 2)
    return dataclasses.replace(
        run,
        cold=cold,
        profile=dataclasses.replace(run.profile, rows=Table(table), converged=converged),
        summary=dataclasses.replace(run.summary, sampler=sampler),
    )


def sample_of(job, kind):
    rows = MEASURED[(MEASURED["job"] == job) & (MEASURED["run"] == kind)]
    return run_of(
        rows["messages"],
        rows["records"],
        rows["bytes"],
        sampler="brj" if kind == "walk" else "folded",
        edges=int(rows["edges"].iloc[0]),
        cold=kind == "folded",
        converged=len(rows) < 15 and not job.startswith("pagerank"),  # else it was cut short
    )


@pytest.mark.parametrize("job", MEASURED["job"].unique())
def test_bytes_of_measured_runs_on_more_machines_are_told_by_samples(job):
    runs = [sample_of(job, "folded"), sample_of(job, "walk")]
    for machines in ("4", "6"):
        real = MEASURED[(MEASURED["job"] == job) & (MEASURED["run"] == machines)]
        records = real["records"].to_numpy(float)
        messages = np.maximum(real["messages"].to_numpy(float), records)
        told = record_sizes(runs, len(real)).at(messages / np.maximum(records, 1.0))
        assert (told * records).sum() == pytest.approx(real["bytes"].sum(), rel=0.2)


def test_a_record_is_as_long_as_in_the_same_iteration_of_a_sample():
    records = 1e5 * 0.5 ** np.arange(9)
    run = run_of(2 * records, records, records * (4.0 + np.arange(9)))
    found = record_sizes([run], 8).at(np.full(8, 5.0))
    # From the sixth iteration on, half as many a time, come 3% of the records; then fewer.
    assert found == pytest.approx([4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 9.0, 9.0])
    nothing = run_of(2 * records, 0 * records, 0 * records)
    assert record_sizes([nothing], 3).at(np.full(3, 2.0)).tolist() == [0.0, 0.0, 0.0]


def test_a_walk_whose_messages_died_out_is_read_as_far_along_as_the_real_run():
    records = np.linspace(1e5, 6e4, 5)
    sizes = np.array([4.0, 8.0, 12.0, 16.0, 20.0])
    walk = run_of(2 * records, records, sizes * records, sampler="brj", converged=True)
    told = record_sizes([walk], 9).at(np.full(9, 2.0))
    assert told == pytest.approx(np.linspace(4.0, 20.0, 9))
    assert record_sizes([walk], 1).at(np.full(1, 2.0)) == pytest.approx([4.0])
    cut = dataclasses.replace(walk, profile=dataclasses.replace(walk.profile, converged=False))
    steady = run_of(np.full(5, 2e5), np.full(5, 1e5), sizes * 1e5, sampler="brj", converged=True)
    for sample in (cut, steady):
        found = record_sizes([sample], 9).at(np.full(9, 2.0))
        assert found == pytest.approx([*sizes, *[20.0] * 4])


@pytest.mark.parametrize(
    ("folded", "walk", "wanted"),
    [
        (20.0, 80.0, 10.0),  # messages side by side: four times as many, four times as long
        (20.0, 20.0, 20.0),  # added up
        (40.0, 20.0, 20.0),  # mixed neighbours compress less; that is no reason to shrink
        (20.0, 40.0, 40.0 * 0.125**0.5),  # between
        (2.0, 80.0, 10.0),  # never more than in proportion
    ],
)
def test_records_grow_with_the_messages_in_them_as_the_samples_show(folded, walk, wanted):
    runs = [
        run_of([200.0], [100.0], [100.0 * folded], cold=True),
        run_of([800.0], [100.0], [100.0 * walk], sampler="brj"),
    ]
    assert record_sizes(runs, 1).at(np.ones(1)) == pytest.approx([wanted])


def test_the_largest_walk_is_compared_with_the_folded_sample_of_its_own_session():
    def session(folded, walk, edges):
        return [
            run_of([200.0], [100.0], [100.0 * folded], cold=True, edges=500_000),
            run_of([800.0], [100.0], [100.0 * walk], sampler="brj", edges=edges),
        ]

    one, other = session(20.0, 80.0, 100_000), session(20.0, 20.0, 200_000)
    for runs in (one + other, other + one):
        assert record_sizes(runs, 1).at(np.ones(1)) == pytest.approx([20.0])
