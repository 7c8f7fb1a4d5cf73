"""Jobs of which only the metrics of tasks are known: their iterations, and what they exchange.

``measured_exchanges.csv`` has runs of GraphFrames' PageRank to a tolerance ("ranks") and for ten
rounds ("rounds"), and of its label propagation, on Spark 3.5: of graphs, of folded ones and of walk
samples, with the measures of each and the records that were read from shuffles in the first two
supersteps.
"""

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from predict_graph.graph import check_graph
from predict_graph.prediction.seconds.cluster.exchanged_records import exchange_measures, exchanged
from predict_graph.prediction.seconds.cluster.folding import folded
from predict_graph.prediction.seconds.cluster.observed_functions import (
    observed_estimate,
    observed_rows,
)
from tests.predict_graph.prediction.made_up_cluster import cluster_run

MEASURED = pd.read_csv(Path(__file__).parent / "measured_exchanges.csv")
MEASURES = ["vertices", "edges", "combined", "combined_both"]
CASES = sorted(MEASURED[["job", "graph"]].drop_duplicates().itertuples(index=False, name=None))


def of(job, graph):
    found = MEASURED[(MEASURED["job"] == job) & (MEASURED["graph"] == graph)]
    return found[found["kind"] != "real"], found[found["kind"] == "real"]


@pytest.mark.parametrize(("job", "graph"), CASES)
@pytest.mark.parametrize("superstep", ["first", "second"])
def test_records_of_graphframes_jobs(job, graph, superstep):
    samples, real = of(job, graph)
    measures = list(samples[MEASURES].to_numpy(float))
    for _, run in real.iterrows():  # with two partitions, as the samples; and with four
        wanted = run[MEASURES].to_numpy(float)
        found = exchanged(measures, samples[superstep], wanted)
        assert found == pytest.approx(run[superstep], rel=0.1)


def walk_run(vertices, iterations):
    run = cluster_run(vertices, 10 * vertices, 2, iterations=iterations)
    return dataclasses.replace(
        run, summary=dataclasses.replace(run.summary, purpose="iterations", vertices=vertices)
    )


@pytest.mark.parametrize(
    ("graph", "most"), [("web-NotreDame", 0.1), ("soc-Epinions1", 0.15), ("rmat", 0.15)]
)
def test_iterations_of_graphframes_pagerank(graph, most):
    samples, real = of("ranks", graph)
    runs = []
    for _, row in samples[samples["partitions"] == 2].iterrows():
        run = cluster_run(int(row["vertices"]), int(row["edges"]), 2, iterations=row["iterations"])
        purpose = "iterations" if row["kind"].startswith("brj") else "cost"
        summary = dataclasses.replace(run.summary, purpose=purpose, vertices=int(row["vertices"]))
        runs.append(dataclasses.replace(run, summary=summary))
    truth = int(real["iterations"].iloc[0])
    estimate = observed_estimate(runs, SimpleNamespace(vertices=int(real["vertices"].iloc[0])))
    assert estimate.iterations == pytest.approx(truth, rel=most)
    assert estimate.low <= truth <= estimate.high


def test_samples_that_agree_are_taken_at_their_word():
    graph = check_graph("rmat:scale=16,edge_factor=16,seed=1")
    runs = [cluster_run(8_000, 80_000, 2), walk_run(4_000, 6), walk_run(8_000, 6)]
    estimate = observed_estimate(runs, graph)
    assert (estimate.iterations, estimate.low, estimate.high) == (6, 6, 7)
    differing = observed_estimate([*runs, walk_run(16_000, 9)], graph)
    assert differing.iterations > 9
    assert differing.low < differing.iterations
    assert any("6 to 9" in text for text in differing.warnings)


def test_a_job_that_sends_along_every_edge():
    graph = check_graph("rmat:scale=14,edge_factor=8,seed=1")
    rng = np.random.default_rng(0)
    runs = []
    for ratio in (0.1, 0.3):
        sample = folded(graph, ratio, rng)
        run = cluster_run(sample.vertices, sample.edges, 2)
        runs.append(dataclasses.replace(run, measures=exchange_measures(sample, 2)))
    walk = walk_run(sample.vertices, 6)
    rows = observed_rows([*runs, walk], graph, 6, 4, 4, 4)
    # Half a record an edge, in all six supersteps.
    assert rows["records"].to_numpy() == pytest.approx(0.5 * graph.edges / 4, rel=0.02)
    remote = rows["remote_message_bytes"] / (
        rows["remote_message_bytes"] + rows["local_message_bytes"]
    )
    assert remote.to_numpy() == pytest.approx(0.75)


def test_measures():
    graph = check_graph("rmat:scale=10,edge_factor=8,seed=1")
    vertices, edges, combined, both = exchange_measures(graph, 1)
    assert (vertices, edges) == (graph.vertices, graph.edges)
    assert combined == np.count_nonzero(graph.in_degrees)
    assert both == np.count_nonzero(graph.in_degrees + graph.out_degrees)
    assert exchange_measures(graph, 64)[2] > combined


def test_a_job_looked_at_what_it_exchanged_an_algorithm_at_every_edge():
    run = cluster_run(1000, 8000, 2, iterations=3, shrinking=True)
    assert run.edge_visits == 3 * 8000
    own = dataclasses.replace(run, measures=np.ones(5))
    exchanged_records = 8000 + 4000 + 2000
    assert own.edge_visits == pytest.approx(exchanged_records, abs=12)  # rounded on each worker
    assert dataclasses.replace(run, again=True).edge_visits == 0.0
