"""What supersteps of GraphX exchange, told from sample runs whose bytes are known."""

import numpy as np
import pytest

from predict_graph.builtin.libraries import library_algorithm
from predict_graph.engines import RunProfile
from predict_graph.engines.profile import SampleSummary
from predict_graph.engines.spark.library.algorithm import rounds_of
from predict_graph.graph import check_graph
from predict_graph.prediction.seconds.cluster.library_work import bytes_read, library_rows
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.table import Table

PARTITIONS = 2
A_RECORD, AN_ENTRY, A_BLOCK = 20.0, 9.0, 150.0
AGAIN = 5.0  # bytes of a record that are read once more in the superstep after
FIRST = 1.5  # times as much in the first superstep


def read(rounds):
    """Bytes by the rule that is to be found."""
    bytes_ = AGAIN * rounds["records"].shift(fill_value=0)
    bytes_ += A_RECORD * rounds["records"] + AN_ENTRY * (rounds["entries"] - rounds["records"])
    bytes_ += A_BLOCK * PARTITIONS**2
    bytes_.iloc[0] *= FIRST
    return bytes_


def sample_run(algorithm, graph):
    rounds = rounds_of(algorithm, graph, PARTITIONS)
    half = read(rounds) / 2
    table = rounds[[]].assign(
        iteration=np.arange(1, len(rounds) + 1),
        worker=0,
        local_message_bytes=half,
        remote_message_bytes=half,
    )
    for name in ("records", "entries", "received", "shipped"):
        table[f"twin_{name}"] = rounds[name]
    engine = {"name": "spark", "cores": 1, "partitions_per_core": 1}
    profile = RunProfile(
        algorithm.name,
        algorithm.to_dict(),
        graph.describe(),
        engine,
        {},
        Table(table),
        np.full(len(rounds), np.nan),
        True,
        np.empty(0),
    )
    summary = SampleSummary("folded", 0.1, graph.vertices, graph.edges, len(rounds), 1.0, "cost")
    return ClusterRun(PARTITIONS, 0.1, False, 0.0, profile, summary)


@pytest.mark.parametrize(
    ("name", "parameters"), [("labelPropagation", {"maxSteps": 4}), ("connectedComponents", {})]
)
def test_bytes_of_records_and_of_entries_are_told_apart(name, parameters):
    algorithm = library_algorithm(f"graphx:{name}", parameters)
    graphs = [check_graph(f"rmat:scale={scale},edge_factor=6,seed=2") for scale in (7, 8)]
    runs = [sample_run(algorithm, graph) for graph in graphs]
    whole = check_graph("rmat:scale=11,edge_factor=6,seed=5")
    rows = library_rows(bytes_read(runs), algorithm, whole, 2, PARTITIONS, 2)
    rounds = rounds_of(algorithm, whole, PARTITIONS)
    told = (rows["local_message_bytes"] + rows["remote_message_bytes"]).to_numpy()
    assert told[1:].sum() == pytest.approx(read(rounds)[1:].sum(), rel=0.02)
    assert told[0] == pytest.approx(read(rounds)[0], rel=0.1)
    assert rows["remote_message_bytes"].sum() == pytest.approx(told.sum() / 2)
    assert rows["merged"].sum() == rounds["merged"].sum() / 2
    sent = rows["local_messages"] + rows["remote_messages"]
    assert sent.tolist() == rounds["messages"].tolist()
