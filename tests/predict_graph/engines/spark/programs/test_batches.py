"""What the executors' Python does with batches, without Spark."""

import gc
import importlib.util
import sys
import zipfile
from functools import partial
from itertools import pairwise
from zipimport import zipimporter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predict_graph.algorithms import TopKRanking
from predict_graph.builtin.semi_clustering.batches import alone, without_copies
from predict_graph.builtin.topk_ranking import spark as topk_ranking
from predict_graph.builtin.topk_ranking.local import TopKRankingKernel
from predict_graph.engines.spark.programs import merging, spreading
from predict_graph.engines.spark.programs.packed import byte_rows, packed, packed_rows, words
from predict_graph.graph.build import from_edges


@st.composite
def graphs(draw):
    n = draw(st.integers(2, 24))
    m = draw(st.integers(1, 4 * n))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return from_edges(rng.integers(0, n, m), rng.integers(0, n, m), vertices=n)


def targets_of(graph):
    """Return the targets of each vertex, as Spark hands them over."""
    rows = [graph.neighbors(v).tolist() or None for v in range(graph.vertices)]
    return pa.array(rows, pa.list_(pa.int64()))


def delivered(targets, senders, messages, combine, partitions=3):
    """Send messages from several partitions, in batches of few; return what each vertex gets."""
    inboxes = [[] for _ in range(len(targets))]
    for partition in range(partitions):
        of_it = [v for v in senders if v % partitions == partition and targets[v].is_valid]
        ids = pa.array(of_it[::-1], pa.int64())  # in any order
        table = [ids, targets.take(ids), messages.take(ids)]
        batch = pa.record_batch(table, names=["id", "targets", "message"])
        batches = (batch.slice(at, 4) for at in range(0, len(batch), 4))
        for sent in spreading._sent(batches, combine):
            for receiver, message in zip(*(c.to_pylist() for c in sent.columns), strict=True):
                inboxes[receiver].append(message)
    return pa.array([inbox or None for inbox in inboxes], pa.list_(pa.binary()))


def merged(rows, inbox, merge):
    """Return rows after a superstep and which changed."""
    heard = inbox.is_valid().to_numpy(zero_copy_only=False)
    own = pa.array([row if there else None for row, there in zip(rows, heard, strict=True)])
    width = len(rows[0])
    received = pa.array([messages or [] for messages in inbox.to_pylist()], inbox.type)
    found = merging._received(own.cast(pa.binary()), received, width, merge, None)
    assert np.array_equal(found.field("row").is_valid().to_numpy(zero_copy_only=False), heard)
    following = [
        new if there else old
        for old, new, there in zip(rows, found.field("row").to_pylist(), heard, strict=True)
    ]
    return following, [v for v, new in enumerate(found.field("changed").to_pylist()) if new]


@pytest.mark.parametrize("budgets", [(1 << 27, 1 << 24), (300, 200)])
@given(graph=graphs(), k=st.integers(1, 4), seed=st.integers(0, 99))
@settings(max_examples=30)
def test_lists_merge_as_in_the_local_kernel(budgets, graph, k, seed):
    n = graph.vertices
    ranks = np.random.default_rng(seed).integers(0, 5, n) / 4.0  # many are equal
    kernel = TopKRankingKernel(TopKRanking(k=k), graph, None, ranks)
    targets = targets_of(graph)
    empty = topk_ranking._lists(np.array([-np.inf]), np.array([-1]), k)[0]
    combine = partial(merging._combined, empty=empty, merge=topk_ranking._merge)
    rows = topk_ranking._first(pa.array(np.arange(n)), pa.array(ranks), k).to_pylist()
    senders = range(n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spreading, "_TAKEN_IN", budgets[0])
        patch.setattr(spreading, "_GIVEN_OUT", budgets[1])
        for _ in range(6):
            inbox = delivered(targets, senders, pa.array(rows), combine)
            rows, senders = merged(rows, inbox, topk_ranking._merge)
            assert len(senders) / n == kernel.step().convergence
    vertices = topk_ranking._vertices(pa.array(rows), k)
    assert np.array_equal(np.array(vertices.to_pylist()), kernel.values)


def test_a_message_goes_once_to_a_receiver_however_many_send_it():
    ids, targets = pa.array([0, 1]), pa.array([[5, 7], [5, 7]])
    one = alone(pa.array([3]), pa.array([[4]], pa.list_(pa.int64())))
    same = pa.array([one[0].as_py(), one[0].as_py()])
    batch = pa.record_batch([ids, targets, same], names=["id", "targets", "message"])
    (sent,) = spreading._sent(iter([batch]), without_copies)
    assert sent.column("dst").to_pylist() == [5, 7]
    assert sent.column("message").to_pylist() == [one[0].as_py()] * 2


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4), min_size=1), st.data())
def test_words_survive_packing_and_slicing(values, data):
    starts = np.append(0, np.cumsum([8 * len(value) for value in values]))
    column = packed(starts, np.array([word for value in values for word in value], np.int64))
    first = data.draw(st.integers(0, len(values) - 1))
    for kind in (pa.binary(), pa.large_binary()):
        begin, found = words(column.cast(kind)[first:])
        assert [found[a:b].tolist() for a, b in pairwise(begin)] == values[first:]


def test_rows_survive_packing_and_slicing():
    rows = np.random.default_rng(1).integers(0, 256, (5, 16)).astype(np.uint8)
    assert np.array_equal(byte_rows(packed_rows(rows)[2:], 16), rows[2:])


def test_a_worker_does_not_read_zip_files_anew_before_each_task(monkeypatch, tmp_path):
    archive = tmp_path / "modules.zip"
    with zipfile.ZipFile(archive, "w") as modules:
        modules.writestr("in_a_zip_file.py", "answer = 42")
    monkeypatch.syspath_prepend(str(archive))
    monkeypatch.setitem(sys.modules, "pyspark.worker", None)
    assert importlib.util.find_spec("in_a_zip_file")
    try:
        spreading.keep_loaded()
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
    assert not any(isinstance(f, zipimporter) for f in sys.path_importer_cache.values())
    assert importlib.import_module("in_a_zip_file").answer == 42
