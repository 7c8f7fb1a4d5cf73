"""Messages are sent in parts that fit in memory, and each receiver gets all of its own."""

import numpy as np
import pyarrow as pa
import pytest

from predict_graph.engines.spark.programs import spreading
from predict_graph.graph import check_graph


def largest(starts, senders, messages):
    """Combine messages, numbers of a byte, into the largest for each receiver."""
    values = np.frombuffer(b"".join(messages.to_pylist()), np.uint8)
    found = np.maximum.reduceat(values[senders[: starts[-1]]], starts[:-1])
    return pa.array([bytes([value]) for value in found], pa.binary())


@pytest.mark.parametrize("limits", [(1 << 27, 1 << 24), (300, 20)])
def test_each_receiver_gets_what_its_senders_send(monkeypatch, limits):
    monkeypatch.setattr(spreading, "_TAKEN_IN", limits[0])
    monkeypatch.setattr(spreading, "_GIVEN_OUT", limits[1])
    graph = check_graph("rmat:scale=6,edge_factor=4,seed=3")
    ids = np.flatnonzero(graph.out_degrees)[::-1]
    columns = {
        "id": ids,
        "targets": pa.array([graph.neighbors(v).tolist() for v in ids], pa.list_(pa.int64())),
        "message": pa.array([bytes([v]) for v in ids], pa.binary()),
    }
    batch = pa.RecordBatch.from_pydict(columns)
    heard = [[] for _ in range(graph.vertices)]
    sent = list(spreading._sent((batch.slice(at, 4) for at in range(0, len(batch), 4)), largest))
    for part in sent:
        for receiver, message in zip(*(column.to_pylist() for column in part), strict=True):
            heard[receiver].append(message[0])
    assert (len(sent) > 1) == (limits[0] == 300)
    incoming = [graph.reverse.neighbors(v).tolist() for v in range(graph.vertices)]
    assert [max(each, default=None) for each in heard] == [
        max(each, default=None) for each in incoming
    ]
