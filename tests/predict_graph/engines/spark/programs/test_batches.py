"""What the executors' Python does with batches, without Spark."""

from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predict_graph.algorithms import TopKRanking
from predict_graph.builtin.topk_ranking import spark as topk_ranking
from predict_graph.builtin.topk_ranking.local import TopKRankingKernel
from predict_graph.engines.spark.programs import merging, spreading
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
